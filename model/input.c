/* input.c - generated values follow from the seed and the number of values before, not from their domain. */
#include "input.h"
#include "rng.h"
#include <glib.h>

static int64_t generated(const Program *program, int64_t least, int64_t greatest)
{
    Rng rng;
    rng_init(&rng, program->seed ^ (program->drawn.count + 1) * 0x9e3779b97f4a7c15u);
    return rng_between(&rng, least + (least < greatest), greatest);
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

size_t input_end_of(const Program *program, size_t first)
{
    const uint32_t table = input_drawn(program, first)->table;
    size_t end = first + 1;
    while (table != NONE && end < program->drawn.count && input_drawn(program, end)->table == table)
        end++;
    return end;
}

bool input_has_tables(const Program *program)
{
    bool any = false;
    for (size_t i = 0; i < program->drawn.count; i++)
        any |= input_drawn(program, i)->table != NONE;
    return any;
}

bool input_try_least(Program *program)
{
    if (program->not_applicable == NULL || program->many_inputs || program->least_input || program->input.count > 0
        || !input_has_tables(program))
        return false;
    program_start_over(program);
    program->least_input = true;
    return true;
}

bool input_is_used_up(const Program *program)
{
    return program->many_inputs || program->drawn.count >= program->input.count;
}
