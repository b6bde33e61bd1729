/* named.h - what an operation names, before it is checked: a program with edits may have it changed (run/edit). */
#pragma once
#include "core.h"

typedef struct Named {
    StepKind kind;
    uint32_t site;
    Ref *ref;                                   /* of a load, store, swap, signal, wait or flag; NULL: of a copy */
    Target *to;                                 /* NULL: nowhere */
    CopyDesc *copy;                             /* of its start or of a wait; NULL */
} Named;

extern bool (*named_amend)(Core *core, const Named *named);     /* of programs that have edits. False: the operation is left out */
