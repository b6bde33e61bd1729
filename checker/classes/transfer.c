/* transfer.c - copies with separate moments: those that touch a contended object, and all if copies have an order.
 *
 *     EARLY_SEND? -> READ -> (EARLY_RECEIVE?, any time) -> WRITE
 *
 * Early bytes exist under fluid progress, for counts above 1, and precede the last one; an earlier copy may hold a later one back.
 */
#include "../../model/moment.h"
#include "world.h"

static inline Transfer *transfer_at(const World *world, guint index) { return &g_array_index(world->transfers, Transfer, index); }
static inline bool is_fluid(const World *world) { return moment_is_fluid(&world->program->knobs); }

static bool is_contended(const World *world, uint32_t semaphore)
{
    return semaphore != NONE && usage_of(world->usage, semaphore)->contended;
}

/* The set of contended objects does not change during a search. */
static void find_moments(const World *world, Transfer *transfer, const Copy *copy)
{
    transfer->exist = (uint8_t)moments_of(is_fluid(world), copy);
    for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
        if (moment_gives(is_fluid(world), copy, moment) > 0 && is_contended(world, moment_semaphore(copy, moment)))
            transfer->conflict |= (uint8_t)moment_bit(moment);
}

static bool held_back(const World *world, guint index, StepKind moment)
{
    DmaOrder order = world->program->knobs.dma_order;
    const Copy *copy = world_copy(world, transfer_at(world, index));
    for (guint i = 0; i < index && moment_chained(order, moment); i++) {
        const Transfer *transfer = transfer_at(world, i);
        if (transfer->core == copy->core && moment_held_back(order, world_copy(world, transfer), transfer->done, copy, moment))
            return true;
    }
    return false;
}

static bool possible(const World *world, guint index, StepKind moment)
{
    const Transfer *transfer = transfer_at(world, index);
    unsigned left = transfer->exist & ~transfer->done;
    return (left & moment_bit(moment)) && !(left & moment_needs(moment)) && !held_back(world, index, moment);
}

/* Once the copy has started, no other choice can delay the moment. */
static bool needs_nobody(const World *world, const Transfer *transfer, StepKind moment)
{
    return world->program->knobs.dma_order == DMA_ORDER_UNORDERED
        && (transfer->conflict == 0 || moment == STEP_EARLY_SEND || moment == STEP_READ);
}

static bool is_own(const World *world, uint32_t semaphore, uint32_t core)
{
    return usage_of(world->usage, semaphore)->owner == core;
}

static void do_moment(World *world, guint index, StepKind moment)
{
    Transfer *transfer = transfer_at(world, index);
    const Copy *copy = world_copy(world, transfer);
    WorldEvent *event = world_log(world, transfer->core, moment, index);
    transfer->done |= (uint8_t)moment_bit(moment);
    if (world->data != NULL && moment == STEP_READ)
        transfer->payload = data_copy_read(world->data, copy);
    if (world->data != NULL && moment == STEP_WRITE)
        data_copy_write(world->data, copy, transfer->payload);
    uint32_t inc = moment_gives(is_fluid(world), copy, moment), semaphore = moment_semaphore(copy, moment);
    if (inc > 0)
        world_add(world, event, semaphore, inc, needs_nobody(world, transfer, moment) && is_own(world, semaphore, transfer->core));
    world->transfers_changed = true;
}

void transfer_start(World *world, uint32_t core, uint32_t stage)
{
    const Copy *copy = &tree_unrolled(world->tree, stage)->copy;
    if (world->program->knobs.dma_order == DMA_ORDER_UNORDERED && !is_contended(world, copy->send_semaphore)
        && !is_contended(world, copy->receive_semaphore)) {
        if (world->data != NULL)
            data_copy_write(world->data, copy, data_copy_read(world->data, copy));
        if (copy->send_semaphore != NONE)
            world_add(world, world_log(world, core, EVENT_EFFECT, stage), copy->send_semaphore, copy->send_count,
                      is_own(world, copy->send_semaphore, core));
        world_add(world, world_log(world, core, EVENT_EFFECT, stage), copy->receive_semaphore, copy->receive_count,
                  is_own(world, copy->receive_semaphore, core));
        return;
    }
    uint32_t number = numbers_of(&world->shared->numbers, stage)->copy;
    if (number >= world->copies_max) {
        uint32_t now = MAX(2 * number, 64);
        world->transfer_of = g_renew(uint32_t, world->transfer_of, now);
        memset(world->transfer_of + world->copies_max, 0, (now - world->copies_max) * sizeof *world->transfer_of);
        world->copies_max = now;
    }
    Transfer transfer = { .stage = stage, .core = core, .base = world->program->cores + MOMENT_COUNT * number,
                      .event = (uint32_t)world->events - 1 };
    transfer.tainted = world->tainted[core] || world->program->knobs.dma_order != DMA_ORDER_UNORDERED || world->data != NULL;
    find_moments(world, &transfer, copy);
    g_array_append_val(world->transfers, transfer);
    world->transfer_of[number] = world->transfers->len;
    world->transfers_changed = true;
}

static inline bool is_conflict(const World *world, guint index, StepKind moment)
{
    return transfer_at(world, index)->conflict & moment_bit(moment);
}

static void run_transfer(World *world, guint index)
{
    for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
        if (!is_conflict(world, index, moment) && possible(world, index, moment))
            do_moment(world, index, moment);
}

/* Without an order among copies one round is enough. */
void transfer_run(World *world)
{
    bool unordered = world->program->knobs.dma_order == DMA_ORDER_UNORDERED;
    while (world->transfers_changed) {
        world->transfers_changed = false;
        for (guint i = 0; i < world->transfers->len; i++) {
            const Transfer *transfer = transfer_at(world, i);
            if (transfer->exist & ~transfer->done & ~transfer->conflict)
                run_transfer(world, i);
        }
        world->transfers_changed &= !unordered;
    }
}

bool transfer_pending(World *world, uint32_t agent, Pending *pending)
{
    uint32_t number = (agent - world->program->cores) / MOMENT_COUNT;
    StepKind moment = STEP_EARLY_SEND + (agent - world->program->cores) % MOMENT_COUNT;
    if (number >= world->copies_max || world->transfer_of[number] == 0)
        return false;
    guint index = world->transfer_of[number] - 1;
    if (!is_conflict(world, index, moment) || !possible(world, index, moment))
        return false;
    uint32_t semaphore = moment_semaphore(world_copy(world, transfer_at(world, index)), moment);
    bool ordered = usage_of(world->usage, semaphore)->ordered;
    *pending = (Pending){ .object = semaphore, .stage = NONE, .value = world_value(world, semaphore),
                          .manner = ordered ? MANNER_REST : MANNER_ADD, .enabled = true };
    return true;
}

const Transfer *transfer_of_agent(const World *world, uint32_t agent)
{
    return transfer_at(world, world->transfer_of[(agent - world->program->cores) / MOMENT_COUNT] - 1);
}

unsigned transfer_needs(const World *world, uint32_t agent, uint32_t *needed)
{
    const Transfer *transfer = transfer_of_agent(world, agent);
    StepKind moment = STEP_EARLY_SEND + (agent - world->program->cores) % MOMENT_COUNT;
    unsigned before = moment_needs(moment) & transfer->conflict, count = 0;
    for (StepKind other = STEP_EARLY_SEND; other < moment; other++)
        if (before & moment_bit(other))
            needed[count++] = transfer->base + (other - STEP_EARLY_SEND);
    return count;
}

uint32_t transfer_next(World *world, uint32_t agent)
{
    guint index = 0;
    uint32_t moment = 0, cores = world->program->cores;
    if (agent != NONE)
        index = world->transfer_of[(agent - cores) / MOMENT_COUNT] - 1, moment = (agent - cores) % MOMENT_COUNT + 1;
    Pending pending;
    for (; index < world->transfers->len; index++, moment = 0)
        for (; moment < MOMENT_COUNT; moment++)
            if (transfer_pending(world, transfer_at(world, index)->base + moment, &pending))
                return transfer_at(world, index)->base + moment;
    return NONE;
}

void transfer_do(World *world, uint32_t agent)
{
    uint32_t number = (agent - world->program->cores) / MOMENT_COUNT;
    do_moment(world, world->transfer_of[number] - 1, STEP_EARLY_SEND + (agent - world->program->cores) % MOMENT_COUNT);
}

void transfer_undo(World *world, const WorldEvent *event)
{
    if (event->kind != STEP_COPY_START) {
        transfer_at(world, event->stage)->done &= (uint8_t)~moment_bit((StepKind)event->kind);
        return;
    }
    const Copy *copy = &tree_unrolled(world->tree, event->stage)->copy;
    Transfer *last = world->transfers->len ? transfer_at(world, world->transfers->len - 1) : NULL;
    if (last == NULL || last->stage != event->stage || last->core != event->core || copy->bytes == 0)
        return;
    world->transfer_of[world_copy_number(world, last->base)] = 0;
    g_array_set_size(world->transfers, world->transfers->len - 1);
}
