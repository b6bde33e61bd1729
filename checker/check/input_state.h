/* input_state.h - what a search over inputs knows, in shared memory, so that another child can go on.
 *
 * Invariant:   `running` says that the last child died within an input, which is then the program's.
 */
#pragma once
#include "../../model/rng.h"
#include "spec.h"

typedef enum DoubtKind { DOUBT_NONE, DOUBT_FAULTY, DOUBT_UNDECIDED, DOUBT_OTHER } DoubtKind;

/* number: from 1, in the order of trying. size: how far its values are above the least, in all. */
typedef struct Doubt { uint64_t number, size; size_t first, count; uint8_t kind; } Doubt;

typedef struct InputSearch {
    Store home;
    uint64_t most;                              /* inputs to try, at most */
    bool in_order;                              /* all inputs, by the odometer */
    unsigned left_out;                          /* of ShapePart: by canaries */
    bool each_whole;                            /* every input is a doubt: one execution says too little about it */
    InputTally tally;
    Store values;                               /* int64_t: of doubts and of inputs that were news */
    Store doubts;                               /* Doubt: the first ones; `more` others */
    uint64_t more;
    Store news;                                 /* Doubt: inputs that showed a new shape or line, if not all are tried; */
    Store rare;                                 /* Doubt: those of them that showed a new line or a new pair of places */
    Doubt last_news;                            /* the last such one; count 0: there is none */
    Store next;                                 /* int64_t: the values of the next input */
    Intern shapes, lines, pairs, tried;         /* shapes: of ShapeHash; tried: drawn values, if not all are wanted */
    Store faulty;                               /* bool: of each shape */
    Rng rng;
    Rules rules;
    bool running, finished;
    bool given;                                 /* somebody else chooses: each input is answered before the next one is known */
    bool answered, refused; DoubtKind answer;   /* about the last input */
    bool rare_news;                             /* of the last input */
    bool asked;                                 /* only about the input `next`, which does not count */
} InputSearch;

static inline const int64_t *input_values(const InputSearch *search, const Doubt *doubt)
{
    return &STORE(int64_t, &search->values, doubt->first);
}
