/* polls.c - polls that never end: of two words, of one, by a swap, and only in one of two orders. */
#include <heddle/pallas.h>

KERNEL(asks_two, f)
{
    pl_flag_store(pl_at(f, 1), 1, PL_OWN);
    while (pl_flag_load(pl_at(f, 0), PL_OWN) + pl_flag_load(pl_at(f, 1), PL_OWN) != 0)
        ;
}

PROGRAM(two_words, "the second is never cleared")
{
    pl_launch(asks_two, .args = {pl_flags(2)});
}

KERNEL(asks_one, f)
{
    pl_flag_store(f, 1, PL_OWN);
    while (pl_flag_load(f, PL_OWN) != 0)
        ;
}

PROGRAM(one_word, "it is never cleared")
{
    pl_launch(asks_one, .args = {pl_flags()});
}

KERNEL(swaps, f)
{
    while (pl_flag_compare_and_swap(f, 1, 0, PL_OWN) != 1)
        ;
}

PROGRAM(swap, "it is never set")
{
    pl_launch(swaps, .args = {pl_flags()});
}

KERNEL(clears_too_early, f)
{
    if (pl_device_id() != 0) {
        pl_flag_store(f, 0, pl_device(0));
        return;
    }
    pl_flag_store(f, 1, PL_OWN);
    while (pl_flag_load(f, PL_OWN) != 0)
        ;
}

PROGRAM(late, "cleared before it was set, in one order")
{
    PL_NEEDS(pl_num_devices() == 2, "one that polls and one that clears");
    pl_launch(clears_too_early, .args = {pl_flags()});
}

/* The poll begins after a good many steps, and goes by three looks a round. */
KERNEL(asks_three, f, g)
{
    for (int i = 0; i < 100; i++) {
        pl_semaphore_signal(g, 1);
        pl_semaphore_wait(g, 1);
    }
    pl_flag_store(pl_at(f, 2), 1, PL_OWN);
    while (pl_flag_load(pl_at(f, 0), PL_OWN) + pl_flag_load(pl_at(f, 1), PL_OWN) + pl_flag_load(pl_at(f, 2), PL_OWN) != 0)
        ;
}

PROGRAM(three_words, "after a hundred rounds of something else")
{
    pl_launch(asks_three, .args = {pl_flags(3), pl_regular_semaphore()});
}
