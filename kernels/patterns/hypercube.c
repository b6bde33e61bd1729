/* hypercube.c - reduce-scatter on a hypercube, one micro-batch after the other.
 *
 * N = 2^k devices. In each of k steps a device halves the range of blocks that it still answers for: it sends the other half to the device
 * that differs in one bit, gets that one's share of its own half, and adds it. The part for step "mask" lies in blocks mask to 2 mask of
 * the inbox, so one inbox holds all steps.
 *
 * Two inboxes, batch by batch in turn, need no handshake: who sends batch b has received batch b-1 from its partner in the same step, which
 * sent it after batch b-2 was used up. Of one inbox nothing of that sort is known.
 */
#include <heddle/pallas.h>

typedef struct Cube { PlRef input, output, work, inbox, copy_sem, send_sem, recv_sems; } Cube;
typedef struct Choice { bool one_inbox, one_semaphore, sends_awaited_last; } Choice;

static int ilog2(int n)
{
    int log = 0;
    while (n > 1 << log)
        log++;
    return log;
}

static void copy_now(PlRef from, PlRef to, PlRef semaphore)
{
    PlCopy copy = pl_make_async_copy(from, to, semaphore);
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

static void halve(Cube cube, int slot, int mask, Choice choice)
{
    int me = pl_device_id(), partner = me ^ mask, keep = me & ~(mask - 1), give = partner & ~(mask - 1);
    PlRef kept = pl_at(cube.work, pl_ds(keep, mask)), part = pl_at(cube.inbox, slot, pl_ds(mask, mask));
    PlCopy share = pl_make_async_remote_copy(pl_at(cube.work, pl_ds(give, mask)), part, cube.send_sem,
                                             pl_at(cube.recv_sems, slot, choice.one_semaphore ? 0 : ilog2(mask)), pl_device(partner));
    pl_copy_start(share);
    if (!choice.sends_awaited_last)
        pl_copy_wait_send(share);
    pl_copy_wait_recv(share);
    pl_store(kept, pl_tile_add(pl_load(kept), pl_load(part)));
}

static void reduce(Cube cube, Choice choice)
{
    int n = pl_num_devices(), batches = pl_size(cube.output, 0);
    for (int batch = 0; batch < batches; batch++) {
        copy_now(pl_at(cube.input, batch), cube.work, cube.copy_sem);
        for (int mask = n / 2; mask > 0; mask /= 2)
            halve(cube, choice.one_inbox ? 0 : batch % 2, mask, choice);
        copy_now(pl_at(cube.work, pl_device_id()), pl_at(cube.output, batch), cube.copy_sem);
    }
    for (int batch = 0; batch < batches && choice.sends_awaited_last; batch++) {
        PlRef sent = pl_at(cube.work, pl_ds(0, n - 1));
        pl_copy_wait(pl_make_async_copy(sent, sent, cube.send_sem));
    }
}

#define CUBE_KERNEL(name, ...) \
    KERNEL(name, input, output, work, inbox, copy_sem, send_sem, recv_sems) \
    { \
        reduce((Cube){ input, output, work, inbox, copy_sem, send_sem, recv_sems }, (Choice){ __VA_ARGS__ }); \
    }

CUBE_KERNEL(hypercube, .one_inbox = false)
CUBE_KERNEL(hypercube_one_inbox, .one_inbox = true)
CUBE_KERNEL(hypercube_one_semaphore, .one_semaphore = true)
CUBE_KERNEL(hypercube_sends_awaited_last, .sends_awaited_last = true)

#define CUBE_PROGRAM(kernel) \
    int n = pl_num_devices(), batches = PARAMETER(batches, 3, 1, 16), rows = PARAMETER(rows, 1, 1, 64); \
    PL_NEEDS(n >= 2 && (n & (n - 1)) == 0, "a hypercube: 2, 4, 8, ... devices"); \
    PlRef input = pl_input(PL_F32, batches, n, rows, 128), output = pl_output(PL_F32, batches, rows, 128); \
    pl_launch(kernel, .args = { input, output, pl_vmem(PL_F32, n, rows, 128), pl_vmem(PL_F32, 2, n, rows, 128), pl_dma_semaphore(), \
                                pl_dma_semaphore(), pl_dma_semaphore(2, ilog2(n)) }); \
    for (int batch = 0; batch < batches; batch++) \
        pl_expect_reduce_scatter(pl_at(output, batch), pl_at(input, batch))

PROGRAM(hypercube, "reduce-scatter on a hypercube in micro-batches, two inboxes in turn")
{
    CUBE_PROGRAM(hypercube);
}

/* Cause:  "pl_load(part)", "pl_copy_start(share)"
 * Repair: slot inbox or capacity or barrier */
PROGRAM(hypercube_one_inbox, "wrong: one inbox, so the next batch lands while this one's is being added")
{
    pl_expect_fault(PL_RACE, .from = 2);
    CUBE_PROGRAM(hypercube_one_inbox);
}

/* Cause:  recv_sems, "pl_copy_wait_recv(share)"
 * Repair: semaphore recv_sems */
PROGRAM(hypercube_one_semaphore, "wrong: one receive semaphore for all steps, though each has another sender")
{
    pl_expect_fault(PL_RACE, .from = 4);
    CUBE_PROGRAM(hypercube_one_semaphore);
}

/* Cause:  "pl_copy_wait(pl_make_async_copy(sent"
 * Repair: wait send_sem */
PROGRAM(hypercube_sends_awaited_last, "wrong: sends are waited for in the end, and the next batch overwrites what they read")
{
    pl_expect_fault(PL_RACE, .from = 2);
    CUBE_PROGRAM(hypercube_sends_awaited_last);
}
