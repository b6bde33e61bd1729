/* flight.c - copies whose moments matter one by one: those that touch a contended object, and all where copies have an order.
 *
 *     EARLY_SEND? -> READ -> (EARLY_RECEIVE?, any time) -> WRITE
 *
 * Early bytes exist under fluid progress, for counts above 1, and come before the last one; an earlier copy may hold a later one back.
 */
#include "world.h"

enum { MOMENTS = 4 };

static inline Flight *flight_at(const World *world, guint index) { return &g_array_index(world->flights, Flight, index); }
static inline unsigned bit_of(StepKind moment) { return 1u << (moment - STEP_EARLY_SEND); }
static inline bool is_done(const Flight *flight, StepKind moment) { return flight->done & bit_of(moment); }

static bool has_early(const World *world, uint32_t count)
{
    return world->program->knobs.dma_progress == DMA_PROGRESS_FLUID && count > 1;
}

/* What the moment gives to which semaphore; NONE: to none. */
static uint32_t gives(const World *world, const Copy *copy, StepKind moment, uint32_t *inc)
{
    bool sends = moment == STEP_EARLY_SEND || moment == STEP_READ, early = moment == STEP_EARLY_SEND || moment == STEP_EARLY_RECEIVE;
    uint32_t count = sends ? copy->send_count : copy->receive_count, first = has_early(world, count) ? count - 1 : 0;
    *inc = early ? first : count - first;
    return sends ? copy->send_semaphore : copy->receive_semaphore;
}

static bool is_contended(const World *world, uint32_t semaphore)
{
    return semaphore != NONE && usage_of(world->usage, semaphore)->contended;
}

/* What is contended stays so while a search goes on. */
static void find_moments(const World *world, Flight *flight, const Copy *copy)
{
    for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++) {
        uint32_t inc, semaphore = gives(world, copy, moment, &inc);
        if (moment == STEP_READ || moment == STEP_WRITE || (semaphore != NONE && inc > 0))
            flight->exist |= (uint8_t)bit_of(moment);
        if (inc > 0 && is_contended(world, semaphore))
            flight->conflict |= (uint8_t)bit_of(moment);
    }
}

static bool held_back(const World *world, guint index, bool read)
{
    DmaOrder order = world->program->knobs.dma_order;
    const Copy *copy = world_copy(world, flight_at(world, index));
    if (order == DMA_ORDER_UNORDERED || (read && order != DMA_ORDER_ISSUE_ORDER))
        return false;
    for (guint i = 0; i < index; i++) {
        const Flight *flight = flight_at(world, i);
        const Copy *earlier = world_copy(world, flight);
        bool same_link = earlier->remote && copy->remote && earlier->target_device == copy->target_device;
        if (flight->core == copy->core && (order == DMA_ORDER_ISSUE_ORDER || same_link) && !is_done(flight, read ? STEP_READ : STEP_WRITE))
            return true;
    }
    return false;
}

/* Moments that come before, a bit each. */
static const uint8_t BEFORE[MOMENTS] = { 0, 1, 0, 1 << (STEP_READ - STEP_EARLY_SEND) | 1 << (STEP_EARLY_RECEIVE - STEP_EARLY_SEND) };

static bool possible(const World *world, guint index, StepKind moment)
{
    const Flight *flight = flight_at(world, index);
    unsigned left = flight->exist & ~flight->done;
    if (!(left & bit_of(moment)) || (left & BEFORE[moment - STEP_EARLY_SEND]))
        return false;
    return moment == STEP_EARLY_SEND || !held_back(world, index, moment == STEP_READ);
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
    flight->done |= (uint8_t)bit_of(moment);
    if (world->data != NULL && moment == STEP_READ)
        flight->payload = data_copy_read(world->data, copy);
    if (world->data != NULL && moment == STEP_WRITE)
        data_copy_write(world->data, copy, flight->payload);
    uint32_t inc, semaphore = gives(world, copy, moment, &inc);
    if (semaphore != NONE && inc > 0)
        world_add(world, deed, semaphore, inc, needs_nobody(world, flight, moment) && is_own(world, semaphore, flight->core));
    world->flights_changed = true;
}

void flight_start(World *world, uint32_t core, uint32_t stage)
{
    const Copy *copy = &course_step(world->course, stage)->copy;
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
    uint32_t number = course_stage(world->course, stage)->copy;
    if (number >= world->copies_max) {
        uint32_t now = MAX(2 * number, 64);
        world->flight_of = g_renew(uint32_t, world->flight_of, now);
        memset(world->flight_of + world->copies_max, 0, (now - world->copies_max) * sizeof *world->flight_of);
        world->copies_max = now;
    }
    Flight flight = { .stage = stage, .core = core, .base = world->program->cores + MOMENTS * number, .deed = (uint32_t)world->deeds - 1 };
    flight.tangled = world->tangled[core] || world->program->knobs.dma_order != DMA_ORDER_UNORDERED || world->data != NULL;
    find_moments(world, &flight, copy);
    g_array_append_val(world->flights, flight);
    world->flight_of[number] = world->flights->len;
    world->flights_changed = true;
}

static inline bool is_conflict(const World *world, guint index, StepKind moment)
{
    return flight_at(world, index)->conflict & bit_of(moment);
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
    uint32_t number = (agent - world->program->cores) / MOMENTS;
    StepKind moment = STEP_EARLY_SEND + (agent - world->program->cores) % MOMENTS;
    if (number >= world->copies_max || world->flight_of[number] == 0)
        return false;
    guint index = world->flight_of[number] - 1;
    if (!is_conflict(world, index, moment) || !possible(world, index, moment))
        return false;
    uint32_t inc, semaphore = gives(world, world_copy(world, flight_at(world, index)), moment, &inc);
    bool ordered = usage_of(world->usage, semaphore)->ordered;
    *pending = (Pending){ .object = semaphore, .stage = NONE, .value = world_value(world, semaphore),
                          .manner = ordered ? MANNER_REST : MANNER_ADD, .enabled = true };
    return true;
}

const Flight *flight_of_agent(const World *world, uint32_t agent)
{
    return flight_at(world, world->flight_of[(agent - world->program->cores) / MOMENTS] - 1);
}

unsigned flight_needs(const World *world, uint32_t agent, uint32_t *needed)
{
    const Flight *flight = flight_of_agent(world, agent);
    StepKind moment = STEP_EARLY_SEND + (agent - world->program->cores) % MOMENTS;
    unsigned before = BEFORE[moment - STEP_EARLY_SEND] & flight->conflict, count = 0;
    for (StepKind other = STEP_EARLY_SEND; other < moment; other++)
        if (before & bit_of(other))
            needed[count++] = flight->base + (other - STEP_EARLY_SEND);
    return count;
}

uint32_t flight_next(World *world, uint32_t agent)
{
    guint index = 0;
    uint32_t moment = 0, cores = world->program->cores;
    if (agent != NONE)
        index = world->flight_of[(agent - cores) / MOMENTS] - 1, moment = (agent - cores) % MOMENTS + 1;
    Pending pending;
    for (; index < world->flights->len; index++, moment = 0)
        for (; moment < MOMENTS; moment++)
            if (flight_pending(world, flight_at(world, index)->base + moment, &pending))
                return flight_at(world, index)->base + moment;
    return NONE;
}

void flight_do(World *world, uint32_t agent)
{
    uint32_t number = (agent - world->program->cores) / MOMENTS;
    do_moment(world, world->flight_of[number] - 1, STEP_EARLY_SEND + (agent - world->program->cores) % MOMENTS);
}

void flight_undo(World *world, const Deed *deed)
{
    if (deed->kind != STEP_COPY_START) {
        flight_at(world, deed->stage)->done &= (uint8_t)~bit_of((StepKind)deed->kind);
        return;
    }
    const Copy *copy = &course_step(world->course, deed->stage)->copy;
    Flight *last = world->flights->len ? flight_at(world, world->flights->len - 1) : NULL;
    if (last == NULL || last->stage != deed->stage || last->core != deed->core || copy->bytes == 0)
        return;
    world->flight_of[world_copy_number(world, last->base)] = 0;
    g_array_set_size(world->flights, world->flights->len - 1);
}
