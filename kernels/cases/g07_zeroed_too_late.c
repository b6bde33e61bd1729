/* g07_zeroed_too_late.c - a flag is set to zero by its owner after others may have signalled.
 *
 * Reported:  apache/tvm#16797; hao-ai-lab/DistCA#75; pytorch/pytorch#196546 and #195761; open-mpi/ompi#6003 (a sync word never set).
 * Wrong:     the memory is allocated by all together, zeroed by each alone and later; the partner's first signal may come before.
 * Right:     zero, then meet, then signal.
 * Teaches:   an initialisation is a write like any other: it needs an order against the first use by somebody else.
 * Cause:     flag, "pl_flag_store(flag, 0", "pl_flag_store(flag, 1"
 * Repair:    barrier
 */
#include <heddle/pallas.h>

KERNEL(g07_zero_and_signal, flag)
{
    pl_flag_store(flag, 0, PL_OWN);
    pl_flag_store(flag, 1, pl_device(1 - pl_device_id()));
    pl_flag_wait(flag, PL_GE, 1, PL_OWN);
}

KERNEL(g07_zero_meet_signal, flag)
{
    PlRef barrier = pl_get_barrier_semaphore();
    PlDevice partner = pl_device(1 - pl_device_id());

    pl_flag_store(flag, 0, PL_OWN);
    pl_semaphore_signal(barrier, 1, partner);
    pl_semaphore_wait(barrier, 1);
    pl_flag_store(flag, 1, partner);
    pl_flag_wait(flag, PL_GE, 1, PL_OWN);
}

PROGRAM(g07_zeroed_too_late, "G07: the owner's zero comes after the partner's signal")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");

    pl_launch(g07_zero_and_signal, .args = {pl_flags()}, .skip_device_barrier = true);
    pl_expect_fault(PL_DEADLOCK, .from = 2);
}

PROGRAM(g07_zeroed_too_late_repaired, "G07 repaired: zero, meet, signal")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");

    pl_launch(g07_zero_meet_signal, .args = {pl_flags()}, .collective_id = 0);
}
