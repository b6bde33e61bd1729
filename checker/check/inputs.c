/* inputs.c - doubts are few: faulty inputs, of which the smallest one is enough, and inputs that only an ordinary check can judge. */
#include "inputs.h"
#include <string.h>
#include "../../model/input.h"
#include "compile.h"
#include "input_lines.h"
#include "input_news.h"
#include "input_search.h"
#include "interrupt.h"
#include "worker.h"

typedef struct Inputs {
    CheckResult *result;
    WorkerShared *shared, *own;                 /* own: of the search, with a program and a record of its own */
    CheckOne check_one;
    InputSearch *search;
    Child child;
    bool alive, checked, open;                  /* the child; the result has a verdict; PROGRAM leaves something open */
} Inputs;

/* ---- the search ---- */

static void end_child(Inputs *inputs)
{
    if (inputs->alive)
        g_free(child_end(&inputs->child));
    inputs->alive = false;
}

static ChildEnd ask(Inputs *inputs)
{
    if (inputs->alive)
        child_ask(&inputs->child, WORKER_RUN);
    else if (!child_start(&inputs->child, &inputs->own->control, worker_serve, inputs->own, &inputs->result->error))
        return CHILD_TIMED_OUT;
    inputs->alive = true;
    ChildEnd end = check_wait(inputs->result, &inputs->child);
    if (end != CHILD_DONE)
        end_child(inputs);
    return end;
}

/* A child ends early if an input kills it, or if PROGRAM leaves something behind that cannot be taken back. */
static void search(Inputs *inputs)
{
    const volatile InputSearch *search = inputs->search;
    ChildEnd end = CHILD_DONE;
    while (!search->finished && !check_is_over(inputs->result) && end != CHILD_TIMED_OUT && end != CHILD_OUT_OF_MEMORY) {
        end = ask(inputs);
        if (!search->finished)
            end_child(inputs);
    }
}

/* ---- inputs that somebody else chooses ---- */

/* Does the input `next` have as many values as the program asks for, in their ranges? */
static bool fits(Inputs *inputs)
{
    const size_t given = inputs->search->next.count, wanted = inputs->own->program->drawn.count;
    if (inputs->own->error != NULL)
        check_fail(inputs->result, "--inputs -: %s", inputs->own->error);
    else if (!inputs->search->refused && given != wanted)
        check_fail(inputs->result, "--inputs -: a line of %zu values, but an input of %s has %zu", given,
                   inputs->result->spec->program, wanted);
    return inputs->result->error == NULL;
}

/* False: it is not known, and will not be. */
static bool answer(Inputs *inputs)
{
    InputSearch *search = inputs->search;
    ChildEnd end = CHILD_DONE;
    for (search->answered = false; !search->answered && !search->finished && end != CHILD_TIMED_OUT && end != CHILD_OUT_OF_MEMORY;) {
        end = ask(inputs);
        if (search->running)
            input_search_take_death(inputs->own);
        if (!search->answered)
            end_child(inputs);
    }
    return (search->answered || search->finished) && fits(inputs);
}

static void answer_lines(Inputs *inputs)
{
    char *error = NULL;
    while (!check_is_over(inputs->result) && input_lines_read(inputs->search, &error) && answer(inputs))
        input_lines_answer(inputs->search);
    if (error != NULL)
        check_fail(inputs->result, "%s", error);
    else if (inputs->search->tally.tried == 0 && inputs->result->error == NULL)
        check_fail(inputs->result, "--inputs -: %s took no input that was read", inputs->result->spec->program);
    g_free(error);
}

/* ---- smaller inputs ---- */

/* Did no value have to be made to fit? */
static bool was_tried(const Program *program, const int64_t *value, size_t count)
{
    bool same = program->drawn.count == count;
    for (size_t i = 0; i < count && same; i++)
        same = input_drawn(program, i)->value == value[i];
    return same;
}

/* Does the search doubt this input as it does a faulty one? */
static bool is_faulty(Inputs *inputs, const int64_t *value, size_t count)
{
    InputSearch *search = inputs->search;
    search->asked = true, search->answer = DOUBT_NONE;
    store_reset(&search->next);
    memcpy(store_push(&search->next, count), value, count * sizeof *value);
    ask(inputs);
    if (search->running)                        /* the child died of it */
        search->running = false, search->answer = DOUBT_FAULTY;
    return search->answer == DOUBT_FAULTY && was_tried(inputs->own->program, value, count);
}

/* Puts the larger of two values first, and the least one in its place, where that is smaller in all. */
static bool gather(Inputs *inputs, int64_t *value, size_t count, const int64_t *least, size_t first, int *tries)
{
    for (size_t other = first + 1; other < count && *tries > 0 && value[first] > least[first]; other++) {
        const int64_t one = value[first], two = value[other];
        if (two == least[other])
            continue;
        value[first] = MAX(one, two), value[other] = least[other];
        if (--*tries, is_faulty(inputs, value, count))
            return true;
        value[first] = one, value[other] = two;
    }
    return false;
}

/* Makes each value least, or else as small as it can be, until none can be smaller. */
static void shrink(Inputs *inputs, int64_t *value, size_t count)
{
    int tries = 4000;
    g_autofree int64_t *least = g_new(int64_t, count + 1);
    is_faulty(inputs, value, count);            /* builds it, which shows the domains */
    for (size_t i = 0; i < count; i++)
        least[i] = i < inputs->own->program->drawn.count ? input_drawn(inputs->own->program, i)->least : value[i];
    for (bool smaller = true; smaller && tries > 0 && !check_is_over(inputs->result);) {
        smaller = false;
        for (size_t i = 0; i < count && tries > 0; i++) {
            const int64_t before = value[i], to[] = { least[i], least[i] + (before - least[i]) / 2, before - 1 };
            for (size_t t = 0; t < G_N_ELEMENTS(to) && value[i] == before && before > least[i]; t++, tries--) {
                value[i] = to[t];
                if (!is_faulty(inputs, value, count))
                    value[i] = before;
            }
            smaller |= value[i] != before || gather(inputs, value, count, least, i, &tries);
        }
    }
}

/* ---- one input by an ordinary check ---- */

static void set_input(Inputs *inputs, const int64_t *value, size_t count)
{
    CheckResult *result = inputs->result;
    CheckSpec *spec = g_memdup2(result->spec, sizeof *spec);
    int64_t *own = g_memdup2(value, count * sizeof *value);
    spec->inputs = 0, spec->input = own, spec->input_values = count;
    g_ptr_array_add(result->owned, spec);
    g_ptr_array_add(result->owned, own);
    result->spec = inputs->shared->spec = spec;
}

/* Another input was checked before. */
static void begin_again(Inputs *inputs)
{
    check_forget(inputs->result);
    worker_begin_again(inputs->shared);
    inputs->shared->execution = NULL;           /* the last child's */
}

static Verdict check_input(Inputs *inputs, const int64_t *value, size_t count)
{
    if (inputs->checked)
        begin_again(inputs);
    set_input(inputs, value, count);
    inputs->check_one(inputs->result, inputs->shared);
    inputs->checked = true;
    return inputs->result->verdict;
}

/* Of inputs that somebody else chooses, the last one is the one that he ends with. */
static int compare_doubts(const void *a, const void *b, void *data)
{
    const Doubt *left = a, *right = b;
    const InputSearch *search = data;
    if ((left->kind == DOUBT_FAULTY) != (right->kind == DOUBT_FAULTY))
        return left->kind == DOUBT_FAULTY ? -1 : 1;
    if (search->given)
        return left->number > right->number ? -1 : left->number < right->number;
    if (left->size != right->size)
        return left->size < right->size ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Checks what is in doubt, the smallest first, until one is faulty. */
static void decide_doubts(Inputs *inputs)
{
    InputSearch *search = inputs->search;
    InputTally *tally = &search->tally;
    const size_t count = search->doubts.count;
    g_autofree Doubt *doubt = g_memdup2(search->doubts.base, count * sizeof *doubt);
    if (count > 0)
        g_qsort_with_data(doubt, (gint)count, sizeof *doubt, compare_doubts, search);
    for (size_t i = 0; i < count; i++) {
        if (check_is_over(inputs->result)) {
            tally->undecided += count - i;
            return;
        }
        g_autofree int64_t *value = g_memdup2(input_values(search, &doubt[i]), doubt[i].count * sizeof *value);
        if (doubt[i].kind == DOUBT_FAULTY && !search->in_order && !search->given)
            shrink(inputs, value, doubt[i].count);
        Verdict verdict = check_input(inputs, value, doubt[i].count);
        tally->undecided += verdict == VERDICT_BOUNDED;
        if (verdict == VERDICT_FAULTY || verdict == VERDICT_ERROR)
            return;
    }
    tally->undecided += search->more;
}

static void take_rule(InputTally *tally, const Rules *rules)
{
    const Rule *rule = rules_best(rules);
    tally->ruled = rule != NULL;
    if (rule == NULL)
        return;
    tally->rule = *rule;
    tally->right = rules->right;
}

/* Operations that some input executed are not unreached. */
static void drop_reached(Inputs *inputs)
{
    GPtrArray *advice = inputs->result->advice;
    for (guint i = advice->len; i-- > 0;) {
        const Advice *one = advice->pdata[i];
        if (one->id == ADVICE_UNREACHED && input_news_seen(inputs->search, inputs->result->program, one->place[0].site))
            g_ptr_array_remove_index(advice, i);
    }
}

static void conclude(Inputs *inputs)
{
    CheckResult *result = inputs->result;
    const InputTally *tally = &inputs->search->tally;
    if (!inputs->checked) {
        const Doubt *shown = &inputs->search->last_news;
        check_input(inputs, input_values(inputs->search, shown), shown->count);
    }
    drop_reached(inputs);
    bool all = tally->whole && tally->undecided == 0;
    if (result->verdict == VERDICT_VERIFIED && !all && inputs->open) {
        outcome_add_limit(result->outcome, "inputs");
        result->verdict = VERDICT_BOUNDED;
    }
}

static void begin_search(Inputs *inputs)
{
    const CheckSpec *spec = inputs->result->spec;
    WorkerShared *own = inputs->own = worker_shared_new(spec, inputs->result->deadline);
    own->many = inputs->search = input_search_new(spec);
    own->serve = input_search_serve, own->give = input_search_give;
}

static void end_search(Inputs *inputs)
{
    WorkerShared *own = inputs->own;
    input_search_free(inputs->search);
    record_free(own->record);
    program_free(own->program);
    worker_shared_free(own);
}

void inputs_check(CheckResult *result, WorkerShared *shared, CheckOne check_one)
{
    Inputs inputs = { .result = result, .shared = shared, .check_one = check_one };
    const gint64 start = g_get_monotonic_time();
    begin_search(&inputs);
    inputs.search->each_whole = compile_variants(result->spec->module) != NULL;
    result->owned = g_ptr_array_new_with_free_func(g_free);
    if (inputs.search->given)
        answer_lines(&inputs);
    else
        search(&inputs);
    inputs.open = inputs.own->program->drawn.count > 0;
    take_rule(&inputs.search->tally, &inputs.search->rules);
    if (result->error == NULL) {
        decide_doubts(&inputs);
        conclude(&inputs);
    }
    if (inputs.open)
        result->inputs = g_memdup2(&inputs.search->tally, sizeof inputs.search->tally);
    end_child(&inputs);
    end_search(&inputs);
    result->seconds = (double)(g_get_monotonic_time() - start) / 1e6;
}
