/* hostile.c - kernels that a checker must survive: each does one thing that C allows and a kernel must not, but
 * same_names and labours, which are fine.
 */
#include <heddle/pallas.h>
#include <stdlib.h>

/* Names of the checker's own functions: a module's own definitions are its own business. */
int check_run(int value);
int program_new(int value);
int check_run(int value) { return value + 1; }
int program_new(int value) { return check_run(value) - 1; }
int core_wait, machine_do;

static void copy_over(PlRef input, PlRef output, PlRef sem)
{
    PlCopy copy = pl_make_async_copy(input, output, sem);
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

KERNEL(same_names, input, output, sem)
{
    if (program_new(core_wait + machine_do) == 0)
        copy_over(input, output, sem);
}

/* A static that outlives the run and steers the kernel. */
KERNEL(remembers, input, output, sem)
{
    static int calls;
    if (++calls == 1)
        copy_over(input, output, sem);
}

KERNEL(leaves, input, output, sem)
{
    copy_over(input, output, sem);
    exit(0);
}

static int endless(volatile int *depth)
{
    volatile int here[64] = {0};
    if (*depth < 0)
        return 0;                               /* never: so that compilers do not warn of what is meant */
    here[*depth & 63] = *depth + 1;
    *depth = here[*depth & 63];
    return endless(depth) + here[0];
}

KERNEL(recurses, input, output, sem)
{
    volatile int depth = 0;
    copy_over(input, output, sem);
    if (endless(&depth) == 0)
        copy_over(input, output, sem);
}

/* Larger than a stack, and than what lies between two. */
KERNEL(hoards, input, output, sem)
{
    volatile char large[4 << 20];
    copy_over(input, output, sem);
    large[pl_axis_index("x")] = 1;
    if (large[pl_axis_index("x")] == 2)
        copy_over(input, output, sem);
}

KERNEL(spins, input, output, sem)
{
    volatile int forever = 1;
    copy_over(input, output, sem);
    while (forever)
        ;
}

KERNEL(spins_on_arrays, input, output, sem)
{
    PlTile tile = pl_tile_full(PL_I32, 1);
    copy_over(input, output, sem);
    while (true)
        pl_tile_assign(tile, pl_tile_add(tile, tile));
}

/* Much work, which ends: of its own, and of arrays. */
KERNEL(labours, input, output, sem)
{
    PlTile tile = pl_tile_full(PL_I32, 1, 300, 300);
    for (volatile int i = 0; i < 1 << 22; i++)
        ;
    pl_tile_assign(tile, pl_tile_dot(tile, tile, PL_I32, PL_SHAPE(1), PL_SHAPE(0), PL_SHAPE(), PL_SHAPE()));
    copy_over(input, output, sem);
}

KERNEL(outside, input, output, sem)
{
    int own[4] = {0};
    volatile int index = 4 + pl_axis_index("x");
    copy_over(input, output, sem);
    own[index] = 1;
    if (own[index & 3] == 2)
        copy_over(input, output, sem);
}

#define HOSTILE(name, summary) \
    PROGRAM(name, summary) \
    { \
        PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128); \
        pl_launch(name, .args = {input, output, pl_dma_semaphore()}); \
        pl_expect_equal(output, input); \
    }

HOSTILE(same_names, "functions and variables named like the checker's own")
HOSTILE(remembers, "a static that steers")
HOSTILE(leaves, "calls exit")
HOSTILE(recurses, "recurses for ever")
HOSTILE(hoards, "has an array that no stack holds")
HOSTILE(spins, "spins without an operation")
HOSTILE(spins_on_arrays, "spins with operations on arrays only")
HOSTILE(labours, "computes for long, and ends")
HOSTILE(outside, "writes outside its array")
