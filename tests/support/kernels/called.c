/* called.c - one function that sends, called for both halves: its calls marked and not, its copies waited for too late and in time. */
#include <heddle/pallas.h>

static void send(PlRef from, PlRef to, PlRef send_sem, PlRef recv_sem, int right)
{
    PlCopy copy = pl_make_async_remote_copy(from, to, send_sem, recv_sem, pl_device(right));
    pl_copy_start(copy);
    pl_copy_wait_send(copy);
}

static int right_of(int device)
{
    return (device + 1) % pl_num_devices();
}

static void send_halves(PlRef input, PlRef output, PlRef send_sem, PlRef recv_sem)
{
    int right = PL_CALL(right_of(pl_device_id()));
    PL_CALL(send(input, pl_at(output, 0), send_sem, recv_sem, right));
    PL_CALL(send(input, pl_at(output, 1), send_sem, recv_sem, right));
}

static void send_unmarked(PlRef input, PlRef output, PlRef send_sem, PlRef recv_sem)
{
    int right = right_of(pl_device_id());
    send(input, pl_at(output, 0), send_sem, recv_sem, right);
    send(input, pl_at(output, 1), send_sem, recv_sem, right);
}

/* Copies the target of both halves; the waits for them are before that, or after it. */
static void look(PlRef output, PlRef seen, PlRef own_sem)
{
    PlCopy copy = pl_make_async_copy(output, seen, own_sem);
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

static void wait_for_both(PlRef output, PlRef recv_sem)
{
    pl_copy_wait_recv(pl_make_async_remote_copy(output, output, recv_sem, recv_sem, PL_OWN));
}

KERNEL(in_time, input, output, seen, send_sem, recv_sem, own_sem)
{
    PL_CALL(send_halves(input, output, send_sem, recv_sem));
    wait_for_both(output, recv_sem);
    look(output, seen, own_sem);
}

KERNEL(too_late, input, output, seen, send_sem, recv_sem, own_sem)
{
    PL_CALL(send_halves(input, output, send_sem, recv_sem));
    look(output, seen, own_sem);
    wait_for_both(output, recv_sem);
}

KERNEL(too_late_unmarked, input, output, seen, send_sem, recv_sem, own_sem)
{
    send_unmarked(input, output, send_sem, recv_sem);
    look(output, seen, own_sem);
    wait_for_both(output, recv_sem);
}

/* Which of the first two calls is made depends on the order. */
KERNEL(some_orders, input, output, send_sem, recv_sem, ready)
{
    int right = right_of(pl_device_id());
    if (pl_semaphore_read(ready) == 0)
        PL_CALL(send(input, output, send_sem, recv_sem, right));
    else
        PL_CALL(send(input, output, send_sem, recv_sem, right));
    pl_semaphore_signal(ready, 1, pl_device(right));
    pl_semaphore_wait(ready, 1);
    PL_CALL(send(input, output, send_sem, recv_sem, right));
    wait_for_both(output, recv_sem);
    wait_for_both(output, recv_sem);
}

static PlRef halves(void)
{
    return pl_output(PL_F32, 2, 8, 128);
}

PROGRAM(in_time, "two calls of one function, waited for")
{
    PL_NEEDS(pl_num_devices() >= 2, "a neighbour");
    pl_launch(in_time, .args = {pl_input(PL_F32, 8, 128), PL_CALL(halves()), halves(), pl_dma_semaphore(), pl_dma_semaphore(),
                                pl_dma_semaphore()});
}

PROGRAM(too_late, "two calls of one function, each of which races")
{
    PL_NEEDS(pl_num_devices() >= 2, "a neighbour");
    pl_launch(too_late, .args = {pl_input(PL_F32, 8, 128), halves(), halves(), pl_dma_semaphore(), pl_dma_semaphore(),
                                 pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 2);
}

PROGRAM(too_late_unmarked, "the same with nothing said of the calls")
{
    PL_NEEDS(pl_num_devices() >= 2, "a neighbour");
    pl_launch(too_late_unmarked, .args = {pl_input(PL_F32, 8, 128), halves(), halves(), pl_dma_semaphore(), pl_dma_semaphore(),
                                          pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 2);
}

PROGRAM(some_orders, "both writes race, wherever the first one is called")
{
    PL_NEEDS(pl_num_devices() >= 2, "a neighbour");
    pl_launch(some_orders, .args = {pl_input(PL_F32, 8, 128), pl_output(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(),
                                    pl_regular_semaphore()});
    pl_expect_fault(PL_RACE, .from = 2);
}
