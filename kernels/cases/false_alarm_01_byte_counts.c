/* false_alarm_01_byte_counts.c - two copies of different size on one semaphore, and one wait for both. This is right.
 *
 * Cried wolf: a checker that counted completions, not bytes, took the second copy for one arrival too many, and the wait for a deadlock.
 * Is right:  the wait needs the bytes of both, whoever comes first and in whatever pieces; it goes through a descriptor that is never
 *            started.
 */
#include <heddle/pallas.h>

KERNEL(fa01_two_copies_one_wait, x, y, send_sem, recv_sem)
{
    int right = (pl_device_id() + 1) % pl_num_devices();

    pl_async_remote_copy(pl_at(x, pl_ds(0, 2)), pl_at(y, pl_ds(0, 2)), send_sem, recv_sem, pl_device(right));
    pl_async_remote_copy(pl_at(x, pl_ds(2, 6)), pl_at(y, pl_ds(2, 6)), send_sem, recv_sem, pl_device(right));
    PlCopy both = pl_make_async_remote_copy(x, y, send_sem, recv_sem, pl_device(right));
    pl_copy_wait_send(both);
    pl_copy_wait_recv(both);
}

PROGRAM(false_alarm_01_byte_counts, "two copies on one semaphore, one wait for the bytes of both")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_output(PL_F32, 8, 128);

    pl_launch(fa01_two_copies_one_wait, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_permute(y, x, 1);
}
