/* later_launches.c - does a launch begin with a barrier, if a device that never gets to it is the one that would communicate there?
 *
 * Devices other than 1 load what a copy of their own has not finished: a race wherever they get into that launch.
 */
#include <heddle/pallas.h>

static void load_too_early(PlRef v, PlRef d)
{
    PlCopy copy = pl_async_copy(pl_at(v, 0), pl_at(v, 1), d);
    pl_load(pl_at(v, 1));
    pl_copy_wait(copy);
}

KERNEL(waits_in_vain, g)
{
    if (pl_device_id() == 1)
        pl_semaphore_wait(g, 1);
}

KERNEL(nothing, g)
{
    (void)g;
}

KERNEL(tells, g, v, d)
{
    if (pl_device_id() == 1)
        pl_semaphore_signal(g, 1, pl_device(1));
    else
        load_too_early(v, d);
}

KERNEL(keeps_to_itself, v, d)
{
    if (pl_device_id() != 1)
        load_too_early(v, d);
}

#define BUFFER pl_input_in(PL_VMEM, PL_U8, 2, 4)

PROGRAM(stuck_before, "device 1 would communicate, and never gets there: no device gets into the launch")
{
    pl_launch(waits_in_vain, .args = {pl_regular_semaphore()});
    pl_launch(tells, .args = {pl_regular_semaphore(), BUFFER, pl_dma_semaphore()});
}

PROGRAM(stuck_before_no_barrier, "the same without the barrier: the others go on, and race")
{
    pl_launch(waits_in_vain, .args = {pl_regular_semaphore()});
    pl_launch(tells, .args = {pl_regular_semaphore(), BUFFER, pl_dma_semaphore()}, .skip_device_barrier = true);
}

PROGRAM(stuck_before_quiet, "nobody would communicate in the second launch")
{
    pl_launch(waits_in_vain, .args = {pl_regular_semaphore()});
    pl_launch(keeps_to_itself, .args = {BUFFER, pl_dma_semaphore()});
}

PROGRAM(stuck_before_own_barrier, "a collective_id: the launch makes its barrier itself, and this one does not")
{
    pl_launch(waits_in_vain, .args = {pl_regular_semaphore()});
    pl_launch(tells, .args = {pl_regular_semaphore(), BUFFER, pl_dma_semaphore()}, .collective_id = 3);
}

PROGRAM(stuck_before_third, "two launches later")
{
    pl_launch(waits_in_vain, .args = {pl_regular_semaphore()});
    pl_launch(nothing, .args = {pl_regular_semaphore()});
    pl_launch(tells, .args = {pl_regular_semaphore(), BUFFER, pl_dma_semaphore()});
}

/* What device 1 reads and hands on is not known before it gets there; that it signals then is. */
KERNEL(reads_and_tells, g, v, d, out)
{
    if (pl_device_id() == 1) {
        pl_store(out, pl_load(pl_at(v, 0)));
        pl_semaphore_signal(g, 1, pl_device(1));
    } else {
        load_too_early(v, d);
        pl_store(out, pl_load(pl_at(v, 0)));
    }
}

PROGRAM(stuck_before_reading, "a load lies between")
{
    PlRef v = BUFFER, out = pl_output_in(PL_VMEM, PL_U8, 4);

    pl_launch(waits_in_vain, .args = {pl_regular_semaphore()});
    pl_launch(reads_and_tells, .args = {pl_regular_semaphore(), v, pl_dma_semaphore(), out});
    pl_expect_equal(out, pl_at(v, 0));
}

/* Whether device 1 signals depends on a value that is not known. */
KERNEL(may_tell, g, v, d)
{
    if (pl_device_id() != 1)
        load_too_early(v, d);
    else if (pl_load_int(pl_at(v, 0, 0)) != 0)
        pl_semaphore_signal(g, 1, pl_device(1));
}

PROGRAM(stuck_before_asking, "whether the launch communicates is not known")
{
    pl_launch(waits_in_vain, .args = {pl_regular_semaphore()});
    pl_launch(may_tell, .args = {pl_regular_semaphore(), BUFFER, pl_dma_semaphore()});
}

KERNEL(is_wrong, g)
{
    (void)g;
    if (pl_device_id() == 1)
        pl_assert(pl_num_devices() == 0);
}

PROGRAM(stopped_before, "device 1 is stopped by a fault")
{
    pl_launch(is_wrong, .args = {pl_regular_semaphore()});
    pl_launch(tells, .args = {pl_regular_semaphore(), BUFFER, pl_dma_semaphore()});
}

PROGRAM(got_there, "device 1 gets there: the launch has its barrier, and its fault")
{
    pl_launch(nothing, .args = {pl_regular_semaphore()});
    pl_launch(tells, .args = {pl_semaphore_output(PL_REGULAR), BUFFER, pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 1);
}

/* Device 1 is stuck if it looks before the signal: in the other orders it gets to the second launch, and only then that communicates. */
KERNEL(looks_first, g, s)
{
    if (pl_device_id() == 0) {
        pl_semaphore_signal(g, 1, pl_device(1));
    } else {
        int seen = (int)pl_semaphore_read(g);
        pl_store_int(s, seen);
        pl_semaphore_wait(g, seen ? 1 : 2);
    }
}

KERNEL(tells_if_it_saw, s, g, v, d)
{
    if (pl_device_id() != 1)
        load_too_early(v, d);
    else if (pl_load_int(s) == 1)
        pl_semaphore_signal(g, 1, pl_device(1));
}

PROGRAM(stuck_in_one_order, "in one order stuck, in the other not: the race is seen there")
{
    PlRef s = pl_output_in(PL_SMEM, PL_I32);

    PL_NEEDS(pl_num_devices() == 2, "one that signals and one that looks");
    pl_launch(looks_first, .args = {pl_regular_semaphore(), s});
    pl_launch(tells_if_it_saw, .args = {s, pl_semaphore_output(PL_REGULAR), BUFFER, pl_dma_semaphore()});
}

/* The second launch communicates only where the count was seen. */
KERNEL(notes_the_count, g, s)
{
    if (pl_device_id() == 0) {
        pl_semaphore_signal(g, 1, pl_device(1));
    } else {
        int seen = (int)pl_semaphore_read(g);
        pl_semaphore_wait(g, 1);
        pl_store_int(s, seen);
    }
}

KERNEL(passes_it_on, s, h)
{
    if (pl_device_id() == 1 && pl_load_int(s) == 1)
        pl_semaphore_signal(h, 1, pl_device(0));
}

PROGRAM(tells_in_one_order, "device 2 and up wait in vain")
{
    PlRef s = pl_output_in(PL_SMEM, PL_I32);

    pl_launch(notes_the_count, .args = {pl_regular_semaphore(), s});
    pl_launch(passes_it_on, .args = {s, pl_semaphore_output(PL_REGULAR)});
}

/* What was seen decides whether there is a barrier, and is part of the result. */
KERNEL(sends_and_notes, g, s, v, d)
{
    if (pl_device_id() == 0) {
        pl_semaphore_signal(g, 1, pl_device(1));
        pl_copy_wait_send(pl_async_remote_copy(v, v, pl_at(d, 0), pl_at(d, 1), pl_device(1)));
    } else {
        int seen = (int)pl_semaphore_read(g);
        pl_semaphore_wait(g, 1);
        pl_store_int(s, seen);
    }
}

KERNEL(receives, s, h, v, d)
{
    if (pl_device_id() == 1) {
        if (pl_load_int(s) == 1)
            pl_semaphore_signal(h, 1, pl_device(1));
        pl_semaphore_wait(h, pl_load_int(s));
        pl_copy_wait(pl_make_async_copy(v, v, pl_at(d, 1)));
    }
}

PROGRAM(receives_in_one_order, "the copy of the first launch is waited for in the second")
{
    PlRef s = pl_output_in(PL_SMEM, PL_I32), v = pl_input_in(PL_VMEM, PL_U8, 4), d = pl_semaphore_output(PL_DMA, 2);

    pl_launch(sends_and_notes, .args = {pl_regular_semaphore(), s, v, d});
    pl_launch(receives, .args = {s, pl_regular_semaphore(), v, d});
}

/* Device 0 gets past the first launch only by what device 1 does in the third; nobody communicates in the second, where device 1 looks. */
KERNEL(waits_for_later, sem, at_home)
{
    pl_semaphore_signal(at_home, 1, pl_device(1 - pl_device_id()));
    pl_semaphore_wait(at_home, 1);
    if (pl_device_id() == 0)
        pl_semaphore_wait(sem, 1);
}

KERNEL(only_looks, h)
{
    if (pl_device_id() == 1 && pl_semaphore_read(h) == 1)
        pl_semaphore_signal(h, 1);
}

KERNEL(helps, sem)
{
    if (pl_device_id() == 1)
        pl_semaphore_signal(sem, 1, pl_device(0));
}

PROGRAM(helped_past_a_look, "no barrier is presumed where it alone would keep a device from getting there")
{
    PlRef sem = pl_semaphore_output(PL_REGULAR);

    PL_NEEDS(pl_num_devices() == 2, "one that waits and one that helps");
    pl_launch(waits_for_later, .args = {sem, pl_regular_semaphore()});
    pl_launch(only_looks, .args = {pl_regular_semaphore()});
    pl_launch(helps, .args = {sem}, .skip_device_barrier = true);
}
