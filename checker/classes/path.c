/* path.c - rows of bits, one a pick; with up to 64 picks each row is one word. */
#include "path.h"
#include <string.h>

void path_init(Path *path)
{
    *path = (Path){ .words = 1, .picks_max = 64 };
    path->pick = g_new(Pick, path->picks_max);
    path->past = g_new0(uint64_t, path->picks_max);
    path->scratch = g_new0(uint64_t, 1);
    path->top = g_new(int32_t, path->picks_max);
}

void path_clear(Path *path)
{
    g_free(path->pick);
    g_free(path->past);
    g_free(path->scratch);
    g_free(path->last_on_object);
    g_free(path->last_of_agent);
    g_free(path->race);
    g_free(path->top);
}

static void grow(Path *path)
{
    unsigned words = path->words * 2;
    uint64_t *past = g_new0(uint64_t, (size_t)path->picks_max * 2 * words);
    for (uint32_t i = 0; i < path->picks; i++)
        memcpy(past + (size_t)i * words, path_past(path, i), path->words * sizeof *past);
    g_free(path->past);
    path->past = past, path->words = words, path->picks_max *= 2;
    path->pick = g_renew(Pick, path->pick, path->picks_max);
    path->top = g_renew(int32_t, path->top, path->picks_max);
    g_free(path->scratch);
    path->scratch = g_new0(uint64_t, words);
}

static uint32_t *fit(uint32_t *array, uint32_t *known, uint32_t index)
{
    if (index < *known)
        return array;
    uint32_t now = MAX(index + 1, *known * 2);
    array = g_renew(uint32_t, array, now);
    memset(array + *known, 0, (now - *known) * sizeof *array);
    *known = now;
    return array;
}

uint32_t path_group(const Path *path, uint32_t last_on_object, Manner manner)
{
    uint32_t at = last_on_object;
    while (at != 0 && manner_commutes(path->pick[at - 1].manner, manner))
        at = path->pick[at - 1].on_object;
    return at;
}

uint32_t path_group_next(const Path *path, uint32_t pick)
{
    const Pick *at = &path->pick[pick - 1];
    uint32_t next = at->on_object;
    return next != 0 && manner_commutes(at->manner, path->pick[next - 1].manner) ? next : 0;
}

static void join_past(const Path *path, uint64_t *row, uint32_t pick)
{
    const uint64_t *past = path_past(path, pick);
    for (unsigned w = 0; w < path->words; w++)
        row[w] |= past[w];
    path_set(row, pick);
}

void path_add_race(Path *path, uint32_t first)
{
    if (path->races == path->races_max) {
        path->races_max = MAX(path->races_max * 2, 256);
        path->race = g_renew(Race, path->race, path->races_max);
    }
    path->race[path->races++] = (Race){ .first = first, .state = RACE_NEW };
    path->pick[path->picks - 1].races++;
}

/* A pick of the group is in no race if something else that is before the new one comes after it. */
static void find_races(Path *path, uint32_t group, uint32_t of_agent)
{
    uint64_t *covered = path->scratch;
    memset(covered, 0, path->words * sizeof *covered);
    if (of_agent != 0)
        join_past(path, covered, of_agent - 1);
    for (uint32_t at = group; at != 0; at = path_group_next(path, at)) {
        const uint64_t *past = path_past(path, at - 1);
        for (unsigned w = 0; w < path->words; w++)
            covered[w] |= past[w];
    }
    for (uint32_t at = group; at != 0; at = path_group_next(path, at))
        if (!path_bit(covered, at - 1))
            path_add_race(path, at - 1);
}

static int32_t top_of(const Path *path, const uint64_t *row)
{
    for (unsigned w = path->words; w-- > 0;)
        if (row[w] != 0)
            return (int32_t)(64 * w + 63 - (unsigned)__builtin_clzll(row[w]));
    return -1;
}

void path_push(Path *path, const Pick *from)
{
    if (path->picks == path->picks_max)
        grow(path);
    path->last_on_object = fit(path->last_on_object, &path->objects_known, from->object);
    path->last_of_agent = fit(path->last_of_agent, &path->agents_known, from->agent);
    uint32_t index = path->picks++;
    Pick *pick = &path->pick[index];
    *pick = *from;
    pick->on_object = path->last_on_object[pick->object], pick->of_agent = path->last_of_agent[pick->agent];
    path->tangles += pick->tangled;
    pick->race = path->races, pick->races = 0;
    uint64_t *row = path_past(path, index);
    memset(row, 0, path->words * sizeof *row);
    uint32_t group = path_group(path, pick->on_object, pick->manner);
    for (uint32_t at = group; at != 0; at = path_group_next(path, at))
        join_past(path, row, at - 1);
    find_races(path, group, pick->of_agent);
    if (pick->of_agent != 0)
        join_past(path, row, pick->of_agent - 1);
    path->top[index] = top_of(path, row);
    path->last_on_object[pick->object] = path->last_of_agent[pick->agent] = index + 1;
}

void path_pop(Path *path)
{
    const Pick *pick = &path->pick[--path->picks];
    path->last_on_object[pick->object] = pick->on_object;
    path->last_of_agent[pick->agent] = pick->of_agent;
    path->tangles -= pick->tangled;
    path->races = pick->race;
}
