/* places.c - takes stuck cores and last steps from the replayed run if there is one, else from the recorded run. */
#include "places.h"
#include <stdlib.h>
#include <string.h>
#include "timeline.h"

static void add_step(GArray *places, const Step *step, uint32_t position)
{
    const Place place = place_of_step(step, position);
    g_array_append_val(places, place);
}

static uint32_t *count_steps(const Program *program, const Record *record)
{
    uint32_t *count = g_new0(uint32_t, program->cores);
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        count[step->core] += step->kind < STEP_EARLY_SEND;
    }
    return count;
}

static void add_stuck(GArray *places, const Program *program, const Record *record, guint most)
{
    g_autofree uint32_t *count = count_steps(program, record);
    for (uint32_t core = 0; core < record->ends.count && places->len < most; core++) {
        const CoreState *state = &STORE(CoreState, &record->ends, core);
        if (state->end == CORE_BLOCKED && state->pending.site < program->sites.count)
            add_step(places, &state->pending, count[core]);
    }
}

static void add_last(GArray *places, const Program *program, const Record *record, uint32_t core)
{
    g_autofree uint32_t *count = count_steps(program, record);
    for (size_t i = record->steps.count; i-- > 0;) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step->core != core || step->kind >= STEP_EARLY_SEND || step->site >= program->sites.count)
            continue;
        add_step(places, step, count[core] - 1);
        return;
    }
}

GArray *places_shown(const CheckResult *result, const Finding *finding, guint most)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(Place));
    g_array_append_vals(places, finding->place, MIN(finding->places, most));
    if (finding->places > 0 || result->record == NULL)
        return places;
    Record *recording = timeline_record(result, finding);
    const Record *record = recording ? recording : result->record;
    const Program *program = result->program;
    bool counted = finding->object_is_semaphore && finding->object < program->semaphores;
    if (finding->id == FAULT_DEADLOCK)
        add_stuck(places, program, record, most);
    else
        add_last(places, program, record, counted ? program_semaphore_core(program, finding->object) : 0);
    record_free(recording);
    return places;
}

void places_append_grid(GString *words, const CheckResult *result, const Place *place)
{
    bool launched = place->launch < result->program->launches.count && result->record != NULL;
    unsigned dims = launched ? program_launch(result->program, place->launch)->grid_dims : 0;
    const int64_t *grid = dims ? record_grid(result->record, place->core, place->position) : NULL;
    for (unsigned d = 0; grid && d < dims; d++)
        g_string_append_printf(words, "%s%" G_GINT64_FORMAT, d ? ", " : ", grid step ", grid[d]);
}

char *places_inside(const CheckResult *result, const Place *place)
{
    const Program *program = result->program;
    const char *function = program_text(program, program_get_site(program, place->site)->function);
    GString *words = g_string_new(NULL);
    if (*function)
        g_string_append_printf(words, ", in %s", function);
    places_append_grid(words, result, place);
    return g_string_free(words, FALSE);
}

char *places_name(const CheckResult *result, const Finding *finding)
{
    GString *name = g_string_new(fault_name(finding->id));
    g_autoptr(GArray) places = places_shown(result, finding, PLACES_LOOKED_AT);
    g_autofree char *first = NULL;
    for (guint i = 0; i < places->len; i++) {
        g_autofree char *where = program_describe_site(result->program, g_array_index(places, Place, i).site);
        if (first && !strcmp(first, where))
            continue;
        g_string_append_printf(name, "%s %s", first ? " and" : " at", where);
        if (first)
            break;
        first = g_steal_pointer(&where);
    }
    return g_string_free(name, FALSE);
}

size_t places_cited(const char *word, unsigned *line)
{
    size_t length = strcspn(word, ": (\n");
    if (length == 0 || word[length] != ':' || !g_ascii_isdigit(word[length + 1]))
        return 0;
    *line = (unsigned)strtoul(word + length + 1, NULL, 10);
    return length;
}

const char *places_next_word(const char *at)
{
    at += strcspn(at, " (\n");
    return at + (*at != '\0');
}
