/* g26_surplus_is_kept.c - two signals before the first wait. This is right.
 *
 * Reported:  jax-ml/jax commit ea5a47d4, a test that came with a repair: the primitive had waited for the count to be equal.
 * Looks wrong: the count passes the number that the wait asks for.
 * Is right:  a wait needs at least its number, takes that, and keeps the rest for the next.
 * Teaches:   the difference between a semaphore's wait and the equality poll of G03.
 */
#include <heddle/pallas.h>

KERNEL(g26_two_and_two, s)
{
    if (pl_device_id() == 0) {
        pl_semaphore_signal(s, 1, pl_device(1));
        pl_semaphore_signal(s, 1, pl_device(1));
    } else {
        pl_semaphore_wait(s, 1);
        pl_semaphore_wait(s, 1);
    }
}

PROGRAM(g26_surplus_is_kept, "G26: two signals may come before the first of two waits")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");

    pl_launch(g26_two_and_two, .args = {pl_regular_semaphore()});
}
