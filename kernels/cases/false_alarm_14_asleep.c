/* false_alarm_14_asleep.c - what checkers slept over: three faults, and what hid them.
 *
 * Clocks of a fixed size: a race between the first and the last of many devices was seen only with few devices.
 * Joined semaphores:      a wait was taken to be after every signal that came before it in the run at hand, though it needs only one of
 *                         them; so it depended on the run whether the race was seen.
 * One schedule a run:     a deadlock that needs one certain order of two steps was not met. It is a conflict, and must be explored.
 * (A fourth, a barrier at the entry that was added silently and hid a missing one, is P22.)
 */
#include <heddle/pallas.h>

KERNEL(fa14_first_and_last, x, y, send_sem, recv_sem)
{
    int last = pl_num_devices() - 1;
    PlCopy copy = pl_make_async_remote_copy(x, y, send_sem, recv_sem, pl_device(last));

    if (pl_device_id() == 0) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    } else if (pl_device_id() == last) {
        pl_load(y);
        pl_copy_wait_recv(copy);
    }
}

KERNEL(fa14_one_of_two, x, inbox, send_sem, recv_sem, ready)
{
    int me = pl_device_id();
    PlCopy copy = pl_make_async_remote_copy(x, inbox, send_sem, recv_sem, pl_device(me));

    if (me != 0) {
        pl_load(inbox);
        pl_semaphore_signal(ready, 1, pl_device(0));
        pl_copy_wait_recv(copy);
        return;
    }
    pl_semaphore_wait(ready, 1);                                /* one of the two is ready */
    for (int d = 1; d <= 2; d++)
        pl_async_remote_copy(x, inbox, send_sem, recv_sem, pl_device(d));
    for (int d = 1; d <= 2; d++)
        pl_copy_wait_send(copy);
    pl_semaphore_wait(ready, 1);
}

KERNEL(fa14_after_you, here, answer)
{
    PlDevice partner = pl_device(1 - pl_device_id());
    bool partner_is_here = pl_flag_load(here, PL_OWN) == 1;

    pl_flag_store(here, 1, partner);
    if (partner_is_here)
        pl_semaphore_signal(answer, 1, partner);
    else
        pl_semaphore_wait(answer, 1);                           /* the partner comes later, and will answer: or looks just now, too */
}

/* Cause:  "pl_copy_wait_recv(copy)"
 * Repair: wait recv_sem */
PROGRAM(false_alarm_14_asleep_many_devices, "a race between the first and the last device, however many there are")
{
    PL_NEEDS(pl_num_devices() >= 2, "a first and a last device");
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_vmem(PL_F32, 8, 128);

    pl_launch(fa14_first_and_last, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 2);
}

/* Cause:  ready, first "pl_semaphore_wait(ready, 1)"
 * Repair: count first "pl_semaphore_wait(ready, 1)" or wait ready */
PROGRAM(false_alarm_14_asleep_one_of_two, "waits for one of two signals, and believes both")
{
    PL_NEEDS(pl_num_devices() == 3, "one that asks and two that answer");
    PlRef x = pl_input(PL_F32, 8, 128), inbox = pl_vmem(PL_F32, 8, 128);

    pl_launch(fa14_one_of_two, .args = {x, inbox, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
    pl_expect_fault(PL_RACE, .from = 3);
}

/* Cause:  answer, "pl_flag_load(here"
 * Repair: signal answer */
PROGRAM(false_alarm_14_asleep_after_you, "both look before either has said that it is there, and wait for each other")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");

    pl_launch(fa14_after_you, .args = {pl_flags(), pl_regular_semaphore()});
    pl_expect_fault(PL_DEADLOCK, .from = 2);
}
