/* causes.c - faults whose cause lies elsewhere than their lines: test_causes.c says what must be said of each. Append only: it knows lines. */
#include <heddle/pallas.h>

/* The second round's barrier passes on the flag of the first. */
KERNEL(two_rounds, x, inbox, out, flag, sent, received)
{
    int n = pl_num_devices(), me = pl_device_id(), right = (me + 1) % n, left = (me + n - 1) % n;
    for (int round = 0; round < 2; round++) {
        pl_store(inbox, pl_tile_zeros(PL_F32, 8));
        pl_flag_store(flag, 1, pl_device(left));
        pl_flag_wait(flag, PL_GE, 1, PL_OWN);
        PlCopy copy = pl_async_remote_copy(pl_at(x, round), inbox, pl_at(sent, round), pl_at(received, round), pl_device(right));
        pl_copy_wait(copy);
        pl_store(pl_at(out, round), pl_load(inbox));
    }
}
PROGRAM(epoch, "")
{
    PlRef x = pl_input(PL_F32, 2, 8), out = pl_output_in(PL_VMEM, PL_F32, 2, 8);
    pl_launch(two_rounds, .args = { x, pl_vmem(PL_F32, 8), out, pl_flags(), pl_dma_semaphore(2), pl_dma_semaphore(2) });
}

/* The credit of device 1, who has read, comes as well from device 2. */
KERNEL(send_twice, x, y, sent, received, credit)
{
    PlCopy copy = pl_make_async_remote_copy(x, y, sent, received, pl_device(1));
    if (pl_device_id() == 0) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
        pl_semaphore_wait(credit, 1);
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
        pl_semaphore_wait(credit, 1);
    } else if (pl_device_id() == 1) {
        pl_copy_wait_recv(copy);
        pl_load(y);
        pl_semaphore_signal(credit, 1, pl_device(0));
        pl_copy_wait_recv(copy);
    } else {
        pl_semaphore_signal(credit, 1, pl_device(0));
    }
}
PROGRAM(credit, "")
{
    PL_NEEDS(pl_num_devices() == 3, "three devices");
    pl_launch(send_twice, .args = { pl_input(PL_F32, 8), pl_vmem(PL_F32, 8), pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore() });
}

/* Each waits for its own word of one line of flags; each has lost its signal. */
KERNEL(own_words, flags)
{
    PlRef own = pl_at(flags, pl_device_id());
    pl_flag_store(own, 1, PL_OWN);
    pl_flag_store(own, 0, PL_OWN);
    pl_flag_wait(own, PL_NE, 0, PL_OWN);
}
PROGRAM(words, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    pl_launch(own_words, .args = { pl_flags(2) });
}

/* Core 0 stores the next value while core 1 may still load the one before. */
KERNEL(overwrite, shared, out, full)
{
    PlRef there = pl_core_ref(shared, 0);
    for (int i = 0; i < 2; i++)
        if (pl_core_index() == 0) {
            pl_store(there, pl_tile_full(PL_F32, i, 8));
            pl_semaphore_signal(full, 1, pl_core(1));
        } else {
            pl_semaphore_wait(full, 1);
            pl_store(pl_at(out, i), pl_load(there));
        }
}
PROGRAM(direction, "")
{
    PL_NEEDS(pl_num_cores() == 2, "two cores");
    pl_launch(overwrite, .args = { pl_vmem(PL_F32, 8), pl_output_in(PL_VMEM, PL_F32, 2, 8), pl_regular_semaphore() });
}

/* Device 0 waits for what device 1 stores as well as for what it means, the store of device 2. */
KERNEL(wait_for_either, flags)
{
    if (pl_device_id() == 1)
        pl_flag_store(pl_at(flags, 0), 1, pl_device(0));
    if (pl_device_id() == 2) {
        pl_flag_store(pl_at(flags, 1), 7, pl_device(0));
        pl_flag_store(pl_at(flags, 0), 1, pl_device(0));
    }
    if (pl_device_id() == 0) {
        pl_flag_wait(pl_at(flags, 0), PL_EQ, 1, PL_OWN);
        pl_assert(pl_flag_load(pl_at(flags, 1), PL_OWN) == 7);
    }
}
PROGRAM(either, "")
{
    PL_NEEDS(pl_num_devices() == 3, "three devices");
    pl_launch(wait_for_either, .args = { pl_flags(2) });
}

/* Polls two words; nobody clears the second. */
KERNEL(poll_two, flags)
{
    pl_flag_store(pl_at(flags, 1), 1, PL_OWN);
    while (pl_flag_load(pl_at(flags, 0), PL_OWN) + pl_flag_load(pl_at(flags, 1), PL_OWN) != 0)
        ;
}
PROGRAM(poll, "") { pl_launch(poll_two, .args = { pl_flags(2) }); }

/* Device 1 clears the flag before device 0 sets it, or after. */
KERNEL(clear, flag)
{
    pl_flag_store(flag, pl_device_id() == 0, pl_device(0));
    while (pl_device_id() == 0 && pl_flag_load(flag, PL_OWN) != 0)
        ;
}
PROGRAM(cleared, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    pl_launch(clear, .args = { pl_flags() });
}

/* Descriptors are made on other lines than the start of the copy. */
KERNEL(descriptor, x, inbox, sent, received)
{
    PlCopy copy = pl_make_async_remote_copy(x, pl_at(inbox, 0), sent, received, pl_device(1 - pl_device_id()));
    pl_copy_start(copy);
    pl_load(pl_at(inbox, 0));
    pl_copy_wait(copy);
}
PROGRAM(made, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    pl_launch(descriptor, .args = { pl_input(PL_F32, 8), pl_vmem(PL_F32, 2, 8), pl_dma_semaphore(), pl_dma_semaphore() });
}

/* Each core has an out of its own. */
KERNEL(fetch_own, x, y, out, sem)
{
    PlCopy copy = pl_async_copy(pl_at(x, pl_core_index()), y, sem);
    pl_copy_wait(copy);
    pl_store(out, pl_load(y));
}
PROGRAM(own_out, "")
{
    PL_NEEDS(pl_num_cores() == 2, "two cores");
    PlRef x = pl_input(PL_F32, 2, 8), out = pl_output_in(PL_VMEM, PL_F32, 8);
    pl_launch(fetch_own, .args = { x, pl_vmem(PL_F32, 8), out, pl_dma_semaphore() });
    pl_expect_equal(out, pl_at(x, 0));
}
KERNEL(fetch_part, x, y, out, sem)
{
    PlCopy copy = pl_async_copy(pl_at(x, pl_core_index()), y, sem);
    pl_copy_wait(copy);
    pl_store(pl_at(out, pl_core_index()), pl_load(y));
}
PROGRAM(part_out, "")
{
    PL_NEEDS(pl_num_cores() == 2, "two cores");
    PlRef x = pl_input(PL_F32, 2, 8), out = pl_output_in(PL_VMEM, PL_F32, 2, 8);
    pl_launch(fetch_part, .args = { x, pl_vmem(PL_F32, 8), out, pl_dma_semaphore() });
    pl_expect_equal(out, x);
}

/* Waits once more than it is signalled. */
KERNEL(once_more, ready)
{
    for (int i = 0; i < 2; i++)
        pl_semaphore_signal(ready, 1, PL_OWN);
    for (int i = 0; i <= 2; i++)
        pl_semaphore_wait(ready, 1);
}
PROGRAM(too_often, "") { pl_launch(once_more, .args = { pl_regular_semaphore() }); }
KERNEL(read_once_more, x)
{
    for (int row = 0; row <= 2; row++)
        pl_load(pl_at(x, row));
}
PROGRAM(beyond, "") { pl_launch(read_once_more, .args = { pl_input_in(PL_VMEM, PL_F32, 2, 8) }); }

/* The wait for the word of the reader comes only from the third round on. */
KERNEL(rounds_without_room, x, inbox, sent, received, room)
{
    PlDevice other = pl_device(1 - pl_device_id());
    for (int i = 0; i < 2; i++) {
        if (i > 1)
            pl_semaphore_wait(room, 1);
        PlCopy copy = pl_async_remote_copy(x, inbox, sent, received, other);
        pl_copy_wait(copy);
        pl_load(inbox);
        if (i == 0)
            pl_semaphore_signal(room, 1, other);
    }
}
PROGRAM(never_done, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    pl_launch(rounds_without_room, .args = { pl_input(PL_F32, 8), pl_vmem(PL_F32, 8), pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore() });
}

/* Each looks at a count that the other's signal is to make, and waits for its own word. */
KERNEL(hears_itself, data, ready)
{
    pl_semaphore_signal(data, 1, pl_device(1 - pl_device_id()));
    pl_semaphore_signal(ready, 1, PL_OWN);
    pl_semaphore_wait(ready, 1);
    pl_expect_count(data, 1);
    pl_semaphore_wait(data, 1);
}
PROGRAM(own_word, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    pl_launch(hears_itself, .args = { pl_regular_semaphore(), pl_regular_semaphore() });
}
KERNEL(to_itself, x, sent, received)
{
    PlCopy copy = pl_async_remote_copy(x, x, sent, received, PL_OWN);
    pl_copy_wait(copy);
}
PROGRAM(own_device, "") { pl_launch(to_itself, .args = { pl_vmem(PL_F32, 8), pl_dma_semaphore(), pl_dma_semaphore() }); }

/* Device 1 looks how much has arrived: the copy may land before that, or after. */
KERNEL(looks, x, inbox, sent, received, extra)
{
    PlCopy copy = pl_make_async_remote_copy(x, inbox, sent, received, pl_device(1));
    if (pl_device_id() == 0) {
        pl_semaphore_signal(extra, 1, pl_device(1));
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    } else {
        bool arrived = pl_semaphore_read(received) > 0;
        pl_copy_wait_recv(copy);
        if (arrived)
            pl_semaphore_wait(extra, 1);
    }
}
PROGRAM(look_leaves, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    pl_launch(looks, .args = { pl_input(PL_F32, 8), pl_vmem(PL_F32, 8), pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore() });
}

KERNEL(expects, x, inbox, sent, received)
{
    PlCopy copy = pl_make_async_remote_copy(x, inbox, sent, received, pl_device(1));
    if (pl_device_id() == 0) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    } else {
        pl_assert(pl_semaphore_read(received) > 0);
        pl_copy_wait_recv(copy);
    }
}
PROGRAM(look_expects, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    pl_launch(expects, .args = { pl_input(PL_F32, 8), pl_vmem(PL_F32, 8), pl_dma_semaphore(), pl_dma_semaphore() });
}

/* A sender that hears only of itself sends the next value while the one before is read: by a count, and by a flag. */
KERNEL(deaf, x, inbox, sent, received, ready)
{
    int other = 1 - pl_device_id();
    for (int i = 0; i < 2; i++) {
        pl_semaphore_signal(ready, 1, PL_OWN);
        pl_semaphore_wait(ready, 1);
        PlCopy copy = pl_async_remote_copy(x, inbox, sent, received, pl_device(other));
        pl_copy_wait(copy);
        pl_load(inbox);
    }
}
PROGRAM(deaf_copies, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    pl_launch(deaf, .args = { pl_input(PL_F32, 8), pl_vmem(PL_F32, 8), pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore() });
}
KERNEL(deaf_to_flags, start, end)
{
    for (int call = 1; call <= 2; call++) {
        pl_flag_store(start, call, PL_OWN);
        pl_flag_wait(start, PL_EQ, call, PL_OWN);
        pl_flag_store(end, call, pl_device(1 - pl_device_id()));
        pl_flag_wait(end, PL_EQ, call, PL_OWN);
    }
}
PROGRAM(deaf_words, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    pl_launch(deaf_to_flags, .args = { pl_flags(), pl_flags() });
}

/* Writes one row too far; adds what the wrong device sent. */
KERNEL(row_too_far, x, out)
{
    for (int i = 0; i < 2; i++)
        pl_store(pl_at(out, i + 1), pl_load(pl_at(x, i)));
}
static double given_row(const PlRef *refs, int device, const int64_t *index)
{
    return index[0] < 2 ? pl_given(refs[0], device, index[0], index[1]) : PL_ANY_VALUE;
}
PROGRAM(nearest, "")
{
    PlRef x = pl_input_in(PL_VMEM, PL_F32, 2, 8), out = pl_output_in(PL_VMEM, PL_F32, 3, 8);
    pl_launch(row_too_far, .args = { x, out });
    pl_expect_values(out, given_row, 0, x);
}
KERNEL(adds_its_own, x, inbox, out, sent, received)
{
    PlCopy copy = pl_async_remote_copy(x, inbox, sent, received, PL_OWN);
    pl_copy_wait(copy);
    pl_store(out, pl_tile_add(pl_load(x), pl_load(inbox)));
}
static double sum_of_both(const PlRef *refs, int device, const int64_t *index)
{
    return pl_given(refs[0], device, index[0]) + pl_given(refs[0], 1 - device, index[0]);
}
PROGRAM(mixed, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    PlRef x = pl_input_in(PL_VMEM, PL_F32, 8), out = pl_output_in(PL_VMEM, PL_F32, 8);
    pl_launch(adds_its_own, .args = { x, pl_vmem(PL_F32, 8), out, pl_dma_semaphore(), pl_dma_semaphore() });
    pl_expect_values(out, sum_of_both, 0, x);
}


/* Hands back how much has arrived. */
KERNEL(keeps, x, inbox, seen, sent, received)
{
    PlCopy copy = pl_make_async_remote_copy(x, inbox, sent, received, pl_device(1));
    if (pl_device_id() == 0) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    } else {
        pl_store_int(pl_at(seen, 0), (int32_t)pl_semaphore_read(received));
        pl_copy_wait_recv(copy);
    }
}
PROGRAM(look_keeps, "")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    PlRef x = pl_input(PL_F32, 8), seen = pl_output_in(PL_SMEM, PL_I32, 1);
    pl_launch(keeps, .args = { x, pl_vmem(PL_F32, 8), seen, pl_dma_semaphore(), pl_dma_semaphore() });
}
