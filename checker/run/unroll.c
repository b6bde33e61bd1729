/* unroll.c - runs one core from its start and feeds it the given observations.
 *
 * The core's steps have no effect here; those up to the last given observation are skipped, those after it are returned.
 */
#include "unroll.h"
#include "../../model/entry.h"
#include "../../model/heap.h"
#include "../../model/outside.h"
#include "coro.h"
#include "edit.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct Unroller {
    UnrollSource source;
    Program *program;
    CoroPool *pool;
    Core core;
    const Observation *observed;
    size_t count, used;
    bool contents, needs_contents, halt_when_fed;
    bool unsettled, beyond;                     /* some launch is unsettled; the core runs past its next observation */
    uint64_t steps_beyond;
    bool scrubs;                                /* wipe stale bytes below the kernel's frames after each step */
    unsigned char fill;                         /* what unwritten stack holds */
    GArray *out;
    UnrollEnd end;
    UnrollFault *raised;                        /* since the last step, in order; NULL: none */
    GPtrArray *owned;                           /* tiles, masks and faults handed out */
    ExecutionPulse *pulse;                      /* NULL: no supervisor */
};

static void *alloc_owned(void *owner, size_t bytes)
{
    Unroller *unroller = owner;
    void *block = g_malloc0(MAX(bytes, 1));
    g_ptr_array_add(unroller->owned, block);
    return block;
}

static Tile *keep_tile(Unroller *unroller, const Tile *tile)
{
    Tile *copy = alloc_owned(unroller, sizeof *copy);
    tile_init(copy, tile->dtype, tile->ndim, tile->size, tile->opaque, alloc_owned, unroller);
    if (!tile->opaque) {
        memcpy(copy->bytes, tile->bytes, (size_t)tile->elements * dtype_size_bytes(tile->dtype));
        memcpy(copy->written, tile->written, (size_t)tile->elements);
        memcpy(copy->origin, tile->origin, (size_t)tile->elements * sizeof *tile->origin);
    }
    if (tile->parts) {
        tile_want_parts(copy, alloc_owned, unroller);
        memcpy(copy->part, tile->part, (size_t)tile->elements * dtype_size_bytes(tile->dtype) * sizeof *tile->part);
    }
    return copy;
}

enum { BEYOND_MAX = 1 << 20 };                  /* steps */

static bool observes(const Unroller *unroller, const Request *request)
{
    const Step *step = &request->step;
    if (step->kind == STEP_LOAD || step->kind == STEP_SWAP)
        return unroller->contents && !program_decl(unroller->program, program_object_decl(unroller->program, step->object))->opaque;
    return step_learns(step);
}

static void hand_out(Unroller *unroller, Core *core, const Request *request)
{
    UnrollStep step = { .step = request->step, .copy = request->copy, .view = request->view, .raised = unroller->raised,
                        .fault = FAULT_COUNT, .observed_data = core->observed_data, .steered = core->steered };
    if (request->step.kind == STEP_STOP)
        step.fault = request->fault, step.message = request->message;
    bool writes = request->step.kind == STEP_STORE || request->step.kind == STEP_SWAP;
    if (writes && unroller->contents && request->tile != NULL)
        step.tile = keep_tile(unroller, request->tile);
    if (request->mask != NULL && unroller->contents) {
        size_t elements = (size_t)view_elements(program_get_view(unroller->program, request->view));
        uint8_t *mask = alloc_owned(unroller, elements);
        memcpy(mask, request->mask, elements);
        step.mask = mask;
    }
    memcpy(step.grid, core->grid, sizeof step.grid);
    g_array_append_val(unroller->out, step);
    unroller->raised = NULL;
}

static void feed(Request *request, const Observation *observation)
{
    request->observed = observation->value;
    Tile *into = request->step.kind == STEP_SWAP ? request->old : request->tile;
    if (observation->tile == NULL || into == NULL || into->opaque)
        return;
    memcpy(into->bytes, observation->tile->bytes, (size_t)into->elements * dtype_size_bytes(into->dtype));
    memcpy(into->written, observation->tile->written, (size_t)into->elements);
    memcpy(into->origin, observation->tile->origin, (size_t)into->elements * sizeof *into->origin);
    g_assert(into->parts == observation->tile->parts);
    if (into->parts)
        memcpy(into->part, observation->tile->part, (size_t)into->elements * dtype_size_bytes(into->dtype) * sizeof *into->part);
}

static void leave_for_good(Unroller *unroller, UnrollEnd end)
{
    unroller->end = end;
    coro_yield(unroller->pool);
    g_assert_not_reached();
}

/* The core may be stuck at its observation: its next steps, as far as they do not depend on it, settle launches. None is returned. */
static bool goes_beyond(Unroller *unroller, Core *core, Request *request)
{
    if (unroller->beyond)
        return !step_learns(&request->step) && request->step.kind != STEP_STOP && unroller->steps_beyond++ < BEYOND_MAX;
    Tile *into = request->step.kind == STEP_SWAP ? request->old : request->tile;
    if (!unroller->unsettled || unroller->halt_when_fed || unroller->scrubs || into == NULL)
        return false;
    tile_drop_parts(into);
    unroller->beyond = core->opaque_data = into->opaque = true;
    unroller->steps_beyond = 0;
    return true;
}

typedef enum Next { NEXT_GO_ON, NEXT_OBSERVES, NEXT_STOPPED } Next;

/* Not inlined: how many observations there were so far must not linger in registers or frames that a fingerprint would see. */
static __attribute__((noinline)) Next pass(Unroller *unroller, Core *core, Request *request)
{
    if (unroller->beyond)
        return goes_beyond(unroller, core, request) ? NEXT_GO_ON : NEXT_OBSERVES;
    bool fresh = unroller->used == unroller->count, look = observes(unroller, request);
    if (request->step.kind == STEP_COPY_START)
        request->copy.position = core->position;
    if (fresh)
        hand_out(unroller, core, request);
    core->position++;
    if (request->step.kind == STEP_STOP)
        return NEXT_STOPPED;
    if (look && fresh)
        return goes_beyond(unroller, core, request) ? NEXT_GO_ON : NEXT_OBSERVES;
    if (!fresh)
        unroller->raised = NULL;
    if (look)
        feed(request, &unroller->observed[unroller->used++]);
    return look && unroller->halt_when_fed && unroller->used == unroller->count ? NEXT_OBSERVES : NEXT_GO_ON;
}

static __attribute__((noinline)) void scrub(const Unroller *unroller)
{
    char stale[1024];
    memset(stale, unroller->fill, sizeof stale);
    __asm__ volatile("" : : "r"(stale) : "memory");
}

static void submit(Core *core, Request *request)
{
    const Unroller *unroller = core->runner;
    if (unroller->pulse != NULL)
        unroller->pulse->operations++;
    if (edit_pass(core, request))
        return;
    Next next = pass(core->runner, core, request);
    if (next != NEXT_GO_ON)
        leave_for_good(core->runner, next == NEXT_OBSERVES ? UNROLL_OBSERVES : UNROLL_STOPPED);
    if (unroller->scrubs)
        scrub(unroller);
}

static void raise_fault(Core *core, uint32_t site, FaultId fault, const char *message)
{
    Unroller *unroller = core->runner;
    if (unroller->beyond)
        return;
    UnrollFault **link = &unroller->raised;
    for (; *link != NULL; link = (UnrollFault **)&(*link)->next)
        if ((*link)->fault == fault && (*link)->site == site)
            return;
    *link = alloc_owned(unroller, sizeof **link);
    **link = (UnrollFault){ NULL, fault, site, core->steered, message };
}

enum { FILL = 0x5b };

static void ignore_advice(Core *core, uint32_t site, AdviceId advice)
{
    (void)core, (void)site, (void)advice;
}

static void run_core(void *argument)
{
    core_main(argument);
}

static void run(Unroller *unroller, uint32_t id, const Observation *observed, size_t count, bool contents, GArray *out)
{
    Core *core = &unroller->core;
    struct CoreChunk *spare = core->spare;
    outside_begin();
    heap_pattern(HEAP_FILL, 0);
    core_init(core, unroller->program, id);
    core->spare = spare;
    if (unroller->pulse != NULL)
        unroller->pulse->running = id;
    core->submit = submit, core->raise = raise_fault, core->advise = ignore_advice, core->runner = unroller;
    core->opaque_data = !contents;
    unroller->observed = observed, unroller->count = count, unroller->used = 0;
    unroller->contents = contents, unroller->out = out, unroller->raised = NULL;
    unroller->end = UNROLL_FINISHED, unroller->beyond = false;
    const char *usage_error = unroller->program->usage_error;
    coro_start(unroller->pool, 0, run_core, core);
    core_run_as(core);
    coro_resume(unroller->pool, 0);
    core_run_as(NULL);
    if (unroller->pulse != NULL)
        unroller->pulse->running = NONE;
    if (unroller->beyond)                       /* it did not get there */
        unroller->end = UNROLL_OBSERVES, unroller->program->usage_error = usage_error;
    else
        unroller->needs_contents |= core->needs_contents;
}

/* Keeps a block of the arena for the next run, so that addresses in it stay the same. */
static void forget_run(Unroller *unroller)
{
    struct CoreChunk *block = core_take_block(&unroller->core);
    core_clear(&unroller->core);
    unroller->core.spare = block;
}

static UnrollEnd extend(void *self, uint32_t id, const Observation *observed, size_t count, bool contents, GArray *out)
{
    Unroller *unroller = self;
    run(unroller, id, observed, count, contents, out);
    forget_run(unroller);
    return unroller->end;
}

/* The stack in use holds registers, locals and the step's own request. Stale bytes in it can only make equal states look different, which
 * is safe. The state of a core with heap memory is unknown. */
static uint64_t hash_state(const Unroller *unroller)
{
    size_t bytes = 0;
    const void *stack = coro_stack_in_use(unroller->pool, 0, &bytes);
    return stack == NULL || unroller->core.heap != NULL ? 0 : core_state_hash(&unroller->core, XXH3_64bits(stack, bytes)) | 1;
}

/* The state immediately after the last observation. */
static uint64_t fingerprint(void *self, uint32_t id, const Observation *observed, size_t count, bool contents)
{
    Unroller *unroller = self;
    if (count == 0)
        return 0;
    g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(UnrollStep));
    unroller->halt_when_fed = true;
    run(unroller, id, observed, count, contents, out);
    unroller->halt_when_fed = false;
    uint64_t hash = unroller->used == count ? hash_state(unroller) : 0;
    forget_run(unroller);
    return hash;
}

typedef struct Parked { char *stack; size_t bytes; uint64_t hash; } Parked;

static Parked park(Unroller *unroller, uint32_t id, const GArray *observed, bool contents, unsigned char fill)
{
    g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(UnrollStep));
    coro_pool_fill(unroller->pool, fill, CORO_FILLED_DEEP);
    unroller->scrubs = true, unroller->fill = fill;
    run(unroller, id, (const Observation *)(const void *)observed->data, observed->len, contents, out);
    unroller->scrubs = false;
    coro_pool_fill(unroller->pool, FILL, CORO_FILLED_BYTES);
    Parked parked = { 0 };
    const void *stack = unroller->end == UNROLL_OBSERVES ? coro_stack_in_use(unroller->pool, 0, &parked.bytes) : NULL;
    if (stack != NULL && unroller->core.heap == NULL)
        parked.stack = g_memdup2(stack, parked.bytes), parked.hash = core_state_hash(&unroller->core, 0);
    forget_run(unroller);
    return parked;
}

static bool is_unwritten(const Parked *one, const Parked *other, size_t i)
{
    return one->stack[i] == (char)FILL && other->stack[i] == (char)~FILL;
}

/* Runs on stacks with different fill patterns show which bytes the core has not written: their values do not matter to it. */
static bool same(void *self, uint32_t id, const GArray *earlier, const GArray *observed, bool contents)
{
    const GArray *after[2] = { earlier, observed };
    Parked parked[2][2];
    for (unsigned which = 0; which < 2; which++)
        for (unsigned fill = 0; fill < 2; fill++)
            parked[which][fill] = park(self, id, after[which], contents, (unsigned char)(fill ? ~FILL : FILL));
    const Parked *a = parked[0], *b = parked[1];
    bool equal = a->stack != NULL && b->stack != NULL && a[1].stack != NULL && b[1].stack != NULL && a->bytes == b->bytes
        && a->bytes == a[1].bytes && b->bytes == b[1].bytes && a->bytes <= CORO_FILLED_DEEP && a->hash == b->hash;
    for (size_t i = 0; equal && i < a->bytes; i++)
        equal = a->stack[i] == b->stack[i] || is_unwritten(&a[0], &a[1], i) || is_unwritten(&b[0], &b[1], i);
    for (unsigned which = 0; which < 2; which++)
        for (unsigned fill = 0; fill < 2; fill++)
            g_free(parked[which][fill].stack);
    return equal;
}

void unroller_watch(Unroller *unroller, ExecutionPulse *pulse)
{
    unroller->pulse = pulse;
}

Unroller *unroller_new(Program *program)
{
    Unroller *unroller = g_new0(Unroller, 1);
    unroller->program = program;
    unroller->unsettled = !entry_is_settled(program);
    unroller->pool = coro_pool_new(1);
    coro_pool_shift(unroller->pool, 0, FILL);
    unroller->owned = g_ptr_array_new_with_free_func(g_free);
    unroller->source = (UnrollSource){ program, unroller, extend, fingerprint, same };
    return unroller;
}

void unroller_free(Unroller *unroller)
{
    core_clear(&unroller->core);
    coro_pool_free(unroller->pool);
    g_ptr_array_free(unroller->owned, TRUE);
    g_free(unroller);
}

UnrollSource *unroller_source(Unroller *unroller)
{
    return &unroller->source;
}

bool unroller_needs_contents(const Unroller *unroller)
{
    return unroller->needs_contents;
}
