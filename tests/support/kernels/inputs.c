/* inputs.c - programs whose inputs have a domain, for test_inputs. */
#include <heddle/pallas.h>

KERNEL(signal_and_wait, table, s)
{
    for (int64_t i = 0; i < pl_size(table, 0); i++)
        pl_semaphore_signal(s, 1 + pl_load_int(pl_at(table, i)));
    for (int64_t i = 0; i < pl_size(table, 0); i++)
        pl_semaphore_wait(s, 1 + pl_load_int(pl_at(table, i)));
}

PROGRAM(depends, "the domain of the table depends on a choice: 1 + 4 + 9 inputs")
{
    int64_t most = pl_choose("most", 0, 2);
    PlRef table = pl_table_among(PL_I32, 0, most, 2);
    pl_launch(signal_and_wait, .args = { table, pl_regular_semaphore() });
}

PROGRAM(own, "each device has its own value: 9 inputs of two devices")
{
    PlRef table = pl_input_among(PL_I32, 0, 2, 1);
    pl_launch(signal_and_wait, .args = { table, pl_regular_semaphore() });
}

PROGRAM(sums, "tables of three whose sum is 2: six of 27")
{
    PlRef table = pl_table_among(PL_I8, 0, 2, 3);
    pl_require(pl_given(table, 0, 0) + pl_given(table, 0, 1) + pl_given(table, 0, 2) == 2, "the sum is 2");
    pl_launch(signal_and_wait, .args = { table, pl_regular_semaphore() });
}

PROGRAM(remembers, "PROGRAM leaves something behind, which the next input must not see")
{
    static int built;
    PlRef table = pl_table_among(PL_I32, 0, 3, 2);
    built++;
    pl_require(built == 1, "the first time");
    pl_launch(signal_and_wait, .args = { table, pl_regular_semaphore() });
}

KERNEL(crashes_at_three, table, s)
{
    static int *const nowhere = (int *)8;
    if (pl_load_int(pl_at(table, 1)) == 3)
        *nowhere = 1;
    pl_semaphore_signal(s, 1);
    pl_semaphore_wait(s, 1);
}

PROGRAM(crashes, "one element of 3 kills the process")
{
    PlRef table = pl_table_among(PL_I32, 0, 3, 3);
    pl_launch(crashes_at_three, .args = { table, pl_regular_semaphore() });
}

KERNEL(forgets_seven, table, s)
{
    for (int64_t i = 0; i < pl_size(table, 0); i++)
        if (pl_load_int(pl_at(table, i)) == 7 && pl_load_int(pl_at(table, 0)) > 2)
            pl_semaphore_signal(s, 1);
}

PROGRAM(deep, "wrong if some element is 7 and the first one more than 2: 10^8 inputs")
{
    PlRef table = pl_table_among(PL_I32, 0, 9, 8);
    pl_launch(forgets_seven, .args = { table, pl_regular_semaphore() });
}

KERNEL(asks, table, s)
{
    int64_t count = pl_load_int(table);
    if (pl_device_id() == 0)
        pl_semaphore_signal(s, 1, pl_device(1));
    if (pl_device_id() == 1 && pl_semaphore_read(s) == 0 && count == 2)
        pl_semaphore_wait(s, 2);
    if (pl_device_id() == 1)
        pl_semaphore_wait(s, 1);
}

PROGRAM(looks, "a look at a count, which decides only if the table says 2")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    PlRef table = pl_table_among(PL_I32, 0, 3);
    pl_launch(asks, .args = { table, pl_regular_semaphore() });
}

KERNEL(works, s) { pl_semaphore_signal(s, 1); pl_semaphore_wait(s, 1); }

PROGRAM(closed, "nothing is open")
{
    pl_launch(works, .args = { pl_regular_semaphore() });
}

PROGRAM(floats, "a domain of floats")
{
    pl_table_among(PL_F32, 0, 1, 2);
    pl_launch(works, .args = { pl_regular_semaphore() });
}

PROGRAM(too_wide, "a domain that the type does not hold")
{
    pl_table_among(PL_I8, 0, 200, 2);
    pl_launch(works, .args = { pl_regular_semaphore() });
}

static double seven(int device, const int64_t *index)
{
    (void)device, (void)index;
    return 7;
}

PROGRAM(no_domain, "a table that steers has no domain")
{
    PlRef table = pl_fill(pl_input_in(PL_SMEM, PL_I32, 3), seven);
    pl_launch(signal_and_wait, .args = { table, pl_regular_semaphore() });
}

PROGRAM(constant, "a table that steers belongs to the program")
{
    PlRef table = pl_constant(pl_fill(pl_input_in(PL_SMEM, PL_I32, 3), seven));
    pl_launch(signal_and_wait, .args = { table, pl_regular_semaphore() });
}

KERNEL(take, table, output)
{
    pl_store_int(output, pl_load_int(pl_at(table, 0)) + pl_load_int(pl_at(table, 1)));
}

KERNEL(sum, table, wanted)
{
    pl_store(wanted, pl_tile_reshape(pl_tile_reduce(PL_ADD, pl_load(table), 0), 1));
}

static void take_and_compare(bool writes)
{
    PlRef table = pl_named(pl_table_among(PL_I32, 0, 2, 2), "pairs"), output = pl_output_in(PL_SMEM, PL_I32, 1);
    PlRef wanted = pl_output(PL_I32, 1);
    pl_launch(take, .args = { table, output });
    if (writes)
        pl_host(sum, table, wanted);
    pl_expect_same(output, wanted, 0);
}

PROGRAM(same, "what is expected is computed from each input")
{
    take_and_compare(true);
}

KERNEL(take_first_twice, table, output)
{
    pl_store_int(output, 2 * pl_load_int(pl_at(table, 0)));
}

PROGRAM(not_same, "right if both elements are equal")
{
    PlRef table = pl_named(pl_table_among(PL_I32, 0, 2, 2), "pairs"), output = pl_output_in(PL_SMEM, PL_I32, 1);
    PlRef wanted = pl_output(PL_I32, 1);
    pl_launch(take_first_twice, .args = { table, output });
    pl_host(sum, table, wanted);
    pl_expect_same(output, wanted, 0);
}

PROGRAM(nothing_wanted, "nobody writes what is expected")
{
    take_and_compare(false);
}

PROGRAM(other_shape, "what is expected has another shape")
{
    PlRef output = pl_output(PL_I32, 1), wanted = pl_fill(pl_input(PL_I32, 2), seven);
    pl_host(sum, wanted, output);
    pl_expect_same(output, wanted, 0);
}

/* Each table has a shape of its own. Only five steps in a row lead to the fault, and each shows a line that was never seen. */
KERNEL(climbs, table, s)
{
    for (int64_t i = 0; i < pl_size(table, 0); i++)
        pl_semaphore_signal(s, pl_load_int(pl_at(table, i)));
    for (int64_t i = 0; i < pl_size(table, 0); i++)
        pl_semaphore_wait(s, pl_load_int(pl_at(table, i)));
    if (pl_load_int(pl_at(table, 0)) != 5)
        return;
    if (pl_load_int(pl_at(table, 1)) != 3)
        return;
    if (pl_load_int(pl_at(table, 2)) != 7)
        return;
    if (pl_load_int(pl_at(table, 3)) != 2)
        return;
    if (pl_load_int(pl_at(table, 4)) == 6)
        pl_semaphore_signal(s, 3);
}

PROGRAM(ladder, "five elements of six must be right for the fault: one table of 32768")
{
    PlRef table = pl_table_among(PL_I32, 0, 7, 6);
    pl_launch(climbs, .args = { table, pl_regular_semaphore() });
}
