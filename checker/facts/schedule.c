/* schedule.c - moves to lines and back.
 *
 * In an eager record, or one that a crash cut short, a copy's moments follow its start directly; in others they are where they happened.
 * The record lists a join once for each member; it is one move.
 */
#include "schedule.h"
#include "../../model/join.h"
#include "../../model/moment.h"
#include <stdio.h>
#include <string.h>

char *schedule_line(const Program *program, Move move, uint32_t position, StepKind kind, uint32_t site_id)
{
    uint32_t device = move.core / program->cores_per_device, index = move.core % program->cores_per_device;
    GString *line = g_string_new(NULL);
    if (move.copy != NONE)
        g_string_append_printf(line, "copy %u.%u #%u %s", device, index, move.copy, step_kind_name(move.moment));
    else
        g_string_append_printf(line, "core %u.%u @%u %s", device, index, position,
                               kind < STEP_KIND_COUNT ? step_kind_name(kind) : "nothing");
    if (site_id != NONE) {
        g_autofree char *where = program_describe_site(program, site_id);
        g_string_append_printf(line, " %s", where);
    }
    return g_string_free(line, FALSE);
}

bool schedule_parse_line(uint32_t devices, uint32_t cores_per_device, const char *line, Move *move)
{
    unsigned device, index, number;
    int used = 0;
    bool copy = sscanf(line, "copy %u.%u #%u %n", &device, &index, &number, &used) == 3 && used > 0;
    if (!copy && (sscanf(line, "core %u.%u @%u %n", &device, &index, &number, &used) != 3 || used == 0))
        return false;
    if (device >= devices || index >= cores_per_device)
        return false;
    *move = (Move){ .core = device * cores_per_device + index, .copy = copy ? number : NONE };
    if (!copy)
        return true;
    for (StepKind kind = STEP_EARLY_SEND; kind <= STEP_WRITE; kind++)
        if (g_str_has_prefix(line + used, step_kind_name(kind))) {
            move->moment = (uint8_t)kind;
            return true;
        }
    return false;
}

typedef struct Listing { const Program *program; GArray *moves; GPtrArray *lines; } Listing;

static void list(Listing *listing, Move move, uint32_t position, StepKind kind, uint32_t site)
{
    g_array_append_val(listing->moves, move);
    if (listing->lines != NULL)
        g_ptr_array_add(listing->lines, schedule_line(listing->program, move, position, kind, site));
}

static void list_moment(Listing *listing, const Copy *copy, StepKind moment)
{
    list(listing, (Move){ copy->core, copy->ordinal, (uint8_t)moment }, 0, moment, copy->site);
}

static void list_moments(Listing *listing, const Copy *copy)
{
    for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
        if (moment_exists(moment_is_fluid(&listing->program->knobs), copy, moment))
            list_moment(listing, copy, moment);
}

GArray *schedule_of_record(const Record *record, GPtrArray *lines)
{
    const Program *program = record->program;
    Listing listing = { program, g_array_new(FALSE, FALSE, sizeof(Move)), lines };
    g_autofree uint32_t *position = g_new0(uint32_t, program->cores);
    bool eager = record->eager || !record->complete;
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step->core >= program->cores || step->site >= program->sites.count)
            break;                              /* damaged: what comes before is still valid */
        if (moment_is(step->kind)) {
            if (step->object < record->copies.count)
                list_moment(&listing, &STORE(Copy, &record->copies, step->object), step->kind);
            continue;
        }
        uint32_t at = position[step->core]++;
        if (i == 0 || !join_is_same(program, step - 1, step))
            list(&listing, (Move){ .core = step->core, .copy = NONE }, at, step->kind, step->site);
        if (eager && step->kind == STEP_COPY_START && step->object < record->copies.count)
            list_moments(&listing, &STORE(Copy, &record->copies, step->object));
    }
    return listing.moves;
}
