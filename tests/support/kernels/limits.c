/* limits.c - kernels that take all the memory or all the time there is, and sources and constructors that do. */
#include <heddle/pallas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SOURCE_EATS
#define TEN(x) x, x, x, x, x, x, x, x, x, x
static const int many[] = { TEN(TEN(TEN(TEN(TEN(TEN(TEN(1))))))) };
#endif

static volatile int always = 1;

static void eat(void)
{
    enum { PIECE = 1 << 18 };
    while (always) {
        char *more = malloc(PIECE);
        memset(more, 1, PIECE);
    }
}

static void spin(void)
{
    while (always)
        ;
}

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void constructor(void)
{
    CONSTRUCTOR();
}
#endif

static void store(PlRef out)
{
    pl_store(out, pl_tile_full(PL_F32, 1, 8, 128));
}

KERNEL(one_store, out)
{
    store(out);
}

KERNEL(stores, out)
{
    while (always)
        store(out);
}

KERNEL(eats, out)
{
    store(out);
    eat();
}

KERNEL(copies, input, output, sem)
{
    PlCopy copy = pl_make_async_copy(input, output, sem);
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

PROGRAM(kernel_stores, "a kernel that stores for ever")
{
    pl_launch(stores, .args = {pl_vmem(PL_F32, 8, 128)});
}

PROGRAM(kernel_eats, "a kernel that allocates for ever")
{
    pl_launch(eats, .args = {pl_vmem(PL_F32, 8, 128)});
}

PROGRAM(program_eats, "PROGRAM allocates for ever, with two devices")
{
    if (pl_num_devices() == 2)
        eat();
    pl_launch(one_store, .args = {pl_vmem(PL_F32, 8, 128)});
}

PROGRAM(program_spins, "PROGRAM does not return, with two devices")
{
    if (pl_num_devices() == 2)
        spin();
    pl_launch(one_store, .args = {pl_vmem(PL_F32, 8, 128)});
}

PROGRAM(large, "arrays of 32 MB a device")
{
    PlRef input = pl_input(PL_F32, 8, 1024, 1024), output = pl_output(PL_F32, 8, 1024, 1024);
    pl_launch(copies, .args = {input, output, pl_dma_semaphore()});
    pl_expect_equal(output, input);
}

PROGRAM(program_prints, "PROGRAM prints for ever, with two devices")
{
    while (pl_num_devices() == 2 && always)
        puts("something that is worth nothing to anybody, again and again, and more of it each time that it is read");
    pl_launch(one_store, .args = {pl_vmem(PL_F32, 8, 128)});
}

PROGRAM(launches, "60000 launches")
{
    PlRef out = pl_vmem(PL_F32, 8, 128);
    for (int i = 0; i < 60000; i++)
        pl_launch(one_store, .args = {out});
}
