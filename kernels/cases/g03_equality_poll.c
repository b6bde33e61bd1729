/* g03_equality_poll.c - waiting until a counter IS a number, while the partner may already be past it.
 *
 * Reported:  vllm-project/vllm#8558 (repairs #8404 and #8410); tenstorrent/tt-metal#50315 and #54590; jax-ml/jax commit ea5a47d4, where
 *            a semaphore's wait was by equality.
 * Wrong:     start and end of a call share one flag. The partner's number of the end can replace that of the start before we looked.
 * Right:     two flags in turn, or "at least" in place of "equal".
 * Teaches:   a poll samples; what it looks for may have come and gone. Flags live throughout, so no barrier at the entry is needed.
 * Cause:     flag, "pl_flag_wait(flag, PL_EQ, 2 * call + 1", "pl_flag_store(flag, 2 * call + 2"
 * Repair:    at-least flag or semaphore flag
 */
#include <heddle/pallas.h>

enum { CALLS = 2 };

KERNEL(g03_one_flag, flag)
{
    PlDevice partner = pl_device(1 - pl_device_id());

    for (int call = 0; call < CALLS; call++) {
        pl_flag_store(flag, 2 * call + 1, partner);             /* start */
        pl_flag_wait(flag, PL_EQ, 2 * call + 1, PL_OWN);
        pl_flag_store(flag, 2 * call + 2, partner);             /* end */
        pl_flag_wait(flag, PL_EQ, 2 * call + 2, PL_OWN);
    }
}

KERNEL(g03_two_flags, start, end)
{
    PlDevice partner = pl_device(1 - pl_device_id());

    for (int call = 0; call < CALLS; call++) {
        pl_flag_store(start, 2 * call + 1, partner);
        pl_flag_wait(start, PL_EQ, 2 * call + 1, PL_OWN);
        pl_flag_store(end, 2 * call + 2, partner);
        pl_flag_wait(end, PL_EQ, 2 * call + 2, PL_OWN);
    }
}

PROGRAM(g03_equality_poll, "G03: the number that is waited for has been replaced by the next")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");

    pl_launch(g03_one_flag, .args = {pl_flags()}, .skip_device_barrier = true);
    pl_expect_fault(PL_DEADLOCK, .from = 2);
}

PROGRAM(g03_equality_poll_repaired, "G03 repaired: a flag for the start and one for the end")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");

    pl_launch(g03_two_flags, .args = {pl_flags(), pl_flags()}, .skip_device_barrier = true);
}
