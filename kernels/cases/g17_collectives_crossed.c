/* g17_collectives_crossed.c - two devices call the same two collectives in different order.
 *
 * Reported:  pytorch/pytorch#189228; sgl-project/sglang#31117 and #31135; vllm-project/vllm-ascend#15500.
 * Wrong:     device 0 is in A and waits for device 1, which is in B and waits for device 0.
 * Right:     one order for all, or semaphores of its own for each stream.
 * Teaches:   the report should show the cycle: each of the two is the only one who could help the other.
 * Cause:     begin, "pl_semaphore_wait(begin, 1)", "pl_semaphore_signal(begin"
 * Repair:    order
 */
#include <heddle/pallas.h>

enum { COLLECTIVES = 2 };

static void collective(PlRef begin, PlRef end)
{
    PlDevice partner = pl_device(1 - pl_device_id());

    pl_semaphore_signal(begin, 1, partner);
    pl_semaphore_wait(begin, 1);
    pl_semaphore_signal(end, 1, partner);
    pl_semaphore_wait(end, 1);
}

KERNEL(g17_crossed, begin, end)
{
    for (int i = 0; i < COLLECTIVES; i++) {
        int which = pl_device_id() == 0 ? i : COLLECTIVES - 1 - i;
        collective(pl_at(begin, which), pl_at(end, which));
    }
}

KERNEL(g17_same_order, begin, end)
{
    for (int i = 0; i < COLLECTIVES; i++)
        collective(pl_at(begin, i), pl_at(end, i));
}

PROGRAM(g17_collectives_crossed, "G17: one calls A then B, the other B then A")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");

    pl_launch(g17_crossed, .args = {pl_regular_semaphore(COLLECTIVES), pl_regular_semaphore(COLLECTIVES)});
    pl_expect_fault(PL_DEADLOCK, .from = 2);
}

PROGRAM(g17_collectives_crossed_repaired, "G17 repaired: both call A, then B")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");

    pl_launch(g17_same_order, .args = {pl_regular_semaphore(COLLECTIVES), pl_regular_semaphore(COLLECTIVES)});
}
