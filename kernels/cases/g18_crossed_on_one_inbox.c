/* g18_crossed_on_one_inbox.c - the crossing of G17, with one semaphore and one inbox for both collectives.
 *
 * Reported:  sgl-project/sglang#31117 (two all-reduces of one communicator); pytorch/pytorch#188005 (a proposal to guard against it).
 * Wrong:     both collectives pass, each with the data of the other: nothing hangs and nothing races.
 * Right:     one order for all.
 * Teaches:   the limit of a checker of races and deadlocks: the protocol is sound, the values are not. They must be told what to be.
 * Verdict:   the case calls it fine, since its checker knows no values. So is the first program here, which promises nothing. The second
 *            says which results it expects; results are judged on where they came from, and the same kernel fails with an assert.
 * Cause:     inbox, "pl_async_remote_copy(x, inbox"
 * Repair:    order
 */
#include <heddle/pallas.h>

enum { COLLECTIVES = 2 };

static void collective(PlRef x, PlRef result, PlRef inbox, PlRef send_sem, PlRef recv_sem, PlRef keep_sem, PlRef done)
{
    PlDevice partner = pl_device(1 - pl_device_id());

    PlCopy push = pl_async_remote_copy(x, inbox, send_sem, recv_sem, partner);
    pl_copy_wait_send(push);
    pl_copy_wait_recv(push);
    PlCopy keep = pl_async_copy(inbox, result, keep_sem);
    pl_copy_wait(keep);
    pl_semaphore_signal(done, 1, partner);
    pl_semaphore_wait(done, 1);
}

KERNEL(g18_crossed, a, b, result_a, result_b, inbox, send_sem, recv_sem, keep_sem, done)
{
    for (int i = 0; i < COLLECTIVES; i++) {
        bool is_a = (i == 0) == (pl_device_id() == 0);
        collective(is_a ? a : b, is_a ? result_a : result_b, inbox, send_sem, recv_sem, keep_sem, done);
    }
}

KERNEL(g18_same_order, a, b, result_a, result_b, inbox, send_sem, recv_sem, keep_sem, done)
{
    collective(a, result_a, inbox, send_sem, recv_sem, keep_sem, done);
    collective(b, result_b, inbox, send_sem, recv_sem, keep_sem, done);
}

PROGRAM(g18_crossed_on_one_inbox, "G18: crossed collectives on one inbox; nothing is expected of the results, so nothing is wrong")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    PlRef a = pl_input(PL_F32, 8, 128), b = pl_input(PL_F32, 8, 128);

    pl_launch(g18_crossed, .args = {a, b, pl_output(PL_F32, 8, 128), pl_output(PL_F32, 8, 128), pl_vmem(PL_F32, 8, 128),
              pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
}

PROGRAM(g18_crossed_on_one_inbox_judged, "G18: the same, with expected results: each got the data of the other collective")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    PlRef a = pl_input(PL_F32, 8, 128), b = pl_input(PL_F32, 8, 128);
    PlRef result_a = pl_output(PL_F32, 8, 128), result_b = pl_output(PL_F32, 8, 128);

    pl_launch(g18_crossed, .args = {a, b, result_a, result_b, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(),
              pl_dma_semaphore(), pl_regular_semaphore()});
    pl_expect_permute(result_a, a, 1);
    pl_expect_permute(result_b, b, 1);
    pl_expect_fault(PL_ASSERT, .from = 2);
}

PROGRAM(g18_crossed_on_one_inbox_repaired, "G18 repaired: both call A, then B")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    PlRef a = pl_input(PL_F32, 8, 128), b = pl_input(PL_F32, 8, 128);
    PlRef result_a = pl_output(PL_F32, 8, 128), result_b = pl_output(PL_F32, 8, 128);

    pl_launch(g18_same_order, .args = {a, b, result_a, result_b, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(),
              pl_dma_semaphore(), pl_regular_semaphore()});
    pl_expect_permute(result_a, a, 1);
    pl_expect_permute(result_b, b, 1);
}
