/* false_alarm_03_allocation_is_a_step.c - an inbox that is allocated in each round, and filled by a neighbour. This is right.
 *
 * Cried wolf: a checker filled memory with poison when it was allocated or freed, outside of any order, and its own poison raced with
 *             those who still read.
 * Is right:  to allocate and to free are steps in the order of their core. The neighbour writes after it was told that the inbox exists,
 *            and the inbox goes when it has been read.
 */
#include <heddle/pallas.h>

enum { ROUNDS = 2 };

KERNEL(fa03_scoped_inbox, x, send_sem, recv_sem, ready)
{
    int n = pl_num_devices(), me = pl_device_id(), left = (me + n - 1) % n, right = (me + 1) % n;

    for (int round = 0; round < ROUNDS; round++) {
        PL_SCOPED PlRef inbox = pl_vmem(PL_F32, 8, 128);
        pl_semaphore_signal(ready, 1, pl_device(left));
        pl_semaphore_wait(ready, 1);
        PlCopy pass = pl_async_remote_copy(x, inbox, send_sem, recv_sem, pl_device(right));
        pl_copy_wait_send(pass);
        pl_copy_wait_recv(pass);
        pl_load(inbox);
    }
}

PROGRAM(false_alarm_03_allocation_is_a_step, "a new inbox in each round, written when it exists and freed when it was read")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128);

    pl_launch(fa03_scoped_inbox, .args = {x, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
}
