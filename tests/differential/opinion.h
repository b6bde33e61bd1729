/* opinion.h - what one way of deciding says of a random program, as sorted lines of text, so that two can be compared and printed.
 *
 * Ownership:   an Opinion owns its lines, end states are borrowed; opinion_clear.
 */
#pragma once
#include "../../checker/facts/finding.h"
#include "../support/random_program.h"

typedef struct Opinion {
    const char *whose;
    GPtrArray *faults;                          /* of char*, sorted, as brute_line words them */
    const GArray *end_states;                   /* of uint64_t, sorted */
} Opinion;

void opinion_of_outcome(Opinion *opinion, const char *whose, const RandomProgram *random, const Program *program, const Outcome *outcome);
void opinion_of_lines(Opinion *opinion, const char *whose, const GPtrArray *lines, const GArray *end_states);
void opinion_clear(Opinion *opinion);
char *opinion_line(const RandomProgram *random, const Program *program, const Finding *finding);        /* g_malloc */
/* Questions on which they may differ: where some core is stuck for ever or stopped (`search` has a fault that says so). */
bool opinion_is_open_question(const Outcome *search, const char *line);
void opinion_drop_open_questions(Opinion *opinion, const Outcome *search);

typedef enum OpinionWant {
    OPINION_ALL,
    OPINION_KEYS,                               /* numbers of pairs may differ, and what is covered elsewhere may stand alone */
    OPINION_RACES                               /* other faults may differ too */
} OpinionWant;
/* Appends what `one` says and `other` does not. */
void opinion_want_subset(GString *difference, const Opinion *one, const Opinion *other, OpinionWant want);
void opinion_want_same_ends(GString *difference, const Opinion *one, const Opinion *other);
