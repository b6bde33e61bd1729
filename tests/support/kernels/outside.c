/* outside.c - slices of slices that leave their buffer, though the bytes that they name are in it; and what padding holds. */
#include <heddle/pallas.h>

/* Columns 8 to 11 of 10 are taken; what is taken of those is inside or not. */
KERNEL(slice_of_slice, array)
{
    PlRef last = pl_at(array, 1, pl_ds(8, 4));
    switch (pl_parameter(which)) {
    case 0: pl_load(pl_at(last, 3)); break;
    case 1: pl_load(pl_at(last, pl_ds(2, 2))); break;
    case 2: pl_load(pl_at(last, pl_ds(1, 2))); break;
    case 3: pl_load(pl_at(last, 1)); break;
    default: pl_load(pl_at(last, pl_ds(0, 2))); break;
    }
}

static void slice_of_slice_program(int least, int greatest)
{
    pl_choose("which", least, greatest);
    pl_launch(slice_of_slice, .args = { pl_input_in(PL_VMEM, PL_I32, 4, 10) });
}

PROGRAM(slice_of_slice_outside, "elements behind the end of a row, which are those of the next row")
{
    slice_of_slice_program(0, 2);
    pl_expect_fault(PL_OUT_OF_BOUNDS);
}

PROGRAM(slice_of_slice_inside, "the elements of such a slice that are in the row")
{
    slice_of_slice_program(3, 4);
}

/* Right where rows 5 to 7 and columns 100 to 127 are padding. */
KERNEL(reaches, array)
{
    pl_load(pl_at(array, pl_ds(0, pl_parameter(rows)), pl_ds(0, pl_parameter(columns))));
}

PROGRAM(reaches_padding, "into the padding of both dimensions")
{
    pl_choose("rows", 8, 8);
    pl_choose("columns", 128, 128);
    pl_launch(reaches, .args = { pl_input_in(PL_VMEM, PL_I32, 5, 100) });
}

PROGRAM(reaches_beyond_columns, "into the padding of rows, but past that of columns")
{
    pl_choose("rows", 6, 6);
    pl_choose("columns", 129, 129);
    pl_launch(reaches, .args = { pl_input_in(PL_VMEM, PL_I32, 5, 100) });
}

/* The outer dimension has no padding, even if a reshape has it where the rows were. */
KERNEL(reshaped, array)
{
    pl_load(pl_at(pl_reshape(array, 1, 5, 5, 5), 0, pl_ds(0, 7)));
}

PROGRAM(reshaped_reaches_beyond, "past the outer dimension")
{
    pl_launch(reshaped, .args = { pl_input_in(PL_VMEM, PL_I32, 5, 5, 5) });
}

/* Where they are started the copies are all right; where they are described they are not. */
KERNEL(described, x, y, send_sem, recv_sem)
{
    int to = pl_device_id() + 1, last = pl_size(x, 0);
    PlCopy too_far = pl_make_async_remote_copy(x, y, send_sem, recv_sem, pl_device(to));
    PlCopy too_small = pl_make_async_remote_copy(x, pl_at(y, pl_ds(0, 2)), send_sem, recv_sem, pl_device(0));
    PlCopy no_row = pl_make_async_copy(pl_at(x, last), pl_at(y, 0), recv_sem);
    switch (pl_parameter(which)) {
    case 0: pl_copy_start(too_far); break;
    case 1: pl_copy_start(too_small); break;
    default: pl_copy_start(no_row); break;
    }
}

PROGRAM(described_wrongly, "a device, a shape and an index that are wrong")
{
    pl_choose("which", 0, 2);
    pl_launch(described, .args = { pl_input(PL_I32, 4, 10), pl_hbm(PL_I32, 4, 10), pl_dma_semaphore(), pl_dma_semaphore() });
}
