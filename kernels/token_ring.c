/* token_ring.c - a token goes once round the ring: signals and waits alone, and what a single one of them does wrong. */
#include <heddle/pallas.h>

static PlDevice right_neighbour(void)
{
    return pl_device((pl_axis_index("x") + 1) % pl_axis_size("x"));
}

KERNEL(token_ring, token)
{
    if (pl_axis_index("x") == 0) {
        pl_semaphore_signal(token, 1, right_neighbour());
        pl_semaphore_wait(token, 1);
    } else {
        pl_semaphore_wait(token, 1);
        pl_semaphore_signal(token, 1, right_neighbour());
    }
}

PROGRAM(token_ring, "a token goes once round the ring")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_launch(token_ring, .args = {pl_regular_semaphore()});
}

/* Wrong: the last device keeps the token, and device 0 waits for it for ever. */
KERNEL(missing_signal, token)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x");

    if (my_id == 0) {
        pl_semaphore_signal(token, 1, right_neighbour());
        pl_semaphore_wait(token, 1);
    } else {
        pl_semaphore_wait(token, 1);
        if (my_id != n - 1)
            pl_semaphore_signal(token, 1, right_neighbour());
    }
}

PROGRAM(missing_signal, "wrong: the last device does not pass the token on")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_DEADLOCK, .from = 2);
    pl_launch(missing_signal, .args = {pl_regular_semaphore()});
}

/* Wrong: everybody waits for the token before passing it on, and nobody has it. */
KERNEL(cyclic_wait, token)
{
    pl_semaphore_wait(token, 1);
    pl_semaphore_signal(token, 1, right_neighbour());
}

PROGRAM(cyclic_wait, "wrong: everybody waits for the left neighbour first")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_DEADLOCK, .from = 2);
    pl_launch(cyclic_wait, .args = {pl_regular_semaphore()});
}

/* Wrong: device 0 hands out two tokens, of which its neighbour takes one. */
KERNEL(one_signal_too_many, token)
{
    if (pl_axis_index("x") == 0) {
        pl_semaphore_signal(token, 2, right_neighbour());
        pl_semaphore_wait(token, 1);
    } else {
        pl_semaphore_wait(token, 1);
        pl_semaphore_signal(token, 1, right_neighbour());
    }
}

PROGRAM(one_signal_too_many, "wrong: one signal more than is waited for")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_LEFTOVER, .from = 2);
    pl_launch(one_signal_too_many, .args = {pl_regular_semaphore()});
}
