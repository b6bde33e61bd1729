/* p29_waits_on_the_first_slot.c - a pipeline whose wait names slot 0 every time.
 *
 * Reported:  NVIDIA/TensorRT-LLM#15338 (a small matrix product that polled the barrier of its first stage for ever).
 * Wrong:     the second wait is content with the refill of slot 0, and slot 1 is read. Nobody ever waits on the semaphore of slot 1.
 * Right:     wait for the slot that is read.
 * Teaches:   wrong only when the producer lags; and the semaphore that nobody waits on gives it away at the exit.
 * Cause:     sems
 * Repair:    index "pl_copy_wait(fetch[2])" or wait sems
 */
#include <heddle/pallas.h>

KERNEL(p29_slot_zero, w_hbm, stages, sems)
{
    PlCopy fetch[] = {
        pl_make_async_copy(pl_at(w_hbm, 0), pl_at(stages, 0), pl_at(sems, 0)),
        pl_make_async_copy(pl_at(w_hbm, 1), pl_at(stages, 1), pl_at(sems, 1)),
        pl_make_async_copy(pl_at(w_hbm, 2), pl_at(stages, 0), pl_at(sems, 0)),
    };

    pl_copy_start(fetch[0]);
    pl_copy_start(fetch[1]);
    pl_copy_wait(fetch[0]);
    pl_load(pl_at(stages, 0));
    pl_copy_start(fetch[2]);
    pl_copy_wait(fetch[2]);                         /* should be fetch[1] */
    pl_load(pl_at(stages, 1));
}

KERNEL(p29_slot_in_turn, w_hbm, stages, sems)
{
    PlCopy fetch[] = {
        pl_make_async_copy(pl_at(w_hbm, 0), pl_at(stages, 0), pl_at(sems, 0)),
        pl_make_async_copy(pl_at(w_hbm, 1), pl_at(stages, 1), pl_at(sems, 1)),
        pl_make_async_copy(pl_at(w_hbm, 2), pl_at(stages, 0), pl_at(sems, 0)),
    };

    pl_copy_start(fetch[0]);
    pl_copy_start(fetch[1]);
    pl_copy_wait(fetch[0]);
    pl_load(pl_at(stages, 0));
    pl_copy_start(fetch[2]);
    pl_copy_wait(fetch[1]);
    pl_load(pl_at(stages, 1));
    pl_copy_wait(fetch[2]);
    pl_load(pl_at(stages, 0));
}

PROGRAM(p29_waits_on_the_first_slot, "P29: waits for slot 0, reads slot 1")
{
    PlRef w_hbm = pl_input(PL_F32, 3, 8, 128), stages = pl_vmem(PL_F32, 2, 8, 128);

    pl_launch(p29_slot_zero, .args = {w_hbm, stages, pl_dma_semaphore(2)});
    pl_expect_fault(PL_RACE, .from = 1);
    pl_expect_fault(PL_LEFTOVER, .from = 1);
    pl_expect_fault(PL_IN_FLIGHT, .from = 1);
}

PROGRAM(p29_waits_on_the_first_slot_repaired, "P29 repaired: waits for the slot that is read")
{
    PlRef w_hbm = pl_input(PL_F32, 3, 8, 128), stages = pl_vmem(PL_F32, 2, 8, 128);

    pl_launch(p29_slot_in_turn, .args = {w_hbm, stages, pl_dma_semaphore(2)});
}
