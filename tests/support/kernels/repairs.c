/* repairs.c - one mistake a program, each with the change that undoes it. */
#include <heddle/pallas.h>

KERNEL(waits_twice, x, y, s)
{
    PlCopy c = pl_async_copy(x, y, s);
    pl_copy_wait(c);
    pl_copy_wait(c);
    pl_load(y);
}

KERNEL(never_starts, x, y, s)
{
    PlCopy c = pl_make_async_copy(x, y, s);
    pl_copy_wait(c);
    pl_load(y);
}

KERNEL(waits_before_it_signals, s)
{
    int right = (pl_device_id() + 1) % pl_num_devices();
    pl_semaphore_wait(s, 1);
    pl_semaphore_signal(s, 1, pl_device(right));
}

KERNEL(signals_one_side, s)
{
    int n = pl_num_devices(), me = pl_device_id(), right = (me + 1) % n;
    pl_semaphore_signal(s, 1, pl_device(right));
    pl_semaphore_wait(s, 2);
}

/* The second copy may overwrite what is still to be read. A wait before the load makes it read the second block twice. */
KERNEL(starts_before_it_reads, x, r, out, s)
{
    PlCopy a = pl_async_copy(pl_at(x, 0), r, s);
    pl_copy_wait(a);
    PlCopy b = pl_async_copy(pl_at(x, 1), r, s);
    pl_store(pl_at(out, 0), pl_load(r));
    pl_copy_wait(b);
    pl_store(pl_at(out, 1), pl_load(r));
}

KERNEL(reads_the_next_slot, x, out, s)
{
    for (int i = 0; i < 2; i++) {
        PlCopy c = pl_async_copy(pl_at(x, i + 1), pl_at(out, i), s);
        pl_copy_wait(c);
    }
}

KERNEL(sends_to_the_wrong_side, x, y, ss, rs)
{
    int n = pl_num_devices(), me = pl_device_id(), left = (me + n - 1) % n, right = (me + 1) % n;
    pl_semaphore_signal(pl_get_barrier_semaphore(), 1, pl_device(right));
    pl_semaphore_wait(pl_get_barrier_semaphore(), 1);
    PlCopy c = pl_async_remote_copy(x, y, ss, rs, pl_device(right));
    pl_copy_wait(c);
    (void)left;
}

KERNEL(crossed_semaphores, x, y, ss, rs)
{
    int right = (pl_device_id() + 1) % pl_num_devices();
    PlCopy c = pl_async_remote_copy(x, y, rs, ss, pl_device(right));
    pl_copy_wait_send(c);
    PlCopy arrival = pl_make_async_copy(y, y, rs);
    pl_copy_wait(arrival);
    pl_load(y);
}

KERNEL(signals_two, s)
{
    int right = (pl_device_id() + 1) % pl_num_devices();
    pl_semaphore_signal(s, 2, pl_device(right));
    pl_semaphore_wait(s, 1);
}

KERNEL(waits_on_the_other, ready, done)
{
    int right = (pl_device_id() + 1) % pl_num_devices();
    pl_semaphore_signal(ready, 1, pl_device(right));
    pl_semaphore_wait(done, 1);
    pl_semaphore_signal(done, 1, pl_device(right));
    pl_semaphore_wait(done, 1);
}

KERNEL(waits_for_exactly, f)
{
    int right = (pl_device_id() + 1) % pl_num_devices();
    pl_flag_store(f, 1, pl_device(right));
    pl_flag_store(f, 2, pl_device(right));
    pl_flag_wait(f, PL_EQ, 1, PL_OWN);
}

KERNEL(looks_ahead, x, y, s)
{
    int n = 2;
    PlCopy c[3];
    for (int i = 0; i < n; i++) {
        c[i] = pl_async_copy(pl_at(x, i + 1), pl_at(y, i), pl_at(s, i));
        pl_copy_wait(c[i]);
    }
}

/* The flag of the first round opens the barrier of the second. */
KERNEL(one_epoch_for_all, x, inbox, out, b, ss, rs)
{
    int n = pl_num_devices(), me = pl_device_id(), right = (me + 1) % n, left = (me + n - 1) % n;
    for (int op = 0; op < 2; op++) {
        pl_store(inbox, pl_tile_zeros(PL_F32, 8, 128));
        pl_flag_store(b, 1, pl_device(left));
        pl_flag_wait(b, PL_GE, 1, PL_OWN);
        PlCopy send = pl_async_remote_copy(pl_at(x, op), inbox, pl_at(ss, op), pl_at(rs, op), pl_device(right));
        pl_copy_wait(send);
        pl_store(pl_at(out, op), pl_load(inbox));
    }
}

PROGRAM(waits_twice, "") { pl_launch(waits_twice, .args = {pl_input(PL_F32, 8, 128), pl_vmem(PL_F32, 8, 128), pl_dma_semaphore()}); }
PROGRAM(never_starts, "") { pl_launch(never_starts, .args = {pl_input(PL_F32, 8, 128), pl_vmem(PL_F32, 8, 128), pl_dma_semaphore()}); }
PROGRAM(waits_before_it_signals, "") { pl_launch(waits_before_it_signals, .args = {pl_regular_semaphore()}); }
PROGRAM(signals_one_side, "") { pl_launch(signals_one_side, .args = {pl_regular_semaphore()}); }
PROGRAM(starts_before_it_reads, "")
{
    PlRef out = pl_output_in(PL_VMEM, PL_F32, 2, 8, 128);
    pl_launch(starts_before_it_reads, .args = {pl_input(PL_F32, 2, 8, 128), pl_vmem(PL_F32, 8, 128), out, pl_dma_semaphore()});
}
static double first_two(const PlRef *x, int device, const int64_t *index)
{
    return pl_given(x[0], device, index[0], index[1], index[2]);
}
PROGRAM(reads_the_next_slot, "")
{
    PlRef x = pl_input(PL_F32, 3, 8, 128), out = pl_output(PL_F32, 2, 8, 128);
    pl_launch(reads_the_next_slot, .args = {x, out, pl_dma_semaphore()});
    pl_expect_values(out, first_two, 0, x);
}
PROGRAM(sends_to_the_wrong_side, "")
{
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_output(PL_F32, 8, 128);
    pl_launch(sends_to_the_wrong_side, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
}
PROGRAM(crossed_semaphores, "")
{
    pl_launch(crossed_semaphores, .args = {pl_input(PL_F32, 8, 128), pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore()});
}
PROGRAM(signals_two, "") { pl_launch(signals_two, .args = {pl_regular_semaphore()}); }
PROGRAM(waits_on_the_other, "") { pl_launch(waits_on_the_other, .args = {pl_regular_semaphore(), pl_regular_semaphore()}); }
PROGRAM(waits_for_exactly, "") { pl_launch(waits_for_exactly, .args = {pl_flags()}); }
PROGRAM(looks_ahead, "")
{
    pl_launch(looks_ahead, .args = {pl_input(PL_F32, 2, 8, 128), pl_vmem(PL_F32, 2, 8, 128), pl_dma_semaphore(2)});
}
PROGRAM(one_epoch_for_all, "")
{
    PlRef x = pl_input(PL_F32, 2, 8, 128), out = pl_output_in(PL_VMEM, PL_F32, 2, 8, 128);
    pl_launch(one_epoch_for_all, .args = {x, pl_vmem(PL_F32, 8, 128), out, pl_flags(), pl_dma_semaphore(2), pl_dma_semaphore(2)});
    pl_expect_permute(out, x, 1);
}
