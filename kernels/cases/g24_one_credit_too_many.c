/* g24_one_credit_too_many.c - the credits of G23, with one before the loop and one after the last use as well.
 *
 * Reported:  jax-ml/jax commit ec59178d, and the documented rule that semaphores end at zero.
 * Wrong:     the release after the last round is taken by nobody.
 * Right:     leave it out, or take it at the end.
 * Teaches:   harmless here, and the reason why the next kernel on that semaphore fails. (The report had three devices; two are enough.)
 * Cause:     credit, last "pl_semaphore_signal(credit"
 * Repair:    without last "pl_semaphore_signal(credit" or wait credit
 */
#include <heddle/pallas.h>

enum { ROUNDS = 2 };

KERNEL(g24_releases_always, x, in, send_sem, recv_sem, credit)
{
    int n = pl_num_devices(), me = pl_device_id(), left = (me + n - 1) % n, right = (me + 1) % n;

    pl_semaphore_signal(credit, 1, pl_device(left));
    for (int t = 0; t < ROUNDS; t++) {
        pl_semaphore_wait(credit, 1);
        PlCopy pass = pl_async_remote_copy(x, in, send_sem, recv_sem, pl_device(right));
        pl_copy_wait_send(pass);
        pl_copy_wait_recv(pass);
        pl_load(in);
        pl_semaphore_signal(credit, 1, pl_device(left));
    }
}

KERNEL(g24_drains, x, in, send_sem, recv_sem, credit)
{
    int n = pl_num_devices(), me = pl_device_id(), left = (me + n - 1) % n, right = (me + 1) % n;

    pl_semaphore_signal(credit, 1, pl_device(left));
    for (int t = 0; t < ROUNDS; t++) {
        pl_semaphore_wait(credit, 1);
        PlCopy pass = pl_async_remote_copy(x, in, send_sem, recv_sem, pl_device(right));
        pl_copy_wait_send(pass);
        pl_copy_wait_recv(pass);
        pl_load(in);
        pl_semaphore_signal(credit, 1, pl_device(left));
    }
    pl_semaphore_wait(credit, 1);                               /* the release that nobody used */
}

PROGRAM(g24_one_credit_too_many, "G24: a credit before the loop and one after the last use")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128), in = pl_vmem(PL_F32, 8, 128);

    pl_launch(g24_releases_always, .args = {x, in, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
    pl_expect_fault(PL_LEFTOVER, .from = 2);
}

PROGRAM(g24_one_credit_too_many_repaired, "G24 repaired: the last credit is taken at the end")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128), in = pl_vmem(PL_F32, 8, 128);

    pl_launch(g24_drains, .args = {x, in, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
}
