/* far_counts.c - counts beyond 2^31 and 2^32: those of semaphores only grow, flag words wrap around. */
#include <heddle/pallas.h>

#define MOST ((int64_t)0x7fffffff)

KERNEL(signals_much, g)
{
    int times = pl_parameter(times);

    if (pl_device_id() == 0) {
        for (int i = 0; i < times; i++)
            pl_semaphore_signal(g, MOST, pl_device(1));
        pl_semaphore_signal(g, pl_parameter(extra), pl_device(1));
    } else {
        for (int i = 0; i < times; i++)
            pl_semaphore_wait(g, MOST);
        pl_semaphore_wait(g, pl_parameter(taken));
    }
}

PROGRAM(signals, "the sum of what is signalled is further than 31 or 32 bits")
{
    PL_NEEDS(pl_num_devices() == 2, "one that signals and one that waits");
    (void)PARAMETER(times, 2, 0, 9), (void)PARAMETER(extra, 2, 0, 9), (void)PARAMETER(taken, 2, 0, 9);
    pl_launch(signals_much, .args = {pl_regular_semaphore()});
}

KERNEL(copies_much, v, d)
{
    int times = pl_parameter(times), waits = pl_parameter(waits);

    if (pl_device_id() == 0)
        for (int i = 0; i < times; i++)
            pl_copy_wait_send(pl_async_remote_copy(pl_at(v, 0), pl_at(v, i + 1), pl_at(d, 0), pl_at(d, 1), pl_device(1)));
    else
        for (int i = 0; i < waits; i++)
            pl_copy_wait(pl_make_async_copy(pl_at(v, 0), pl_at(v, 0), pl_at(d, 1)));
}

PROGRAM(copies, "copies of 2^31 bytes each on one semaphore")
{
    PL_NEEDS(pl_num_devices() == 2, "one that sends and one that receives");
    (void)PARAMETER(times, 3, 0, 4), (void)PARAMETER(waits, 3, 0, 4);
    pl_launch(copies_much, .args = {pl_opaque(pl_input_in(PL_VMEM, PL_U8, 5, (int64_t)1 << 31)), pl_dma_semaphore(2)});
}

/* Both ask for the go-ahead, and wait for a word that wraps to the least number when it comes. */
KERNEL(adds_one, f, g)
{
    if (pl_device_id() == 1) {
        pl_semaphore_wait(g, 2);
        pl_flag_add(f, 1, pl_device(0));
        pl_flag_add(f, 1, pl_device(2));
    } else {
        pl_semaphore_signal(g, 1, pl_device(1));
        pl_flag_wait(f, PL_GE, 1, PL_OWN);
    }
}

PROGRAM(wraps, "the wait passes before the add, and never after it")
{
    PL_NEEDS(pl_num_devices() == 3, "two that wait and one that adds");
    pl_launch(adds_one, .args = {pl_flags_from(MOST), pl_regular_semaphore()});
}

PROGRAM(just_fits, "one less")
{
    PL_NEEDS(pl_num_devices() == 3, "two that wait and one that adds");
    pl_launch(adds_one, .args = {pl_flags_from(MOST - 1), pl_regular_semaphore()});
}

KERNEL(adds_much, f)
{
    if (pl_device_id() == 0) {
        pl_flag_wait(f, PL_GE, 1, PL_OWN);
    } else {
        pl_flag_add(f, MOST, pl_device(0));
        pl_flag_add(f, pl_parameter(extra), pl_device(0));
    }
}

PROGRAM(sum_wraps, "only the sum of two adds wraps")
{
    PL_NEEDS(pl_num_devices() == 2, "one that waits and one that adds");
    (void)PARAMETER(extra, 1, 0, 1);
    pl_launch(adds_much, .args = {pl_flags()});
}
