/* path.c - a row of bits for each choice; with up to 64 choices each row is one word. */
#include "path.h"
#include "../../model/sane.h"
#include <string.h>

enum { MANNERS = MANNER_REST + 1, LOOKED_AT = 64 };   /* choices that path_assert_sane looks at */

void path_init(Path *path)
{
    *path = (Path){ .words = 1, .choices_max = 64 };
    path->choice = g_new(PathChoice, path->choices_max);
    path->past = g_new0(uint64_t, path->choices_max);
    path->of_manner = g_new0(uint64_t, MANNERS);
    path->scratch = g_new0(uint64_t, 1);
    path->top = g_new(int32_t, path->choices_max);
}

void path_clear(Path *path)
{
    g_free(path->choice);
    g_free(path->past);
    g_free(path->on_object);
    g_free(path->of_manner);
    g_free(path->scratch);
    g_free(path->last_on_object);
    g_free(path->last_of_agent);
    g_free(path->race);
    g_free(path->top);
}

static uint64_t *widen(uint64_t *from, size_t rows, size_t rows_now, unsigned words)
{
    uint64_t *wide = g_new0(uint64_t, rows_now * words * 2);
    for (size_t i = 0; i < rows; i++)
        memcpy(wide + i * words * 2, from + i * words, words * sizeof *wide);
    g_free(from);
    return wide;
}

static void grow(Path *path)
{
    path->past = widen(path->past, path->choices, (size_t)path->choices_max * 2, path->words);
    path->on_object = widen(path->on_object, path->objects_known, path->objects_known, path->words);
    path->of_manner = widen(path->of_manner, MANNERS, MANNERS, path->words);
    path->words *= 2, path->choices_max *= 2;
    path->choice = g_renew(PathChoice, path->choice, path->choices_max);
    path->top = g_renew(int32_t, path->top, path->choices_max);
    g_free(path->scratch);
    path->scratch = g_new0(uint64_t, path->words);
}

static void fit(Path *path, uint32_t object, uint32_t agent)
{
    if (object >= path->objects_known) {
        uint32_t before = path->objects_known, now = MAX(object + 1, before * 2);
        path->last_on_object = g_renew(uint32_t, path->last_on_object, now);
        path->on_object = g_renew(uint64_t, path->on_object, (size_t)now * path->words);
        memset(path->last_on_object + before, 0, (now - before) * sizeof *path->last_on_object);
        memset(path->on_object + (size_t)before * path->words, 0, (size_t)(now - before) * path->words * sizeof *path->on_object);
        path->objects_known = now;
    }
    if (agent >= path->agents_known) {
        uint32_t before = path->agents_known, now = MAX(agent + 1, before * 2);
        path->last_of_agent = g_renew(uint32_t, path->last_of_agent, now);
        memset(path->last_of_agent + before, 0, (now - before) * sizeof *path->last_of_agent);
        path->agents_known = now;
    }
}

bool path_disturbs(const Path *path, uint32_t without, uint32_t object, Manner manner)
{
    if (object >= path->objects_known)
        return false;
    const uint64_t *there = path->on_object + (size_t)object * path->words;
    const uint64_t *alike = manner == MANNER_REST ? NULL : path->of_manner + manner * path->words;
    uint64_t later = ~UINT64_C(1) << without % 64;
    for (unsigned w = without / 64; w < path->words; w++, later = ~UINT64_C(0))
        for (uint64_t left = there[w] & later & (alike != NULL ? ~alike[w] : ~UINT64_C(0)); left != 0; left &= left - 1)
            if (!path_bit(path_past(path, 64 * w + (unsigned)__builtin_ctzll(left)), without))
                return true;
    return false;
}

uint32_t path_group(const Path *path, uint32_t last_on_object, Manner manner)
{
    uint32_t at = last_on_object;
    while (at != 0 && dependence_commutes(path->choice[at - 1].manner, manner))
        at = path->choice[at - 1].on_object;
    return at;
}

uint32_t path_group_next(const Path *path, uint32_t choice)
{
    const PathChoice *at = &path->choice[choice - 1];
    uint32_t next = at->on_object;
    return next != 0 && dependence_commutes(at->manner, path->choice[next - 1].manner) ? next : 0;
}

static void join_past(const Path *path, uint64_t *row, uint32_t choice)
{
    const uint64_t *past = path_past(path, choice);
    for (unsigned w = 0; w < path->words; w++)
        row[w] |= past[w];
    path_set(row, choice);
}

void path_add_race(Path *path, uint32_t first)
{
    if (path->races == path->races_max) {
        path->races_max = MAX(path->races_max * 2, 256);
        path->race = g_renew(Race, path->race, path->races_max);
    }
    path->race[path->races++] = (Race){ .first = first, .state = RACE_NEW };
    path->choice[path->choices - 1].races++;
}

static int32_t top_of(const Path *path, const uint64_t *row)
{
    for (unsigned w = path->words; w-- > 0;)
        if (row[w] != 0)
            return (int32_t)(64 * w + 63 - (unsigned)__builtin_clzll(row[w]));
    return -1;
}

/* A choice of the group does not race with the new one if another choice lies between them in happens-before. */
static void find_past(Path *path, uint32_t index, uint32_t group)
{
    const PathChoice *choice = &path->choice[index];
    uint64_t *row = path_past(path, index);
    memset(row, 0, path->words * sizeof *row);
    if (choice->of_agent != 0)
        join_past(path, row, choice->of_agent - 1);
    for (unsigned i = 0; i < G_N_ELEMENTS(choice->enabler); i++)
        if (choice->enabler[i] != 0)
            join_past(path, row, choice->enabler[i] - 1);
    for (uint32_t at = group; at != 0; at = path_group_next(path, at)) {
        const uint64_t *past = path_past(path, at - 1);
        for (unsigned w = 0; w < path->words; w++)
            row[w] |= past[w];
    }
    for (uint32_t at = group; at != 0; at = path_group_next(path, at))
        if (!path_bit(row, at - 1))
            path_add_race(path, at - 1);
    for (uint32_t at = group; at != 0; at = path_group_next(path, at))
        path_set(row, at - 1);
}

static inline void flip(uint64_t *row, uint32_t choice)
{
    row[choice / 64] ^= UINT64_C(1) << choice % 64;
}

/* Adds the choice to the rows of its object and manner, or removes it. */
static void flip_in_rows(Path *path, uint32_t index)
{
    const PathChoice *choice = &path->choice[index];
    flip(path->on_object + (size_t)choice->object * path->words, index);
    flip(path->of_manner + choice->manner * path->words, index);
}

void path_push(Path *path, const PathChoice *from)
{
    if (path->choices == path->choices_max)
        grow(path);
    fit(path, from->object, from->agent);
    uint32_t index = path->choices++;
    PathChoice *choice = &path->choice[index];
    *choice = *from;
    choice->on_object = path->last_on_object[choice->object], choice->of_agent = path->last_of_agent[choice->agent];
    path->tainted_choices += choice->tainted;
    choice->race = path->races, choice->races = 0;
    find_past(path, index, path_group(path, choice->on_object, choice->manner));
    flip_in_rows(path, index);
    path->top[index] = top_of(path, path_past(path, index));
    path->last_on_object[choice->object] = path->last_of_agent[choice->agent] = index + 1;
    SANE_SELDOM(path_assert_sane(path));
}

static void assert_past_sane(const Path *path, uint32_t index)
{
    const PathChoice *choice = &path->choice[index];
    const uint64_t *row = path_past(path, index);
    g_assert(path->top[index] == top_of(path, row) && path->top[index] < (int32_t)index);
    for (uint32_t before = 0; before < index; before++) {
        const PathChoice *other = &path->choice[before];
        if (!path_bit(row, before)) {
            g_assert(other->object != choice->object || dependence_commutes(other->manner, choice->manner));
            continue;
        }
        for (unsigned w = 0; w < path->words; w++)
            g_assert((path_past(path, before)[w] & ~row[w]) == 0);
    }
}

void path_assert_sane(const Path *path)
{
    for (uint32_t i = path->choices > LOOKED_AT ? path->choices - LOOKED_AT : 0; i < path->choices; i++)
        assert_past_sane(path, i);
}

void path_pop(Path *path)
{
    uint32_t index = --path->choices;
    const PathChoice *choice = &path->choice[index];
    flip_in_rows(path, index);
    path->last_on_object[choice->object] = choice->on_object;
    path->last_of_agent[choice->agent] = choice->of_agent;
    path->tainted_choices -= choice->tainted;
    path->races = choice->race;
}
