/* conflicts.c - kernels whose course depends on the order on one object, for tests of the search over classes from the command line. */
#include <heddle/pallas.h>

/* Many classes, all alike. */
KERNEL(tickets, word, other)
{
    for (int turn = 0; turn < 2; turn++)
        pl_flag_store(other, pl_flag_fetch_add(word, 1, pl_device(0)), pl_device(0));
}

PROGRAM(tickets, "each device takes two tickets and writes them down at one place")
{
    pl_launch(tickets, .args = {pl_flags(), pl_flags()}, .skip_device_barrier = true);
}

/* A poll that never ends, in the classes in which the word is replaced before it is seen. */
KERNEL(misses, word)
{
    if (pl_device_id() == 0)
        while (pl_flag_load(word, PL_OWN) != 1)
            ;
    else
        for (int value = 1; value <= 2; value++)
            pl_flag_store(word, value, pl_device(0));
}

PROGRAM(polls_what_was_replaced, "the number polled for may have been replaced by the next")
{
    PL_NEEDS(pl_num_devices() == 2, "one that polls and one that writes");

    pl_launch(misses, .args = {pl_flags()}, .skip_device_barrier = true);
    pl_expect_fault(PL_NO_PROGRESS, .from = 2);
}

/* What a look at a receive semaphore shows depends on how far the copy is: and it is what the kernel hands back. */
KERNEL(keeps_the_count, source, target, seen, send_sem, recv_sem)
{
    PlCopy copy = pl_make_async_remote_copy(source, target, send_sem, recv_sem, pl_device(1));

    if (pl_device_id() == 0) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    } else {
        pl_store_int(pl_at(seen, 0), (int32_t)pl_semaphore_read(recv_sem));
        pl_copy_wait_recv(copy);
    }
}

PROGRAM(count_is_a_result, "the count of what has arrived so far is handed back")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    PlRef source = pl_input(PL_I32, 4), target = pl_output(PL_I32, 4), seen = pl_output_in(PL_SMEM, PL_I32, 1);

    pl_launch(keeps_the_count, .args = {source, target, seen, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_DIVERGENCE, .from = 2);
}
