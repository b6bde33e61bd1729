/* shapes.c - one function a pattern, each device's steps in its order. */
#include "shapes.h"
#include <glib.h>

enum { SLOT_BYTES = 4 };

static const Knobs WHOLE = {.dma_progress = DMA_PROGRESS_WHOLE};

/* A buffer that is filled before the program begins. */
static uint32_t filled(Script *script, Space space, uint32_t slots, const char *name)
{
    uint32_t decl = script_buffer(script, space, slots, SLOT_BYTES, name);
    program_decl(script->program, decl)->input = true;
    return decl;
}

Script *shape_all_gather(uint32_t n, const Knobs *knobs, bool shared)
{
    Script *script = script_new(n, 1, knobs ? knobs : &WHOLE);
    uint32_t output = filled(script, SPACE_HBM, n, "output");
    uint32_t send = script_semaphore(script, SEMAPHORE_DMA, 1, "send");
    uint32_t receive = script_semaphore(script, SEMAPHORE_DMA, n, "receive");
    for (uint32_t d = 0; d < n; d++)
        for (uint32_t step = 0; step + 1 < n; step++) {
            uint32_t right = (d + 1) % n, slot = (d + n - step) % n, element = shared ? 0 : step;
            script_copy(script, d, output, slot, output, slot, right, script_semaphore_id(script, send, d, 0),
                        script_semaphore_id(script, receive, right, element), true);
            script_wait(script, d, script_semaphore_id(script, send, d, 0), SLOT_BYTES);
            script_wait(script, d, script_semaphore_id(script, receive, d, element), SLOT_BYTES);
        }
    return script;
}

Script *shape_credit_gather(uint32_t n, uint32_t semaphores, uint32_t credit)
{
    Script *script = script_new(n, 1, &WHOLE);
    uint32_t output = filled(script, SPACE_HBM, n, "output");
    uint32_t send = script_semaphore(script, SEMAPHORE_DMA, 1, "send");
    uint32_t receive = script_semaphore(script, SEMAPHORE_DMA, semaphores, "receive");
    uint32_t capacity = script_semaphore(script, SEMAPHORE_REGULAR, 1, "capacity");
    for (uint32_t d = 0; d < n; d++) {
        uint32_t right = (d + 1) % n, left = (d + n - 1) % n;
        for (uint32_t step = 0; step + 1 < n; step++) {
            uint32_t slot = (d + n - step) % n, element = step % semaphores;
            if (step >= credit)
                script_wait(script, d, script_semaphore_id(script, capacity, d, 0), 1);
            script_copy(script, d, output, slot, output, slot, right, script_semaphore_id(script, send, d, 0),
                        script_semaphore_id(script, receive, right, element), true);
            script_wait(script, d, script_semaphore_id(script, send, d, 0), SLOT_BYTES);
            script_wait(script, d, script_semaphore_id(script, receive, d, element), SLOT_BYTES);
            if (step + credit + 1 < n)
                script_signal(script, d, script_semaphore_id(script, capacity, left, 0), 1);
        }
        for (uint32_t slot = 0; slot < n; slot++)
            script_access(script, d, STEP_LOAD, output, slot);
    }
    return script;
}

/* Tells both neighbours, and waits for both. */
static void neighbour_barrier(Script *script, uint32_t d, uint32_t barrier)
{
    uint32_t n = script->program->devices;
    script_signal(script, d, script_semaphore_id(script, barrier, (d + n - 1) % n, 0), 1);
    script_signal(script, d, script_semaphore_id(script, barrier, (d + 1) % n, 0), 1);
    script_wait(script, d, script_semaphore_id(script, barrier, d, 0), 2);
}

Script *shape_right_permute(uint32_t n)
{
    Script *script = script_new(n, 1, &WHOLE);
    uint32_t input = filled(script, SPACE_HBM, 1, "input");
    uint32_t output = filled(script, SPACE_HBM, 1, "output");
    uint32_t barrier = script_semaphore(script, SEMAPHORE_REGULAR, 1, "barrier");
    uint32_t send = script_semaphore(script, SEMAPHORE_DMA, 1, "send"), receive = script_semaphore(script, SEMAPHORE_DMA, 1, "receive");
    for (uint32_t d = 0; d < n; d++) {
        uint32_t right = (d + 1) % n;
        neighbour_barrier(script, d, barrier);
        script_copy(script, d, input, 0, output, 0, right, script_semaphore_id(script, send, d, 0),
                    script_semaphore_id(script, receive, right, 0), true);
        script_wait(script, d, script_semaphore_id(script, send, d, 0), SLOT_BYTES);
        script_wait(script, d, script_semaphore_id(script, receive, d, 0), SLOT_BYTES);
    }
    return script;
}

Script *shape_all_to_all(uint32_t n)
{
    Script *script = script_new(n, 1, &WHOLE);
    uint32_t input = filled(script, SPACE_HBM, n, "input");
    uint32_t output = filled(script, SPACE_HBM, n, "output");
    uint32_t barrier = script_semaphore(script, SEMAPHORE_REGULAR, 1, "barrier");
    uint32_t send = script_semaphore(script, SEMAPHORE_DMA, 1, "send"), receive = script_semaphore(script, SEMAPHORE_DMA, n, "receive");
    for (uint32_t d = 0; d < n; d++) {
        for (uint32_t to = 0; to < n; to++)
            script_signal(script, d, script_semaphore_id(script, barrier, to, 0), 1);
        script_wait(script, d, script_semaphore_id(script, barrier, d, 0), n);
        for (uint32_t to = 0; to < n; to++)
            if (to != d)
                script_copy(script, d, input, to, output, d, to, script_semaphore_id(script, send, d, 0),
                            script_semaphore_id(script, receive, to, d), true);
        script_wait(script, d, script_semaphore_id(script, send, d, 0), (n - 1) * SLOT_BYTES);
        for (uint32_t from = 0; from < n; from++)
            if (from != d)
                script_wait(script, d, script_semaphore_id(script, receive, d, from), SLOT_BYTES);
    }
    return script;
}

Script *shape_two_slots(uint32_t n, uint32_t steps, bool capacity)
{
    Script *script = script_new(n, 1, &WHOLE);
    uint32_t slots = filled(script, SPACE_HBM, 2, "slots");
    uint32_t barrier = script_semaphore(script, SEMAPHORE_REGULAR, 1, "barrier");
    uint32_t free_slot = script_semaphore(script, SEMAPHORE_REGULAR, 1, "capacity");
    uint32_t send = script_semaphore(script, SEMAPHORE_DMA, steps, "send");
    uint32_t receive = script_semaphore(script, SEMAPHORE_DMA, steps, "receive");
    for (uint32_t d = 0; d < n; d++) {
        uint32_t right = (d + 1) % n, left = (d + n - 1) % n;
        neighbour_barrier(script, d, barrier);
        for (uint32_t step = 0; step < steps; step++) {
            if (capacity) {
                script_signal(script, d, script_semaphore_id(script, free_slot, left, 0), 1);
                script_wait(script, d, script_semaphore_id(script, free_slot, d, 0), 1);
            }
            script_copy(script, d, slots, step % 2, slots, (step + 1) % 2, right, script_semaphore_id(script, send, d, step),
                        script_semaphore_id(script, receive, right, step), true);
            script_wait(script, d, script_semaphore_id(script, send, d, step), SLOT_BYTES);
            script_wait(script, d, script_semaphore_id(script, receive, d, step), SLOT_BYTES);
            script_access(script, d, STEP_STORE, slots, (step + 1) % 2);
        }
    }
    return script;
}

Script *shape_all_reduce(uint32_t n, bool capacity)
{
    Script *script = script_new(n, 1, &WHOLE);
    uint32_t input = filled(script, SPACE_HBM, 1, "input"), slots = filled(script, SPACE_HBM, 2, "slots");
    uint32_t scratch = filled(script, SPACE_VMEM, 1, "scratch"), local = script_semaphore(script, SEMAPHORE_DMA, 1, "local");
    uint32_t barrier = script_semaphore(script, SEMAPHORE_REGULAR, 1, "barrier");
    uint32_t free_slot = script_semaphore(script, SEMAPHORE_REGULAR, 1, "capacity");
    uint32_t send = script_semaphore(script, SEMAPHORE_DMA, 1, "send"), receive = script_semaphore(script, SEMAPHORE_DMA, 1, "receive");
    for (uint32_t d = 0; d < n; d++) {
        uint32_t right = (d + 1) % n, left = (d + n - 1) % n, sent = script_semaphore_id(script, send, d, 0);
        uint32_t received = script_semaphore_id(script, receive, d, 0), arrives = script_semaphore_id(script, receive, right, 0);
        uint32_t copied = script_semaphore_id(script, local, d, 0);
        neighbour_barrier(script, d, barrier);
        script_copy(script, d, input, 0, slots, 1, right, sent, arrives, true);
        script_wait(script, d, sent, SLOT_BYTES);
        script_wait(script, d, received, SLOT_BYTES);
        for (uint32_t round = 0; round < n; round++) {
            uint32_t working = (round + 1) % 2;
            if (capacity)
                script_signal(script, d, script_semaphore_id(script, free_slot, left, 0), 1);
            script_copy(script, d, slots, working, scratch, 0, d, NONE, copied, false);
            if (capacity)
                script_wait(script, d, script_semaphore_id(script, free_slot, d, 0), 1);
            script_copy(script, d, slots, working, slots, 1 - working, right, sent, arrives, true);
            script_wait(script, d, copied, SLOT_BYTES);
            script_access(script, d, STEP_STORE, scratch, 0);
            script_wait(script, d, sent, SLOT_BYTES);
            script_wait(script, d, received, SLOT_BYTES);
        }
    }
    return script;
}
