/* ring_attention.c - context-parallel attention: blocks of keys and values go once round the ring, each device uses them as they pass.
 *
 *     step s:  keys of the slot are there; pass them on into the right neighbour's other slot; use them; the same with the values
 *              when both are out and used, the slot is free: a credit to the left neighbour, who writes it next
 *
 * Two slots, a receive semaphore for each slot of keys and of values. What attention computes from a block is beside the point here: each
 * device adds the blocks up, so that one that was missed, used twice or overwritten shows in the result.
 */
#include <heddle/pallas.h>

typedef struct Ring {
    PlRef keys, values, key_sum, value_sum, key_slots, value_slots, copy_sem, send_sems, key_recv, value_recv, credit;
} Ring;
typedef struct Choice { bool no_credit, credit_too_soon; } Choice;

static void use(PlRef sum, PlRef slot)
{
    pl_store(sum, pl_tile_add(pl_load(sum), pl_load(slot)));
}

static void fetch(PlRef from, PlRef to, PlRef semaphore)
{
    PlCopy copy = pl_make_async_copy(from, to, semaphore);
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

static PlCopy passing(PlRef slots, int step, PlRef send_sem, PlRef recv_sems)
{
    int next = (step + 1) % 2;
    return pl_make_async_remote_copy(pl_at(slots, step % 2), pl_at(slots, next), send_sem, pl_at(recv_sems, next),
                                     pl_device((pl_device_id() + 1) % pl_num_devices()));
}

static void arrived(PlRef slots, int step, PlRef recv_sems)
{
    PlRef slot = pl_at(slots, step % 2);
    pl_copy_wait(pl_make_async_copy(slot, slot, pl_at(recv_sems, step % 2)));
}

static void step_of_ring(Ring ring, int step, Choice choice)
{
    int n = pl_num_devices(), left = (pl_device_id() + n - 1) % n;
    bool passes = step < n - 1, grants = step < n - 2 && !choice.no_credit;
    PlCopy keys = passing(ring.key_slots, step, pl_at(ring.send_sems, 0), ring.key_recv);
    PlCopy values = passing(ring.value_slots, step, pl_at(ring.send_sems, 1), ring.value_recv);

    if (step > 0)
        arrived(ring.key_slots, step, ring.key_recv);
    if (passes && step > 0 && !choice.no_credit)
        pl_semaphore_wait(ring.credit, 1);
    if (passes)
        pl_copy_start(keys);
    use(ring.key_sum, pl_at(ring.key_slots, step % 2));
    if (step > 0)
        arrived(ring.value_slots, step, ring.value_recv);
    if (passes)
        pl_copy_start(values);
    use(ring.value_sum, pl_at(ring.value_slots, step % 2));
    if (grants && choice.credit_too_soon)
        pl_semaphore_signal(ring.credit, 1, pl_device(left));
    if (passes) {
        pl_copy_wait_send(keys);
        pl_copy_wait_send(values);
    }
    if (grants && !choice.credit_too_soon)
        pl_semaphore_signal(ring.credit, 1, pl_device(left));
}

static void attend(Ring ring, Choice choice)
{
    int rows = pl_size(ring.key_sum, 0);
    pl_store(ring.key_sum, pl_tile_zeros(PL_F32, rows, 128));
    pl_store(ring.value_sum, pl_tile_zeros(PL_F32, rows, 128));
    fetch(ring.keys, pl_at(ring.key_slots, 0), ring.copy_sem);
    fetch(ring.values, pl_at(ring.value_slots, 0), ring.copy_sem);
    for (int step = 0; step < pl_num_devices(); step++)
        step_of_ring(ring, step, choice);
}

#define ATTENTION_KERNEL(name, value_semaphores, ...) \
    KERNEL(name, keys, values, key_sum, value_sum, key_slots, value_slots, copy_sem, send_sems, key_recv, value_recv, credit) \
    { \
        attend((Ring){ keys, values, key_sum, value_sum, key_slots, value_slots, copy_sem, send_sems, key_recv, value_semaphores, \
                       credit }, (Choice){ __VA_ARGS__ }); \
    }

ATTENTION_KERNEL(ring_attention, value_recv, .no_credit = false)
ATTENTION_KERNEL(ring_attention_no_credit, value_recv, .no_credit = true)
ATTENTION_KERNEL(ring_attention_credit_too_soon, value_recv, .credit_too_soon = true)
ATTENTION_KERNEL(ring_attention_one_semaphore, key_recv, .no_credit = false)

#define ATTENTION_PROGRAM(kernel) \
    int rows = PARAMETER(rows, 1, 1, 64); \
    PlRef keys = pl_input(PL_F32, rows, 128), values = pl_input(PL_F32, rows, 128); \
    PlRef key_sum = pl_output_in(PL_VMEM, PL_F32, rows, 128), value_sum = pl_output_in(PL_VMEM, PL_F32, rows, 128); \
    pl_launch(kernel, .args = { keys, values, key_sum, value_sum, pl_vmem(PL_F32, 2, rows, 128), pl_vmem(PL_F32, 2, rows, 128), \
                                pl_dma_semaphore(), pl_dma_semaphore(2), pl_dma_semaphore(2), pl_dma_semaphore(2), \
                                pl_regular_semaphore() }); \
    pl_expect_all_reduce(key_sum, keys); \
    pl_expect_all_reduce(value_sum, values)

PROGRAM(ring_attention, "keys and values round the ring, two slots, a credit for each slot that is free again")
{
    ATTENTION_PROGRAM(ring_attention);
}

/* Cause:  "pl_load(slot)", "pl_copy_start("
 * Repair: capacity */
PROGRAM(ring_attention_no_credit, "wrong: no credits, so a block lands in a slot that is still in use")
{
    pl_expect_fault(PL_RACE, .from = 3);
    ATTENTION_PROGRAM(ring_attention_no_credit);
}

/* Cause:  first "pl_semaphore_signal(ring.credit"
 * Repair: down credit */
PROGRAM(ring_attention_credit_too_soon, "wrong: the credit is given when the block is used, but not out yet")
{
    pl_expect_fault(PL_RACE, .from = 3);
    ATTENTION_PROGRAM(ring_attention_credit_too_soon);
}

/* Cause:  key_recv, "pl_copy_wait(pl_make_async_copy(slot"
 * Repair: semaphore key_recv */
PROGRAM(ring_attention_one_semaphore, "wrong: keys and values of a slot are counted on one semaphore")
{
    pl_expect_fault(PL_RACE, .from = 2);
    ATTENTION_PROGRAM(ring_attention_one_semaphore);
}
