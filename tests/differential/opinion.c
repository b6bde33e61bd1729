/* opinion.c - findings as lines, and lines compared. */
#include "opinion.h"
#include <stdio.h>
#include <string.h>
#include "../support/brute.h"

static gint compare_lines(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static uint32_t line_at(const Program *program, uint32_t site)
{
    return site == NONE ? 0 : program_get_site(program, site)->line;
}

static void name_object(const RandomProgram *random, const Program *program, const Finding *finding, char name[8])
{
    g_strlcpy(name, "-", 8);
    if (finding->object == NONE || finding->id == FAULT_DIVERGENCE)      /* the first of several objects, or none */
        return;
    uint32_t decl = finding->object_is_semaphore ? program_semaphore_decl(program, finding->object)
        : program_object_decl(program, finding->object);
    for (int t = 0; t < random->things; t++)
        if (random_decl(random, program, t) == decl)
            random_thing_name(random, t, name);
}

char *opinion_line(const RandomProgram *random, const Program *program, const Finding *finding)
{
    char name[8];
    name_object(random, program, finding, name);
    uint32_t line = finding->places > 0 ? line_at(program, finding->place[0].site) : 0;
    uint32_t other = finding->places > 1 ? line_at(program, finding->place[1].site) : 0;
    return brute_line(finding->id, line, other, name, finding->count);
}

void opinion_of_outcome(Opinion *opinion, const char *whose, const RandomProgram *random, const Program *program, const Outcome *outcome)
{
    *opinion = (Opinion){ whose, g_ptr_array_new_with_free_func(g_free), outcome->end_states };
    for (guint i = 0; i < outcome->findings->len; i++)
        g_ptr_array_add(opinion->faults, opinion_line(random, program, g_ptr_array_index(outcome->findings, i)));
    g_ptr_array_sort(opinion->faults, compare_lines);
}

void opinion_of_lines(Opinion *opinion, const char *whose, const GPtrArray *lines, const GArray *end_states)
{
    *opinion = (Opinion){ whose, g_ptr_array_new_with_free_func(g_free), end_states };
    for (guint i = 0; i < lines->len; i++)
        g_ptr_array_add(opinion->faults, g_strdup(g_ptr_array_index(lines, i)));
}

void opinion_clear(Opinion *opinion)
{
    if (opinion->faults != NULL)
        g_ptr_array_free(opinion->faults, TRUE);
}

static bool ends_early(const Finding *finding)
{
    bool stops = finding->id == FAULT_OUT_OF_BOUNDS && finding->place[0].kind == STEP_STOP;
    return stops || finding->id == FAULT_DEADLOCK || finding->id == FAULT_ASSERT || finding->id == FAULT_NO_PROGRESS;
}

/* Shared memory of a scope lives until the last core that opens it has closed it. Where a core is stuck or stopped before it opens, a
 * search of states takes it for one that opens, the proof knows better. */
bool opinion_is_open_question(const Outcome *search, const char *line)
{
    bool stuck = false;
    for (guint i = 0; i < search->findings->len; i++)
        stuck |= ends_early(g_ptr_array_index(search->findings, i));
    return stuck && g_str_has_prefix(line, fault_name(FAULT_LIFETIME)) && strstr(line, " hs") != NULL;
}

void opinion_drop_open_questions(Opinion *opinion, const Outcome *search)
{
    for (guint i = opinion->faults->len; i-- > 0;)
        if (opinion_is_open_question(search, g_ptr_array_index(opinion->faults, i)))
            g_ptr_array_remove_index(opinion->faults, i);
}

static bool has_line(const GPtrArray *lines, const char *line, OpinionWant want)
{
    const char *count = want == OPINION_ALL ? NULL : strstr(line, " x");
    size_t length = count ? (size_t)(count - line) + 2 : strlen(line) + 1;
    for (guint i = 0; i < lines->len; i++)
        if (strncmp(g_ptr_array_index(lines, i), line, length) == 0)
            return true;
    return false;
}

/* In a class, a fault may stand alone that elsewhere a race, a count left over or a copy in flight covers. */
static bool is_covered_elsewhere(const char *line, const GPtrArray *others)
{
    unsigned at, one, other;
    char thing[8] = "", name[16];
    if (sscanf(line, "uninitialised %u", &at) != 1 && sscanf(line, "lifetime %u %*u %7s", &at, thing) != 2)
        return false;
    bool late = g_str_has_prefix(line, "lifetime");
    for (guint i = 0; i < others->len; i++) {
        char about[8];
        if (sscanf(g_ptr_array_index(others, i), "%15s %u %u %7s", name, &one, &other, about) != 4)
            continue;
        if (late ? (strcmp(name, "leftover") == 0 && strcmp(thing, about) == 0) || (strcmp(name, "in-flight") == 0 && one == at)
            : strcmp(name, "race") == 0 && (one == at || other == at))
            return true;
    }
    return false;
}

void opinion_want_subset(GString *difference, const Opinion *one, const Opinion *other, OpinionWant want)
{
    for (guint i = 0; i < one->faults->len; i++) {
        const char *line = g_ptr_array_index(one->faults, i);
        bool race = g_str_has_prefix(line, fault_name(FAULT_RACE)), covered = is_covered_elsewhere(line, other->faults);
        bool asked = want == OPINION_RACES ? race : want == OPINION_ALL || !covered;
        if (asked && !has_line(other->faults, line, want))
            g_string_append_printf(difference, "%s, but not %s: %s\n", one->whose, other->whose, line);
    }
}

void opinion_want_same_ends(GString *difference, const Opinion *one, const Opinion *other)
{
    bool same = one->end_states->len == other->end_states->len;
    for (guint i = 0; same && i < one->end_states->len; i++)
        same = g_array_index(one->end_states, uint64_t, i) == g_array_index(other->end_states, uint64_t, i);
    if (!same)
        g_string_append_printf(difference, "end states differ between %s and %s: %u and %u of them\n", one->whose, other->whose,
                               one->end_states->len, other->end_states->len);
}
