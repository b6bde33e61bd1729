/* input_search.c - the odometer over all inputs is the last input itself: its last value that can grow grows, those behind are least. */
#include "input_search.h"
#include <string.h>
#include "../../model/input.h"
#include "../../model/rewind.h"
#include "../classes/classes.h"
#include "../facts/outcome.h"
#include "../proof/prove.h"
#include "../run/globals.h"
#include "input_news.h"
#include "input_pairs.h"
#include "search.h"
#include "shape.h"
#include "worker.h"

enum { DOUBTS_MAX = 20000, LINES_MAX = 1 << 16, PAIRS_MAX = 1 << 20, INPUTS_MAX = 1 << 24 };

InputSearch *input_search_new(const CheckSpec *spec)
{
    Store home;
    store_init(&home, sizeof(InputSearch), 1);
    InputSearch *search = store_push(&home, 1);
    search->home = home, search->most = spec->inputs, search->in_order = spec->inputs == INPUTS_ALL;
    search->given = search->tally.given = spec->inputs == INPUTS_GIVEN;
    search->left_out = spec->shape_canary;
    store_init(&search->values, sizeof(int64_t), (size_t)1 << 32);
    store_init(&search->doubts, sizeof(Doubt), DOUBTS_MAX);
    store_init(&search->news, sizeof(Doubt), INPUTS_MAX);
    store_init(&search->rare, sizeof(Doubt), INPUTS_MAX);
    store_init(&search->next, sizeof(int64_t), 1 << 24);
    store_init(&search->faulty, sizeof(bool), INPUTS_MAX);
    intern_init(&search->shapes, INPUTS_MAX, (size_t)INPUTS_MAX * sizeof(ShapeHash));
    intern_init(&search->lines, LINES_MAX, (size_t)LINES_MAX * 16);
    intern_init(&search->pairs, PAIRS_MAX, (size_t)PAIRS_MAX * 16);
    intern_init(&search->tried, INPUTS_MAX, (size_t)INPUTS_MAX * sizeof(ShapeHash));
    rng_init(&search->rng, spec->inputs_seed);
    return search;
}

void input_search_free(InputSearch *search)
{
    store_clear(&search->values);
    store_clear(&search->doubts);
    store_clear(&search->news);
    store_clear(&search->rare);
    store_clear(&search->next);
    store_clear(&search->faulty);
    intern_clear(&search->shapes);
    intern_clear(&search->lines);
    intern_clear(&search->pairs);
    intern_clear(&search->tried);
    Store home = search->home;
    store_clear(&home);
}

void input_search_give(WorkerShared *shared)
{
    const InputSearch *search = shared->many;
    Program *program = shared->program;
    size_t count = search->next.count;
    memcpy(store_push(&program->input, count), search->next.base, count * sizeof(int64_t));
    program->many_inputs = !search->given;
    program->least_input = search->in_order;
}

/* ---- one input ---- */

static Doubt keep_input(InputSearch *search, const Program *program, DoubtKind kind)
{
    Doubt doubt = { .number = search->tally.tried, .first = search->values.count, .count = program->drawn.count, .kind = (uint8_t)kind };
    int64_t *value = store_push(&search->values, doubt.count);
    for (size_t i = 0; i < doubt.count; i++) {
        const Drawn *drawn = input_drawn(program, i);
        value[i] = drawn->value;
        doubt.size += (uint64_t)drawn->value - (uint64_t)drawn->least;
    }
    return doubt;
}

static void add_doubt(InputSearch *search, const Program *program, DoubtKind kind)
{
    if (search->doubts.count >= DOUBTS_MAX)
        search->more++;
    else
        *(Doubt *)store_push(&search->doubts, 1) = keep_input(search, program, kind);
}

static bool has_run(const WorkerShared *shared)
{
    return shared->error == NULL && shared->ran && shared->program->usage_error == NULL;
}

/* Did all cores finish, twice, without a fault that the run itself sees? */
static bool is_smooth(const WorkerShared *shared)
{
    return !shared->steps_reached && shared->not_deterministic == NULL && shared->record->raised.count == 0
        && record_all_finished(shared->record);
}

/* The id of the record's shape; NONE: the verdict does not follow from it. */
static uint32_t find_shape(const WorkerShared *shared, ShapeHash *shape)
{
    const Record *record = shared->record;
    *shape = shape_of(record, shared->many->left_out);
    bool decides = search_is(shared->spec->search, SEARCH_BY_RECORD) && !classes_needed(record) && is_smooth(shared);
    return decides ? intern_find(&shared->many->shapes, shape, sizeof *shape) : NONE;
}

static void search_new_shape(WorkerShared *shared)
{
    ShapeHash shape;
    shared->searched = false;
    if (find_shape(shared, &shape) == NONE)
        search_run(shared);
}

static DoubtKind judge_outcome(const WorkerShared *shared)
{
    const ProveOptions options = { .limits = worker_limits(shared) };
    Outcome *outcome = shared->searched ? outcome_load(&shared->outcome) : prove_record(shared->record, &options);
    DoubtKind kind = outcome == NULL ? DOUBT_OTHER : outcome->findings->len > 0 ? DOUBT_FAULTY
        : !outcome->complete ? DOUBT_UNDECIDED : DOUBT_NONE;
    outcome_free(outcome);
    return kind;
}

static DoubtKind judge(WorkerShared *shared, bool *news)
{
    InputSearch *search = shared->many;
    ShapeHash shape;
    if (!has_run(shared))
        return DOUBT_OTHER;
    uint32_t known = find_shape(shared, &shape);
    if (known != NONE)
        return STORE(bool, &search->faulty, known) ? DOUBT_FAULTY : DOUBT_NONE;
    DoubtKind kind = judge_outcome(shared);
    if (kind == DOUBT_NONE && !is_smooth(shared))
        kind = DOUBT_OTHER;
    size_t before = intern_count(&search->shapes);
    uint32_t id = intern_add(&search->shapes, &shape, sizeof shape);
    *news |= id >= before;
    if (id >= before)
        *(bool *)store_push(&search->faulty, 1) = kind != DOUBT_NONE;
    return kind;
}

/* Builds, runs and judges the next input. Sets *applies to whether PROGRAM accepts it. */
static DoubtKind try_input(WorkerShared *shared, const ProgramModule *module, bool *applies, bool *news)
{
    InputSearch *search = shared->many;
    worker_begin_again(shared);
    search->running = true;
    shared->control.phase = PHASE_PROGRAM;
    *applies = worker_build(shared, module) || shared->not_applicable == NULL;
    if (*applies && shared->error == NULL)
        worker_run_built(shared, search_new_shape);
    DoubtKind kind = *applies ? judge(shared, news) : DOUBT_NONE;
    search->rare_news = *applies && input_news_lines(search, shared->program);
    search->rare_news |= *applies && !search->in_order && has_run(shared) && input_pairs(search, shared->record);
    *news |= search->rare_news;
    search->running = false;
    return *applies && kind == DOUBT_NONE && search->each_whole ? DOUBT_OTHER : kind;
}

/* ---- many ---- */

static void count(InputSearch *search, const Program *program, bool applies, DoubtKind kind, bool news)
{
    InputTally *tally = &search->tally;
    tally->refused += !applies;
    tally->tried += applies;
    tally->shapes = intern_count(&search->shapes);
    tally->faulty += kind == DOUBT_FAULTY;
    tally->doubted += kind != DOUBT_NONE;
    if (applies && kind != DOUBT_NONE)
        add_doubt(search, program, kind);
    if (applies && (kind == DOUBT_NONE || kind == DOUBT_FAULTY))
        rules_count(&search->rules, program, kind == DOUBT_FAULTY);
    if (!applies || !news)
        return;
    tally->last_news = tally->tried;
    search->last_news = keep_input(search, program, kind);
    if (!search->in_order)
        *(Doubt *)store_push(&search->news, 1) = search->last_news;
    if (!search->in_order && search->rare_news)
        *(Doubt *)store_push(&search->rare, 1) = search->last_news;
}

/* The lexicographic successor of the program's input; false: it is the last one. */
static bool step_odometer(InputSearch *search, const Program *program)
{
    size_t last = program->drawn.count;
    while (last > 0 && input_drawn(program, last - 1)->value >= input_drawn(program, last - 1)->greatest)
        last--;
    store_reset(&search->next);
    int64_t *next = store_push(&search->next, last);
    for (size_t i = 0; i < last; i++)
        next[i] = input_drawn(program, i)->value + (i + 1 == last);
    return last > 0;
}

/* How many inputs there are, if all have the domains of this one. */
static double count_domain(const Program *program)
{
    double product = 1;
    for (size_t i = 0; i < program->drawn.count; i++)
        product *= (double)input_drawn(program, i)->greatest - (double)input_drawn(program, i)->least + 1;
    return product;
}

/* There are so few inputs that all can be tried: begins again with the first one. */
static bool take_all(InputSearch *search, const Program *program)
{
    if (search->in_order || search->news.count > 1 || count_domain(program) > (double)search->most)
        return false;
    search->in_order = true;
    search->tally = (InputTally){ 0 };
    search->rules = (Rules){ 0 };
    store_reset(&search->next);
    store_reset(&search->news);
    store_reset(&search->rare);
    store_reset(&search->doubts);
    return true;
}

/* false: there is no other one, or enough have been tried. */
static bool choose_next(InputSearch *search, const Program *program)
{
    const uint64_t tried = search->tally.tried + search->tally.refused;
    if (tried == 1 && take_all(search, program))
        return true;
    if (search->in_order && !step_odometer(search, program)) {
        search->tally.whole = true;
        return false;
    }
    return tried < search->most && (search->in_order || input_news_next(search, program));
}

void input_search_take_death(WorkerShared *shared)
{
    InputSearch *search = shared->many;
    search->running = false;
    count(search, shared->program, true, DOUBT_OTHER, true);
    search->answered = true, search->refused = false, search->answer = DOUBT_FAULTY;
    search->finished = !search->given && !choose_next(search, shared->program);
}

static void show_progress(WorkerShared *shared)
{
    const InputSearch *search = shared->many;
    Progress *progress = &shared->control.progress;
    shared->control.phase = PHASE_SEARCH;
    progress->kind = PROGRESS_INPUTS;
    progress->total = search->most == INPUTS_ALL ? 0 : (double)search->most;
    progress_set(progress, search->tally.tried, search->doubts.count + search->more > 0);
}

static void explore(WorkerShared *shared, const ProgramModule *module)
{
    InputSearch *search = shared->many;
    for (;;) {
        bool applies, news = false;
        show_progress(shared);
        if (search->finished || child_told_to_stop() || !globals_start_over())
            return;
        search->answer = try_input(shared, module, &applies, &news);
        search->answered = true, search->refused = !applies;
        count(search, shared->program, applies, search->answer, news);
        if (search->given)
            return;
        search->finished = !choose_next(search, shared->program);
    }
}

void input_search_serve(WorkerShared *shared)
{
    static ProgramModule *module;               /* opened once in a process */
    InputSearch *search = shared->many;
    if (search->running)
        input_search_take_death(shared);
    if (module == NULL) {
        shared->execution = NULL;               /* the last child's */
        module = worker_open(shared);
        if (module != NULL)
            globals_keep();
    }
    if (module == NULL) {
        search->finished = true;
        return;
    }
    if (!search->asked) {
        explore(shared, module);
    } else if (globals_start_over()) {
        bool applies, news;
        search->answer = try_input(shared, module, &applies, &news);
    }
}
