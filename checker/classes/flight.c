/* flight.c - copies whose moments matter one by one: those that touch a contended object, and all where copies have an order.
 *
 *     EARLY_SEND? -> READ -> (EARLY_RECEIVE?, any time) -> WRITE
 *
 * Early bytes exist under fluid progress, for counts above 1, and come before the last one; an earlier copy may hold a later one back.
 */
#include "../../model/moment.h"
#include "world.h"

static inline Flight *flight_at(const World *world, guint index) { return &g_array_index(world->flights, Flight, index); }
static inline bool is_fluid(const World *world) { return moment_is_fluid(&world->program->knobs); }

static bool is_contended(const World *world, uint32_t semaphore)
{
    return semaphore != NONE && usage_of(world->usage, semaphore)->contended;
}

/* What is contended stays so while a search goes on. */
static void find_moments(const World *world, Flight *flight, const Copy *copy)
{
    flight->exist = (uint8_t)moments_of(is_fluid(world), copy);
    for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
        if (moment_gives(is_fluid(world), copy, moment) > 0 && is_contended(world, moment_semaphore(copy, moment)))
            flight->conflict |= (uint8_t)moment_bit(moment);
}

static bool held_back(const World *world, guint index, StepKind moment)
{
    DmaOrder order = world->program->knobs.dma_order;
    const Copy *copy = world_copy(world, flight_at(world, index));
    for (guint i = 0; i < index && moment_chained(order, moment); i++) {
        const Flight *flight = flight_at(world, i);
        if (flight->core == copy->core && moment_held_back(order, world_copy(world, flight), flight->done, copy, moment))
            return true;
    }
    return false;
}

static bool possible(const World *world, guint index, StepKind moment)
{
    const Flight *flight = flight_at(world, index);
    unsigned left = flight->exist & ~flight->done;
    return (left & moment_bit(moment)) && !(left & moment_needs(moment)) && !held_back(world, index, moment);
}

/* Once the copy has started, no choice that anybody makes can keep the moment back. */
static bool needs_nobody(const World *world, const Flight *flight, StepKind moment)
{
    return world->program->knobs.dma_order == DMA_ORDER_UNORDERED
        && (flight->conflict == 0 || moment == STEP_EARLY_SEND || moment == STEP_READ);
}

static bool is_own(const World *world, uint32_t semaphore, uint32_t core)
{
    return usage_of(world->usage, semaphore)->owner == core;
}

static void do_moment(World *world, guint index, StepKind moment)
{
    Flight *flight = flight_at(world, index);
    const Copy *copy = world_copy(world, flight);
    Deed *deed = world_log(world, flight->core, moment, index);
    flight->done |= (uint8_t)moment_bit(moment);
    if (world->data != NULL && moment == STEP_READ)
        flight->payload = data_copy_read(world->data, copy);
    if (world->data != NULL && moment == STEP_WRITE)
        data_copy_write(world->data, copy, flight->payload);
    uint32_t inc = moment_gives(is_fluid(world), copy, moment), semaphore = moment_semaphore(copy, moment);
    if (inc > 0)
        world_add(world, deed, semaphore, inc, needs_nobody(world, flight, moment) && is_own(world, semaphore, flight->core));
    world->flights_changed = true;
}

void flight_start(World *world, uint32_t core, uint32_t stage)
{
    const Copy *copy = &tree_unrolled(world->tree, stage)->copy;
    if (world->program->knobs.dma_order == DMA_ORDER_UNORDERED && !is_contended(world, copy->send_semaphore)
        && !is_contended(world, copy->receive_semaphore)) {
        if (world->data != NULL)
            data_copy_write(world->data, copy, data_copy_read(world->data, copy));
        if (copy->send_semaphore != NONE)
            world_add(world, world_log(world, core, DEED_EFFECT, stage), copy->send_semaphore, copy->send_count,
                      is_own(world, copy->send_semaphore, core));
        world_add(world, world_log(world, core, DEED_EFFECT, stage), copy->receive_semaphore, copy->receive_count,
                  is_own(world, copy->receive_semaphore, core));
        return;
    }
    uint32_t number = numbers_of(&world->shared->numbers, stage)->copy;
    if (number >= world->copies_max) {
        uint32_t now = MAX(2 * number, 64);
        world->flight_of = g_renew(uint32_t, world->flight_of, now);
        memset(world->flight_of + world->copies_max, 0, (now - world->copies_max) * sizeof *world->flight_of);
        world->copies_max = now;
    }
    Flight flight = { .stage = stage, .core = core, .base = world->program->cores + MOMENT_COUNT * number,
                      .deed = (uint32_t)world->deeds - 1 };
    flight.tangled = world->tangled[core] || world->program->knobs.dma_order != DMA_ORDER_UNORDERED || world->data != NULL;
    find_moments(world, &flight, copy);
    g_array_append_val(world->flights, flight);
    world->flight_of[number] = world->flights->len;
    world->flights_changed = true;
}

static inline bool is_conflict(const World *world, guint index, StepKind moment)
{
    return flight_at(world, index)->conflict & moment_bit(moment);
}

static void run_flight(World *world, guint index)
{
    for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
        if (!is_conflict(world, index, moment) && possible(world, index, moment))
            do_moment(world, index, moment);
}

/* Copies that have no order among each other are done with after one round. */
void flight_run(World *world)
{
    bool unordered = world->program->knobs.dma_order == DMA_ORDER_UNORDERED;
    while (world->flights_changed) {
        world->flights_changed = false;
        for (guint i = 0; i < world->flights->len; i++) {
            const Flight *flight = flight_at(world, i);
            if (flight->exist & ~flight->done & ~flight->conflict)
                run_flight(world, i);
        }
        world->flights_changed &= !unordered;
    }
}

bool flight_pending(World *world, uint32_t agent, Pending *pending)
{
    uint32_t number = (agent - world->program->cores) / MOMENT_COUNT;
    StepKind moment = STEP_EARLY_SEND + (agent - world->program->cores) % MOMENT_COUNT;
    if (number >= world->copies_max || world->flight_of[number] == 0)
        return false;
    guint index = world->flight_of[number] - 1;
    if (!is_conflict(world, index, moment) || !possible(world, index, moment))
        return false;
    uint32_t semaphore = moment_semaphore(world_copy(world, flight_at(world, index)), moment);
    bool ordered = usage_of(world->usage, semaphore)->ordered;
    *pending = (Pending){ .object = semaphore, .stage = NONE, .value = world_value(world, semaphore),
                          .manner = ordered ? MANNER_REST : MANNER_ADD, .enabled = true };
    return true;
}

const Flight *flight_of_agent(const World *world, uint32_t agent)
{
    return flight_at(world, world->flight_of[(agent - world->program->cores) / MOMENT_COUNT] - 1);
}

unsigned flight_needs(const World *world, uint32_t agent, uint32_t *needed)
{
    const Flight *flight = flight_of_agent(world, agent);
    StepKind moment = STEP_EARLY_SEND + (agent - world->program->cores) % MOMENT_COUNT;
    unsigned before = moment_needs(moment) & flight->conflict, count = 0;
    for (StepKind other = STEP_EARLY_SEND; other < moment; other++)
        if (before & moment_bit(other))
            needed[count++] = flight->base + (other - STEP_EARLY_SEND);
    return count;
}

uint32_t flight_next(World *world, uint32_t agent)
{
    guint index = 0;
    uint32_t moment = 0, cores = world->program->cores;
    if (agent != NONE)
        index = world->flight_of[(agent - cores) / MOMENT_COUNT] - 1, moment = (agent - cores) % MOMENT_COUNT + 1;
    Pending pending;
    for (; index < world->flights->len; index++, moment = 0)
        for (; moment < MOMENT_COUNT; moment++)
            if (flight_pending(world, flight_at(world, index)->base + moment, &pending))
                return flight_at(world, index)->base + moment;
    return NONE;
}

void flight_do(World *world, uint32_t agent)
{
    uint32_t number = (agent - world->program->cores) / MOMENT_COUNT;
    do_moment(world, world->flight_of[number] - 1, STEP_EARLY_SEND + (agent - world->program->cores) % MOMENT_COUNT);
}

void flight_undo(World *world, const Deed *deed)
{
    if (deed->kind != STEP_COPY_START) {
        flight_at(world, deed->stage)->done &= (uint8_t)~moment_bit((StepKind)deed->kind);
        return;
    }
    const Copy *copy = &tree_unrolled(world->tree, deed->stage)->copy;
    Flight *last = world->flights->len ? flight_at(world, world->flights->len - 1) : NULL;
    if (last == NULL || last->stage != deed->stage || last->core != deed->core || copy->bytes == 0)
        return;
    world->flight_of[world_copy_number(world, last->base)] = 0;
    g_array_set_size(world->flights, world->flights->len - 1);
}
