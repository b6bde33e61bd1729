/* mesh_all_reduce.c - hierarchical all-reduce on a mesh of x and y: scatter sums along x, reduce along y, gather along x.
 *
 *     along x:  block i of everybody in the row goes to member i, which adds them
 *     along y:  the sums of a block go to everybody in the column, who adds them
 *     along x:  everybody gives its finished block to the row
 *
 * Three phases, each with inbox and receive semaphore of its own: devices of one row are in different columns, and a column that is early
 * may be a phase ahead.
 */
#include <heddle/pallas.h>

typedef struct Mesh2 { PlRef input, output, row_inbox, column_inbox, part, copy_sem, send_sem, row_recv, column_recv, gather_recv; } Mesh2;

static void wait_for(PlRef blocks, int count, PlRef semaphore)
{
    PlRef some = pl_at(blocks, pl_ds(0, count));
    pl_copy_wait(pl_make_async_copy(some, some, semaphore));
}

static void copy_now(PlRef from, PlRef to, PlRef semaphore)
{
    PlCopy copy = pl_make_async_copy(from, to, semaphore);
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

static void add_all(PlRef part, PlRef inbox, int own)
{
    int members = pl_size(inbox, 0);
    for (int i = 1; i < members; i++)
        pl_store(part, pl_tile_add(pl_load(part), pl_load(pl_at(inbox, (own + i) % members))));
}

static void scatter_along_x(Mesh2 m)
{
    int x = pl_axis_index("x"), columns = pl_axis_size("x");
    for (int i = 1; i < columns; i++) {
        int to = (x + i) % columns;
        pl_async_remote_copy(pl_at(m.input, to), pl_at(m.row_inbox, x), m.send_sem, m.row_recv, pl_along("x", to));
    }
    copy_now(pl_at(m.input, x), m.part, m.copy_sem);
    wait_for(m.row_inbox, columns - 1, m.row_recv);
    add_all(m.part, m.row_inbox, x);
    wait_for(m.row_inbox, columns - 1, m.send_sem);
}

static void reduce_along_y(Mesh2 m, bool adds_too_soon)
{
    int y = pl_axis_index("y"), rows = pl_axis_size("y");
    for (int i = 1; i < rows; i++)
        pl_async_remote_copy(m.part, pl_at(m.column_inbox, y), m.send_sem, m.column_recv, pl_along("y", (y + i) % rows));
    if (!adds_too_soon)
        wait_for(m.column_inbox, rows - 1, m.send_sem);
    wait_for(m.column_inbox, rows - 1, m.column_recv);
    add_all(m.part, m.column_inbox, y);
    if (adds_too_soon)
        wait_for(m.column_inbox, rows - 1, m.send_sem);
}

static void gather_along_x(Mesh2 m)
{
    int x = pl_axis_index("x"), columns = pl_axis_size("x");
    for (int i = 1; i < columns; i++)
        pl_async_remote_copy(m.part, pl_at(m.output, x), m.send_sem, m.gather_recv, pl_along("x", (x + i) % columns));
    copy_now(m.part, pl_at(m.output, x), m.copy_sem);
    wait_for(m.output, columns - 1, m.gather_recv);
    wait_for(m.output, columns - 1, m.send_sem);
}

static void reduce_all(Mesh2 m, bool adds_too_soon)
{
    scatter_along_x(m);
    reduce_along_y(m, adds_too_soon);
    gather_along_x(m);
}

#define MESH_KERNEL(name, column_semaphore, adds_too_soon) \
    KERNEL(name, input, output, row_inbox, column_inbox, part, copy_sem, send_sem, row_recv, column_recv, gather_recv) \
    { \
        reduce_all((Mesh2){ input, output, row_inbox, column_inbox, part, copy_sem, send_sem, row_recv, column_semaphore, gather_recv }, \
                   adds_too_soon); \
    }

MESH_KERNEL(mesh_all_reduce, column_recv, false)
MESH_KERNEL(mesh_all_reduce_one_semaphore, row_recv, false)
MESH_KERNEL(mesh_all_reduce_adds_too_soon, column_recv, true)

#define MESH_PROGRAM(kernel, least) \
    PL_NEEDS(pl_has_axis("y") && pl_axis_size("x") >= least && pl_axis_size("y") >= least, "a mesh of x and y"); \
    int columns = pl_axis_size("x"), lines = pl_axis_size("y"); \
    PlRef input = pl_input(PL_F32, columns, 1, 128), output = pl_output(PL_F32, columns, 1, 128); \
    pl_launch(kernel, .args = { input, output, pl_vmem(PL_F32, columns, 1, 128), pl_vmem(PL_F32, lines, 1, 128), \
                                pl_vmem(PL_F32, 1, 128), pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(), \
                                pl_dma_semaphore() }); \
    pl_expect_all_reduce(output, input)

PROGRAM(mesh_all_reduce, "all-reduce on a mesh: sums along x, along y, gather along x; needs --mesh x=2,y=2")
{
    MESH_PROGRAM(mesh_all_reduce, 1);
}

/* Cause:  row_recv, "pl_copy_wait(pl_make_async_copy(some"
 * Repair: semaphore row_recv */
PROGRAM(mesh_all_reduce_one_semaphore, "wrong: a sum of the column counts for one of the row; needs --mesh x=2,y=2")
{
    pl_expect_fault(PL_RACE, .from = 4);
    MESH_PROGRAM(mesh_all_reduce_one_semaphore, 2);
}

/* Cause:  "pl_copy_wait(pl_make_async_copy(some"
 * Repair: wait send_sem */
PROGRAM(mesh_all_reduce_adds_too_soon, "wrong: adds to the block that is still being sent up and down; needs --mesh x=2,y=2")
{
    pl_expect_fault(PL_RACE, .from = 4);
    MESH_PROGRAM(mesh_all_reduce_adds_too_soon, 2);
}
