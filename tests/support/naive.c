/* naive.c - depth first over states kept as byte strings: cores' places, all counts, copies under way. */
#include "naive.h"
#include <string.h>
#include "../../model/rng.h"
#include "naive_inside.h"

const UnrollStep *naive_step(const NaiveSearch *s, uint32_t core, uint32_t at)
{
    GArray *list = s->script->core[core];
    return at < list->len ? &g_array_index(list, UnrollStep, at) : NULL;
}

const UnrollStep *naive_next(const NaiveSearch *s, const NaiveState *state, uint32_t core)
{
    return state->core[core].stopped ? NULL : naive_step(s, core, state->core[core].at);
}

const Copy *naive_copy(const NaiveSearch *s, const NaiveCopy *copy)
{
    return &naive_step(s, copy->core, copy->at)->copy;
}

uint32_t naive_device(const NaiveSearch *s, uint32_t core)
{
    return core / s->program->cores_per_device;
}

static GBytes *pack(const NaiveSearch *s, const NaiveState *state)
{
    GByteArray *bytes = g_byte_array_new();
    for (uint32_t c = 0; c < s->program->cores; c++) {
        const NaiveCore *core = &state->core[c];
        uint64_t numbers[4] = {core->at, core->position, core->stopped, core->seen};
        g_byte_array_append(bytes, (const guint8 *)numbers, sizeof numbers);
    }
    g_byte_array_append(bytes, (const guint8 *)state->count, s->program->semaphores * (guint)sizeof(int64_t));
    for (uint32_t i = 0; i < state->copies; i++) {
        const NaiveCopy *copy = &state->copy[i];
        uint32_t numbers[5] = {copy->core, copy->at, copy->early_send, copy->read, copy->early_receive};
        g_byte_array_append(bytes, (const guint8 *)numbers, sizeof numbers);
    }
    return g_byte_array_free_to_bytes(bytes);
}

static NaiveState *unpack(const NaiveSearch *s, GBytes *packed)
{
    gsize length;
    const char *at = g_bytes_get_data(packed, &length), *end = at + length;
    NaiveState *state = g_new0(NaiveState, 1);
    state->core = g_new0(NaiveCore, s->program->cores);
    state->count = g_new0(int64_t, s->program->semaphores + 1);
    state->copy = g_new0(NaiveCopy, (gsize)(end - at) / 20 + 2);
    for (uint32_t c = 0; c < s->program->cores; c++, at += 32) {
        uint64_t numbers[4];
        memcpy(numbers, at, sizeof numbers);
        state->core[c] = (NaiveCore){(uint32_t)numbers[0], (uint32_t)numbers[1], numbers[2] != 0, numbers[3]};
    }
    memcpy(state->count, at, s->program->semaphores * sizeof(int64_t));
    for (at += s->program->semaphores * sizeof(int64_t); at < end; at += 20) {
        uint32_t numbers[5];
        memcpy(numbers, at, sizeof numbers);
        state->copy[state->copies++] = (NaiveCopy){numbers[0], numbers[1], numbers[2] != 0, numbers[3] != 0, numbers[4] != 0};
    }
    return state;
}

static void free_state(NaiveState *state)
{
    g_free(state->core);
    g_free(state->count);
    g_free(state->copy);
    g_free(state);
}

static bool is_member(const NaiveSearch *s, const Step *join, uint32_t of, uint32_t core)
{
    if (join->kind == STEP_ENTER && program_launch(s->program, join->object)->entry_barrier)
        return program_launch_on_device(s->program, join->object, naive_device(s, core));
    return naive_device(s, core) == naive_device(s, of);
}

static bool join_possible(const NaiveSearch *s, const NaiveState *state, uint32_t core)
{
    const Step *join = &naive_next(s, state, core)->step;
    for (uint32_t c = 0; c < s->program->cores; c++) {
        if (!is_member(s, join, core, c))
            continue;
        const UnrollStep *other = naive_next(s, state, c);
        if (c < core || other == NULL || other->step.kind != join->kind || other->step.object != join->object)
            return false;                       /* c < core: the first member speaks for all */
    }
    return true;
}

static bool core_possible(const NaiveSearch *s, const NaiveState *state, uint32_t core)
{
    const UnrollStep *step = naive_next(s, state, core);
    if (step == NULL)
        return false;
    int64_t count = step->step.object < s->program->semaphores ? state->count[step->step.object] : 0;
    if (step->step.kind == STEP_WAIT || step->step.kind == STEP_WAIT_KEEP)
        return count >= step->step.value;
    if (step->step.kind == STEP_FLAG_WAIT)
        return compare_holds((Compare)step->step.extra, count, (int32_t)step->step.value);
    return !step_is_join((StepKind)step->step.kind) || join_possible(s, state, core);
}

static bool fluid_part(const NaiveSearch *s, uint32_t semaphore, uint32_t count)
{
    return s->program->knobs.dma_progress == DMA_PROGRESS_FLUID && semaphore != NONE && count > 1;
}

static bool held_back(const NaiveSearch *s, const NaiveState *state, uint32_t index, bool read)
{
    const NaiveCopy *mine = &state->copy[index];
    DmaOrder order = s->program->knobs.dma_order;
    for (uint32_t i = 0; i < index; i++) {
        const NaiveCopy *earlier = &state->copy[i];
        if (earlier->core != mine->core)
            continue;
        if (order == DMA_ORDER_ISSUE_ORDER && (!read || !earlier->read))
            return true;
        if (order == DMA_ORDER_LINK_FIFO && !read && naive_copy(s, earlier)->remote && naive_copy(s, mine)->remote
            && naive_copy(s, earlier)->target_device == naive_copy(s, mine)->target_device)
            return true;
    }
    return false;
}

static bool moment_possible(const NaiveSearch *s, const NaiveState *state, uint32_t index, StepKind kind)
{
    const NaiveCopy *copy = &state->copy[index];
    const Copy *what = naive_copy(s, copy);
    bool sends_early = fluid_part(s, what->send_semaphore, what->send_count);
    bool receives_early = fluid_part(s, what->receive_semaphore, what->receive_count);
    if (kind == STEP_EARLY_SEND)
        return sends_early && !copy->early_send;
    if (kind == STEP_READ)
        return !copy->read && copy->early_send == sends_early && !held_back(s, state, index, true);
    if (kind == STEP_EARLY_RECEIVE)
        return receives_early && !copy->early_receive && !held_back(s, state, index, false);
    return copy->read && copy->early_receive == receives_early && !held_back(s, state, index, false);
}

static GArray *possible(const NaiveSearch *s, const NaiveState *state)
{
    GArray *events = g_array_new(FALSE, FALSE, sizeof(NaiveEvent));
    for (uint32_t c = 0; c < s->program->cores; c++)
        if (core_possible(s, state, c)) {
            NaiveEvent event = {c, state->core[c].at, NONE, naive_step(s, c, state->core[c].at)->step.kind};
            g_array_append_val(events, event);
        }
    static const StepKind MOMENT[] = {STEP_EARLY_SEND, STEP_READ, STEP_EARLY_RECEIVE, STEP_WRITE};
    for (uint32_t i = 0; i < state->copies; i++)
        for (size_t m = 0; m < G_N_ELEMENTS(MOMENT); m++)
            if (moment_possible(s, state, i, MOMENT[m])) {
                NaiveEvent event = {state->copy[i].core, state->copy[i].at, i, (uint8_t)MOMENT[m]};
                g_array_append_val(events, event);
            }
    return events;
}

static bool steers(StepKind kind)
{
    return kind == STEP_SEMAPHORE_READ || kind == STEP_FLAG_LOAD;
}

static bool observes(const Step *step)
{
    return steers((StepKind)step->kind) || step->kind == STEP_FLAG_CAS || (step->kind == STEP_FLAG_ADD && step->extra);
}

static void go_on(const NaiveSearch *s, NaiveState *state, uint32_t c)
{
    NaiveCore *core = &state->core[c];
    const Step *step = &naive_step(s, c, core->at)->step;
    int64_t count = step->object < s->program->semaphores ? state->count[step->object] : 0;
    if (observes(step))
        core->seen = rng_mix(core->seen + 1) ^ rng_mix((uint64_t)count + 77);
    core->at += 1 + (steers((StepKind)step->kind) && count >= (int64_t)step->value ? step->extra : 0);
    core->position++;
}

static void do_core(const NaiveSearch *s, NaiveState *state, uint32_t c)
{
    const UnrollStep *from = naive_next(s, state, c);
    const Step step = from->step;
    int64_t *count = step.object < s->program->semaphores ? &state->count[step.object] : NULL, before = count ? *count : 0;
    if (step_is_join((StepKind)step.kind)) {
        for (uint32_t m = 0; m < s->program->cores; m++)
            if (is_member(s, &step, c, m))
                go_on(s, state, m);
        return;
    }
    if (step.kind == STEP_COPY_START && step.object != NONE) {
        uint32_t at = state->copies++;
        for (; at > 0 && state->copy[at - 1].core > c; at--)
            state->copy[at] = state->copy[at - 1];
        state->copy[at] = (NaiveCopy){.core = c, .at = state->core[c].at};
    }
    state->core[c].stopped = step.kind == STEP_STOP || (step.kind == STEP_EXPECT_COUNT && before != (int64_t)step.value);
    go_on(s, state, c);
    if (step.kind == STEP_SIGNAL)
        *count += step.value;
    if (step.kind == STEP_WAIT)
        *count -= step.value;
    if (step.kind == STEP_FLAG_STORE || (step.kind == STEP_FLAG_CAS && before == (int32_t)step.extra))
        *count = (int32_t)step.value;
    if (step.kind == STEP_FLAG_ADD)
        *count = (int32_t)(before + (int32_t)step.value);
}

static void do_moment(const NaiveSearch *s, NaiveState *state, const NaiveEvent *event)
{
    NaiveCopy *copy = &state->copy[event->copy];
    const Copy *what = naive_copy(s, copy);
    uint32_t sent_early = fluid_part(s, what->send_semaphore, what->send_count) ? what->send_count - 1 : 0;
    uint32_t received_early = fluid_part(s, what->receive_semaphore, what->receive_count) ? what->receive_count - 1 : 0;
    if (event->kind == STEP_EARLY_SEND) {
        state->count[what->send_semaphore] += sent_early, copy->early_send = true;
    } else if (event->kind == STEP_READ) {
        if (what->send_semaphore != NONE)
            state->count[what->send_semaphore] += what->send_count - sent_early;
        copy->read = true;
    } else if (event->kind == STEP_EARLY_RECEIVE) {
        state->count[what->receive_semaphore] += received_early, copy->early_receive = true;
    } else {
        if (what->receive_semaphore != NONE)
            state->count[what->receive_semaphore] += what->receive_count - received_early;
        memmove(copy, copy + 1, (--state->copies - event->copy) * sizeof *copy);
    }
}

static void visit(NaiveSearch *s, GBytes *packed)
{
    NaiveState *state = unpack(s, packed);
    GArray *events = possible(s, state);
    naive_check(s, state, events);
    for (guint i = 0; i < events->len; i++) {
        const NaiveEvent *event = &g_array_index(events, NaiveEvent, i);
        NaiveState *after = unpack(s, packed);
        if (event->copy == NONE)
            do_core(s, after, event->core);
        else
            do_moment(s, after, event);
        naive_check_limit(s, state, after, event);
        GBytes *next = pack(s, after);
        s->naive->transitions++;
        if (g_hash_table_contains(s->seen, next)) {
            g_bytes_unref(next);
        } else {
            g_hash_table_add(s->seen, next);
            g_ptr_array_add(s->stack, next);
        }
        free_state(after);
    }
    if (events->len == 0)
        naive_check_end(s, state);
    g_array_free(events, TRUE);
    free_state(state);
}

static gint compare_hashes(gconstpointer a, gconstpointer b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void sort_end_states(GArray *hashes)
{
    g_array_sort(hashes, compare_hashes);
    for (guint i = hashes->len; i-- > 1;)
        if (g_array_index(hashes, uint64_t, i) == g_array_index(hashes, uint64_t, i - 1))
            g_array_remove_index(hashes, i);
}

static GBytes *start(const NaiveSearch *s)
{
    NaiveState state = {.core = g_new0(NaiveCore, s->program->cores), .count = g_new0(int64_t, s->program->semaphores + 1)};
    for (uint32_t semaphore = 0; semaphore < s->program->semaphores; semaphore++)
        state.count[semaphore] = program_decl(s->program, program_semaphore_decl(s->program, semaphore))->initial;
    GBytes *packed = pack(s, &state);
    g_free(state.core);
    g_free(state.count);
    return packed;
}

Naive *naive_run(Script *script, uint64_t states_max)
{
    NaiveSearch s = {.script = script, .program = script->program, .naive = g_new0(Naive, 1), .states_max = states_max};
    s.naive->end_states = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    s.naive->faults = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    s.seen = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    s.stack = g_ptr_array_new();
    s.pairs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    s.in_flight = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    s.racing = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    s.left_over = g_hash_table_new(NULL, NULL);
    s.late = g_ptr_array_new();
    s.late_keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GBytes *first = start(&s);
    g_hash_table_add(s.seen, first);
    g_ptr_array_add(s.stack, first);
    while (s.stack->len && g_hash_table_size(s.seen) <= states_max) {
        GBytes *packed = g_ptr_array_remove_index_fast(s.stack, s.stack->len - 1);
        visit(&s, packed);
    }
    s.naive->complete = s.stack->len == 0;
    s.naive->states = g_hash_table_size(s.seen);
    naive_settle(&s);
    sort_end_states(s.naive->end_states);
    g_hash_table_destroy(s.seen);
    g_ptr_array_free(s.stack, TRUE);
    g_hash_table_destroy(s.pairs);
    g_hash_table_destroy(s.in_flight);
    g_hash_table_destroy(s.racing);
    g_hash_table_destroy(s.left_over);
    g_ptr_array_free(s.late, TRUE);
    g_hash_table_destroy(s.late_keys);
    return s.naive;
}

void naive_free(Naive *naive)
{
    g_array_free(naive->end_states, TRUE);
    g_hash_table_destroy(naive->faults);
    g_free(naive);
}

static UnrollEnd extend(void *self, uint32_t core, const Observation *observed, size_t count, bool contents, GArray *out)
{
    (void)contents;
    GArray *list = ((Script *)self)->core[core];
    size_t used = 0;
    for (guint at = 0; at < list->len;) {
        const UnrollStep *step = &g_array_index(list, UnrollStep, at);
        if (used == count)
            g_array_append_vals(out, step, 1);
        at++;
        if (step->step.kind == STEP_STOP)
            return UNROLL_STOPPED;
        if (!observes(&step->step))
            continue;
        if (used == count)
            return UNROLL_OBSERVES;
        int64_t seen = observed[used++].value;
        if (steers((StepKind)step->step.kind) && seen >= (int64_t)step->step.value)
            at += step->step.extra;
    }
    return UNROLL_FINISHED;
}

UnrollSource naive_source(Script *script)
{
    return (UnrollSource){.program = script->program, .self = script, .extend = extend};
}
