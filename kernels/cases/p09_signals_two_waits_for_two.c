/* p09_signals_two_waits_for_two.c - a neighbour barrier in which each signal counts double.
 *
 * Reported:  jax-ml/jax commit a155c5a9.
 * Wrong:     both neighbours add 2, and the barrier waits for 2: one neighbour is enough, and 2 are left over in the end.
 * Right:     add 1.
 * Teaches:   a count too high is two faults: the barrier that no longer waits, and the remainder that the next user of the semaphore
 *            finds. (The remainder is there with two devices already, where both neighbours are one; the race needs a third.)
 * Verdict:   the case says race and leftover. Here it is also lifetime: the neighbour may not have entered when the copy lands.
 * Cause:     barrier semaphore, "pl_semaphore_wait(barrier, 2)", "pl_semaphore_signal(barrier, 2"
 * Repair:    count "pl_semaphore_signal(barrier, 2" or count "pl_semaphore_wait(barrier, 2)"
 */
#include <heddle/pallas.h>

KERNEL(p09_double, x, out, send_sem, recv_sem)
{
    int n = pl_num_devices(), me = pl_device_id(), left = (me + n - 1) % n, right = (me + 1) % n;
    PlRef barrier = pl_get_barrier_semaphore();

    pl_store(out, pl_tile_zeros(PL_F32, 8, 128));
    pl_semaphore_signal(barrier, 2, pl_device(left));
    pl_semaphore_signal(barrier, 2, pl_device(right));
    pl_semaphore_wait(barrier, 2);

    PlCopy copy = pl_async_remote_copy(x, out, send_sem, recv_sem, pl_device(right));
    pl_copy_wait_send(copy);
    pl_copy_wait_recv(copy);
    pl_load(out);
}

KERNEL(p09_single, x, out, send_sem, recv_sem)
{
    int n = pl_num_devices(), me = pl_device_id(), left = (me + n - 1) % n, right = (me + 1) % n;
    PlRef barrier = pl_get_barrier_semaphore();

    pl_store(out, pl_tile_zeros(PL_F32, 8, 128));
    pl_semaphore_signal(barrier, 1, pl_device(left));
    pl_semaphore_signal(barrier, 1, pl_device(right));
    pl_semaphore_wait(barrier, 2);

    PlCopy copy = pl_async_remote_copy(x, out, send_sem, recv_sem, pl_device(right));
    pl_copy_wait_send(copy);
    pl_copy_wait_recv(copy);
    pl_load(out);
}

PROGRAM(p09_signals_two_waits_for_two, "P09: each neighbour signals two, so one neighbour opens the barrier")
{
    PL_NEEDS(pl_num_devices() >= 3, "a left and a right neighbour");
    PlRef x = pl_input(PL_F32, 8, 128), out = pl_vmem(PL_F32, 8, 128);

    pl_launch(p09_double, .args = {x, out, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
    pl_expect_fault(PL_RACE, .from = 3);
    pl_expect_fault(PL_LIFETIME, .from = 3);
    pl_expect_fault(PL_LEFTOVER, .from = 3);
}

PROGRAM(p09_signals_two_waits_for_two_repaired, "P09 repaired: each neighbour signals one")
{
    PL_NEEDS(pl_num_devices() >= 3, "a left and a right neighbour");
    PlRef x = pl_input(PL_F32, 8, 128), out = pl_vmem(PL_F32, 8, 128);

    pl_launch(p09_single, .args = {x, out, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
}
