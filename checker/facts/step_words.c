/* step_words.c - with the core that does it, and its line. */
#include "step_words.h"

const char *ordinal_end(uint32_t number)
{
    static const char *const END[] = { "th", "st", "nd", "rd" };
    uint32_t last = number % 10;
    return last < G_N_ELEMENTS(END) && number / 10 % 10 != 1 ? END[last] : "th";
}

char *step_words(const Program *program, const Step *step)
{
    g_autofree char *who = program_describe_core(program, step->core), *where = program_describe_site(program, step->site);
    bool value = step->kind == STEP_FLAG_STORE;
    g_autofree char *of = value ? g_strdup_printf(" of %d by", (int32_t)step->value) : g_strdup(" of");
    return g_strdup_printf("the %s%s %s at %s", step_is_join(step->kind) ? "entry" : step_kind_name((StepKind)step->kind), of, who, where);
}

/* What the steps of one line have in common, if the line does the same each time. */
static bool does_the_same(const Program *program, const Step *a, const Step *b)
{
    return a->core == b->core && a->site == b->site && a->kind == b->kind
        && (!step_on_counter(a->kind) || program_semaphore_decl(program, a->object) == program_semaphore_decl(program, b->object));
}

static uint32_t times_done(const Record *record, const Step *step, uint32_t *all)
{
    uint32_t times = *all = 0;
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *other = &STORE(Step, &record->steps, i);
        if (!does_the_same(record->program, step, other))
            continue;
        ++*all;
        times += other <= step;
    }
    return times;
}

char *step_words_time(const Record *record, const Step *step)
{
    uint32_t all, times = times_done(record, step, &all);
    return all > 1 ? g_strdup_printf(" (the %u%s time)", times, ordinal_end(times)) : g_strdup("");
}
