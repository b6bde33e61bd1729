/* other_devices.c - as other_orders.c, between devices: waits that something else than what is meant satisfies. */
#include <heddle/pallas.h>

#define TILE PL_F32, 8, 128

KERNEL(fetches_twice, x, tile, out, d)
{
    PlCopy copy = pl_async_copy(pl_at(x, 0), tile, d);
    pl_copy_wait(copy);
    copy = pl_async_copy(pl_at(x, 1), tile, d);
    pl_store(pl_at(out, 0), pl_load(tile));
    pl_copy_wait(copy);
    pl_store(pl_at(out, 1), pl_load(tile));
}

PROGRAM(loads_while_fetching, "the next block comes while this one is loaded")
{
    pl_launch(fetches_twice, .args = {pl_input(PL_F32, 2, 8, 128), pl_vmem(TILE), pl_output_in(PL_VMEM, PL_F32, 2, 8, 128),
                                      pl_dma_semaphore()});
}

/* The flag of the first round lets the second one pass. */
KERNEL(two_rounds, x, inbox, out, f, s, r)
{
    int n = pl_num_devices(), me = pl_device_id();

    for (int round = 0; round < 2; round++) {
        pl_store(inbox, pl_tile_zeros(PL_F32, 8, 128));
        pl_flag_store(f, 1, pl_device((me + n - 1) % n));
        pl_flag_wait(f, PL_GE, 1, PL_OWN);
        pl_copy_wait(pl_async_remote_copy(pl_at(x, round), inbox, pl_at(s, round), pl_at(r, round), pl_device((me + 1) % n)));
        pl_store(pl_at(out, round), pl_load(inbox));
    }
}

PROGRAM(old_flag, "a flag that is never cleared")
{
    PlRef x = pl_input(PL_F32, 2, 8, 128), out = pl_output_in(PL_VMEM, PL_F32, 2, 8, 128);

    pl_launch(two_rounds, .args = {x, pl_vmem(TILE), out, pl_flags(), pl_dma_semaphore(2), pl_dma_semaphore(2)});
    pl_expect_permute(out, x, 1);
}

KERNEL(waits_for_one_of_two, f)
{
    if (pl_device_id() == 1)
        pl_flag_store(pl_at(f, 0), 1, pl_device(0));
    if (pl_device_id() == 2) {
        pl_flag_store(pl_at(f, 1), 7, pl_device(0));
        pl_flag_store(pl_at(f, 0), 1, pl_device(0));
    }
    if (pl_device_id() == 0) {
        pl_flag_wait(pl_at(f, 0), PL_EQ, 1, PL_OWN);
        pl_assert(pl_flag_load(pl_at(f, 1), PL_OWN) == 7);
    }
}

PROGRAM(other_sender, "the wait is meant for device 2, and device 1 satisfies it")
{
    PL_NEEDS(pl_num_devices() == 3, "one that waits and two that store");
    pl_launch(waits_for_one_of_two, .args = {pl_flags(2)});
}

KERNEL(waits_for_its_word, f)
{
    pl_flag_wait(pl_at(f, pl_device_id()), PL_NE, 0, PL_OWN);
}

PROGRAM(words, "each waits for a word of its own")
{
    pl_launch(waits_for_its_word, .args = {pl_flags(4)});
}

KERNEL(waits_for_its_semaphore, s)
{
    pl_semaphore_wait(pl_at(s, pl_device_id()), 1);
}

PROGRAM(semaphores, "each waits for a semaphore of its own")
{
    pl_launch(waits_for_its_semaphore, .args = {pl_regular_semaphore(4)});
}

KERNEL(clears_its_word, f)
{
    int me = pl_device_id();

    pl_flag_store(pl_at(f, me), 1, PL_OWN);
    pl_flag_store(pl_at(f, me), 0, PL_OWN);
    pl_flag_wait(pl_at(f, me), PL_NE, 0, PL_OWN);
}

PROGRAM(cleared, "each has cleared the word that it waits for")
{
    pl_launch(clears_its_word, .args = {pl_flags(4)});
}

KERNEL(polls_for_data, x, box, s, r)
{
    PlCopy copy = pl_make_async_remote_copy(x, box, s, r, pl_device(1));

    if (pl_device_id() == 0) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    } else if (pl_device_id() == 1) {
        while (pl_load_int(pl_at(box, 0)) == 0)
            ;
        pl_copy_wait_recv(copy);
    }
}

static double one(int device, const int64_t *index)
{
    (void)device;
    (void)index;
    return 1;
}

PROGRAM(data_as_flag, "what a copy delivers is polled")
{
    PlRef x = pl_input(PL_I32, 1);

    pl_fill(x, one);
    pl_launch(polls_for_data, .args = {x, pl_smem(PL_I32, 1), pl_dma_semaphore(), pl_dma_semaphore()});
}

/* The credit is meant to come from the reader; device 2 gives one, too. */
KERNEL(gives_a_credit, x, y, s, r, flag, credit)
{
    PlCopy copy = pl_make_async_remote_copy(x, y, s, r, pl_device(1));
    bool by_flag = pl_parameter(by_flag);

    for (int round = 0; round < 2; round++) {
        if (pl_device_id() == 0) {
            pl_copy_start(copy);
            pl_copy_wait_send(copy);
            if (!by_flag)
                pl_semaphore_wait(credit, 1);
            else if (round == 0)
                pl_flag_wait(flag, PL_GE, 1, PL_OWN);
        }
        if (pl_device_id() == 1) {
            pl_copy_wait_recv(copy);
            pl_load(y);
        }
        if ((pl_device_id() == 1 || pl_device_id() == 2) && round == 0) {
            if (by_flag)
                pl_flag_add(flag, 1, pl_device(0));
            else
                pl_semaphore_signal(credit, 1, pl_device(0));
        }
    }
}

PROGRAM(anybodys_credit, "a credit of device 2 lets the sender overwrite what device 1 reads")
{
    (void)PARAMETER(by_flag, 0, 0, 1);

    PL_NEEDS(pl_num_devices() == 3, "a sender, a reader, and one that gives credit for nothing");
    pl_launch(gives_a_credit, .args = {pl_input(TILE), pl_vmem(TILE), pl_dma_semaphore(), pl_dma_semaphore(), pl_flags(),
                                       pl_regular_semaphore()});
}
