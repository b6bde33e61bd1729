/* guard.h - the checks before a step, shared by the do_*.c files. One that fails stops the core or reports misuse, and does not return. */
#pragma once
#include "named.h"

static inline Step guard_step(const Core *core, StepKind kind, uint32_t site, uint32_t object, uint32_t value)
{
    bool host = program_launch(core->program, core->launch)->host;
    return (Step){ .kind = (uint8_t)kind, .flags = host ? STEP_BY_HOST : 0, .launch = (uint16_t)core->launch, .site = site,
                   .core = core->id,
                   .object = object, .value = value };
}

/* An edit may change what is named. False: the operation is left out. */
static inline bool guard_amend(Core *core, StepKind kind, uint32_t site, Ref *ref, Target *to, CopyDesc *copy)
{
    return core->program->edits == NULL || named_amend(core, &(Named){ kind, site, ref, to, copy });
}

uint32_t guard_own_core(const Core *core, Ref ref);             /* the core whose object the ref names locally */
uint32_t guard_target_core(Core *core, uint32_t site, Target target, uint32_t default_index, const char *what);
uint32_t guard_semaphore(Core *core, uint32_t site, Ref ref, uint32_t on_core, const char *what);      /* semaphore id */
/* FAULT_WHY, and that the copy was described there; "" where it is started at that line, too. In the program's memory. */
const char *guard_described(const Core *core, uint32_t site, uint32_t described);
void guard_out_of_bounds(Core *core, uint32_t site, Ref ref, const char *what) __attribute__((noreturn));
/* The region that an access touches; stops the core if an unmasked element lies outside. */
uint32_t guard_region(Core *core, uint32_t site, Ref ref, const uint8_t *mask, const char *what);
