/* join.h - a join is one event of several cores: ENTER of a launch that begins with a barrier, of all devices; any other, of one device. */
#pragma once
#include "program.h"

/* Its members lie in [first, last); where a launch does not run on all devices, some cores in between are none: join_has. No padding. */
typedef struct Join { uint32_t kind, object, first, last; } Join;

static inline Join join_of(const Program *program, const Step *step)
{
    bool all = step->kind == STEP_ENTER && program_launch(program, step->object)->entry_barrier;
    uint32_t per = program->cores_per_device, first = all ? 0 : step->core / per * per;
    return (Join){ step->kind, step->object, first, all ? program->cores : first + per };
}

static inline bool join_has(const Program *program, const Join *join, uint32_t core)
{
    return core >= join->first && core < join->last
        && (join->kind != STEP_ENTER || program_launch_on_device(program, join->object, core / program->cores_per_device));
}

static inline uint32_t join_size(const Program *program, const Join *join)
{
    uint32_t members = 0;
    for (uint32_t core = join->first; core < join->last; core++)
        members += join_has(program, join, core);
    return members;
}

/* Is the step, of one of its members, part of the join? */
static inline bool join_includes(const Join *join, const Step *step)
{
    return step->kind == join->kind && step->object == join->object && step->core >= join->first && step->core < join->last;
}

/* Are both steps part of one join? */
static inline bool join_is_same(const Program *program, const Step *a, const Step *b)
{
    if (!step_is_join(a->kind))
        return false;
    const Join join = join_of(program, a);
    return join_includes(&join, b);
}
