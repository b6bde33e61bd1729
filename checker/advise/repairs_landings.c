/* repairs_landings.c - data that arrives, and is read, must still be read in a repaired program.
 *
 * A program may expect no result. Then a change that orders two steps the wrong way round is free of faults too: the reader would get the
 * data of the next round, and that of this round would never be read. A landing is the write of a copy, or a core's store for others. It
 * may be read if the recorded run reads it, or if what overwrote it there races with a read.
 */
#include "repairs.h"
#include <string.h>

typedef struct Touch { uint32_t object, region, core; bool writes, by_copy; } Touch;

/* What a step of an eager record reads and writes: a start reads, then writes. */
static unsigned find_touches(const Record *record, const Step *step, Touch touch[2])
{
    if (step->kind == STEP_COPY_START && step->object != NONE) {
        const Copy *copy = &STORE(Copy, &record->copies, step->object);
        touch[0] = (Touch){ copy->source, copy->source_region, step->core, false, true };
        touch[1] = (Touch){ copy->target, copy->target_region, step->core, true, true };
        return 2;
    }
    if (!step_on_memory(step->kind))
        return 0;
    bool swaps = step->kind == STEP_SWAP;
    touch[0] = (Touch){ step->object, step->value, step->core, step->kind == STEP_STORE, false };
    touch[1] = (Touch){ step->object, step->value, step->core, true, false };
    return swaps ? 2 : 1;
}

static bool covers(const Region *outer, const Region *inner)
{
    return outer->lo <= inner->lo && outer->hi >= inner->hi && outer->bytes >= inner->bytes && region_is_contiguous(outer);
}

static bool is_result(const Program *program, uint32_t object)
{
    const Decl *decl = program_decl(program, program_object_decl(program, object));
    return decl->life == LIFE_LAUNCHES && !decl->once;
}

/* A read that counts: of a store only one by another core or a copy. */
static bool reads(const Touch *landing, const Touch *touch)
{
    return !touch->writes && (landing->by_copy || touch->by_copy || touch->core != landing->core);
}

/* Is it read before it is overwritten? *by: the step that reads or overwrites it; NULL: none does. */
static bool is_read(const Record *record, size_t index, const Touch *landing, const Step **by)
{
    const Program *program = record->program;
    const Region *region = program_get_region(program, landing->region);
    for (size_t i = index + 1; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        Touch touch[2];
        for (unsigned t = 0, count = find_touches(record, step, touch); t < count; t++) {
            if (touch[t].object != landing->object || !region_overlaps(region, program_get_region(program, touch[t].region)))
                continue;
            *by = step;
            if (reads(landing, &touch[t]))
                return true;
            if (touch[t].writes && covers(program_get_region(program, touch[t].region), region))
                return false;
            *by = NULL;
        }
    }
    return is_result(program, landing->object);
}

static bool is_read_kind(uint8_t kind)
{
    return kind == STEP_LOAD || kind == STEP_SWAP || kind == STEP_READ;
}

/* Does a write at that site race with a read? */
static bool races_with_read(const CheckResult *result, uint32_t site)
{
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        for (unsigned p = 0; finding->id == FAULT_RACE && p < 2; p++)
            if (program_same_line(result->program, finding->place[p].site, site) && !is_read_kind(finding->place[p].kind)
                && is_read_kind(finding->place[1 - p].kind))
                return true;
    }
    return false;
}

/* Do writes at these sites race with each other, and may the first have been meant to be overwritten? */
static bool race_with_each_other(const Repairs *r, const Program *program, uint32_t one, uint32_t other)
{
    for (guint i = 0; i < r->result->outcome->findings->len; i++) {
        const Finding *finding = r->result->outcome->findings->pdata[i];
        if (finding->id != FAULT_RACE || is_read_kind(finding->place[0].kind) || is_read_kind(finding->place[1].kind))
            continue;
        g_autofree char *first = program_describe_site(r->program, finding->place[0].site);
        g_autofree char *second = program_describe_site(r->program, finding->place[1].site);
        g_autofree char *a = program_describe_site(program, one), *b = program_describe_site(program, other);
        bool in_order = strcmp(a, first) == 0 && strcmp(b, second) == 0, turned = strcmp(a, second) == 0 && strcmp(b, first) == 0;
        if ((in_order && (turned || finding->meant != MEANT_SECOND)) || (turned && finding->meant != MEANT_FIRST))
            return true;
    }
    return false;
}

/* The same in each changed program: how often the core did a step of that kind and line before. */
static char *key_of(const Record *record, size_t index)
{
    const Step *step = &STORE(Step, &record->steps, index);
    unsigned nth = 0;
    for (size_t i = 0; i < index; i++) {
        const Step *other = &STORE(Step, &record->steps, i);
        nth += other->core == step->core && other->kind == step->kind && program_same_line(record->program, other->site, step->site);
    }
    g_autofree char *place = program_describe_site(record->program, step->site);
    return g_strdup_printf("%u %u %u %s", step->core, step->kind, nth, place);
}

/* Of a core's stores for others the next one is its own: what a copy overwrites may be the value before any. */
static bool follows(const Touch *landing, const Step *by)
{
    return landing->by_copy || (by->kind != STEP_COPY_START && by->core == landing->core);
}

static bool find_landing(const Record *record, size_t index, Touch *landing)
{
    Touch touch[2];
    const Step *step = &STORE(Step, &record->steps, index);
    unsigned count = find_touches(record, step, touch);
    if (count == 0 || !touch[count - 1].writes || (step->flags & STEP_BY_HOST))
        return false;
    *landing = touch[count - 1];
    return true;
}

static bool has_waited(const Record *record, const Step *reader, uint32_t semaphore)
{
    for (const Step *step = &STORE(Step, &record->steps, 0); step != reader; step++)
        if (step->core == reader->core && step_is_semaphore_wait(step->kind) && step->object == semaphore)
            return true;
    return false;
}

/* Does the reader race with the landing of a copy that it has never waited for, and was it meant to come first? */
static bool reads_too_late(const CheckResult *result, const Step *landing, const Step *reader)
{
    const Program *program = result->program;
    if (landing->kind != STEP_COPY_START
        || has_waited(result->record, reader, STORE(Copy, &result->record->copies, landing->object).receive_semaphore))
        return false;
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        if (finding->id != FAULT_RACE || finding->meant == MEANT_UNKNOWN)
            continue;
        const Place *first = &finding->place[finding->meant == MEANT_FIRST ? 0 : 1], *late = &finding->place[finding->meant == MEANT_FIRST];
        if (program_same_line(program, late->site, landing->site) && program_same_line(program, first->site, reader->site))
            return true;
    }
    return false;
}

GHashTable *landings_find(const CheckResult *result)
{
    GHashTable *read = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < result->record->steps.count; i++) {
        Touch landing;
        const Step *by = NULL;
        if (!find_landing(result->record, i, &landing))
            continue;
        bool is_seen = is_read(result->record, i, &landing, &by);
        if (is_seen && by != NULL && reads_too_late(result, &STORE(Step, &result->record->steps, i), by))
            continue;
        if (is_seen || (by != NULL && follows(&landing, by) && races_with_read(result, by->site)))
            g_hash_table_add(read, key_of(result->record, i));
    }
    return read;
}

bool landings_stay(const Repairs *r, const CheckResult *changed)
{
    for (size_t i = 0; i < changed->record->steps.count; i++) {
        Touch landing;
        const Step *by = NULL;
        if (!find_landing(changed->record, i, &landing) || is_read(changed->record, i, &landing, &by))
            continue;
        const uint32_t site = STORE(Step, &changed->record->steps, i).site;
        if (by != NULL && race_with_each_other(r, changed->program, site, by->site))
            continue;
        g_autofree char *key = key_of(changed->record, i);
        if (g_hash_table_contains(r->read, key))
            return false;
    }
    return true;
}
