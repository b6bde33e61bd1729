/* clash.h - what racing.h stores in a program: accesses that race, and what their values have reached. */
#pragma once
#include "store.h"

/* One side of a race: the access of a line, and what it races with. */
typedef struct Clash {
    uint32_t site, object;                      /* object NONE: any that the line accesses */
    uint32_t region;                            /* of the other side; NONE: all */
    uint8_t write;                              /* 1: the value that this side leaves; 0: the value that it reads */
    uint8_t mark;                               /* ELEMENT_RACING or ELEMENT_EXEMPT */
} Clash;

/* What a marked element reached. unit: core of CONTROL, device of the others. */
typedef enum ReachKind { REACH_CONTROL, REACH_EXPECTATION, REACH_RESULT } ReachKind;
typedef struct Reach {
    uint8_t kind, marks;
    uint32_t unit, site;                        /* site: of the observing step, the expectation, the declaration; NONE: of some result */
} Reach;

typedef struct Racing {
    Intern keys;                                /* accesses: line, object, whether it writes */
    Store first, rivals;                        /* by access: the first in its list of rivals; the lists */
    Intern reached;                             /* Reach */
    bool outside;                               /* some element is marked that was loaded from outside its buffer */
} Racing;
