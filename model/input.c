/* input.c - generated values follow from the seed and the number of values before, not from their domain. */
#include "input.h"
#include "rng.h"
#include <glib.h>

static int64_t generated(const Program *program, int64_t least, int64_t greatest)
{
    Rng rng;
    rng_init(&rng, program->seed ^ (program->drawn.count + 1) * 0x9e3779b97f4a7c15u);
    uint64_t span = (uint64_t)greatest - (uint64_t)least;
    if (span > 0)
        least++, span--;
    return (int64_t)((uint64_t)least + (span == UINT64_MAX ? rng_next(&rng) : rng_below(&rng, span + 1)));
}

bool input_draw(Program *program, int64_t least, int64_t greatest, uint32_t table, int64_t *value)
{
    size_t at = program->drawn.count;
    *value = at < program->input.count ? STORE(int64_t, &program->input, at)
        : program->least_input || table == NONE ? least : generated(program, least, greatest);
    if (program->many_inputs)
        *value = MAX(least, MIN(*value, greatest));
    *(Drawn *)store_push(&program->drawn, 1) = (Drawn){ *value, least, greatest, table };
    return *value >= least && *value <= greatest;
}

bool input_has_tables(const Program *program)
{
    bool any = false;
    for (size_t i = 0; i < program->drawn.count; i++)
        any |= STORE(Drawn, &program->drawn, i).table != NONE;
    return any;
}

bool input_is_refused(const Program *program)
{
    return program->not_applicable != NULL && !program->least_input && program->input.count == 0 && input_has_tables(program);
}

bool input_is_used_up(const Program *program)
{
    return program->many_inputs || program->drawn.count >= program->input.count;
}
