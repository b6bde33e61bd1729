/* g23_no_initial_credit.c - everybody waits for a free slot before anybody has said that one is free.
 *
 * Reported:  hw-native-sys/PTOAS#428 (a wait before any set, in the first iteration); as a ring tenstorrent/tt-metal#33222.
 * Wrong:     the credit that a device waits for is given only after its receiver's first round.
 * Right:     one credit before the loop, and none after the last use.
 * Teaches:   a cycle through all devices: each waits for its right neighbour. (The report had three; two are enough.)
 * Cause:     credit, "pl_semaphore_wait(credit", "pl_semaphore_signal(credit"
 * Repair:    signal credit
 */
#include <heddle/pallas.h>

enum { ROUNDS = 2 };

KERNEL(g23_waits_first, x, in, send_sem, recv_sem, credit)
{
    int n = pl_num_devices(), me = pl_device_id(), left = (me + n - 1) % n, right = (me + 1) % n;

    for (int t = 0; t < ROUNDS; t++) {
        pl_semaphore_wait(credit, 1);                           /* the slot of the right neighbour is free */
        PlCopy pass = pl_async_remote_copy(x, in, send_sem, recv_sem, pl_device(right));
        pl_copy_wait_send(pass);
        pl_copy_wait_recv(pass);
        pl_load(in);
        pl_semaphore_signal(credit, 1, pl_device(left));
    }
}

KERNEL(g23_grants_first, x, in, send_sem, recv_sem, credit)
{
    int n = pl_num_devices(), me = pl_device_id(), left = (me + n - 1) % n, right = (me + 1) % n;

    pl_semaphore_signal(credit, 1, pl_device(left));
    for (int t = 0; t < ROUNDS; t++) {
        pl_semaphore_wait(credit, 1);
        PlCopy pass = pl_async_remote_copy(x, in, send_sem, recv_sem, pl_device(right));
        pl_copy_wait_send(pass);
        pl_copy_wait_recv(pass);
        pl_load(in);
        if (t < ROUNDS - 1)
            pl_semaphore_signal(credit, 1, pl_device(left));
    }
}

PROGRAM(g23_no_initial_credit, "G23: all wait for a credit that comes after the first round")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128), in = pl_vmem(PL_F32, 8, 128);

    pl_launch(g23_waits_first, .args = {x, in, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
    pl_expect_fault(PL_DEADLOCK, .from = 2);
}

PROGRAM(g23_no_initial_credit_repaired, "G23 repaired: one credit to begin with")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128), in = pl_vmem(PL_F32, 8, 128);

    pl_launch(g23_grants_first, .args = {x, in, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
}
