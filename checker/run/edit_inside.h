/* edit_inside.h - shared by edit.c, which changes steps, and edit_names.c, which changes what an operation names. */
#pragma once
#include "edit.h"

typedef struct FreshOfProgram {
    uint32_t *decl;                             /* by launch, NONE: not there */
} FreshOfProgram;

struct ProgramEdits {
    unsigned count;
    Edit *edit;
    FreshOfProgram *fresh;
};

bool edit_is_at(const Program *program, const EditWhere *where, uint32_t site);
/* The declaration that a change means in this launch; NONE: it has none. */
uint32_t edit_find_decl(const Core *core, const EditSemaphore *semaphore);
