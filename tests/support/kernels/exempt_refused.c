/* exempt_refused.c - exemptions that cannot be, one for each value of `which`; the last one can. */
#include <heddle/pallas.h>

KERNEL(refused, input, output, sem, flag)
{
    PlCopy copy = pl_async_copy(input, output, sem);
    pl_copy_wait(copy);
}

PROGRAM(refused, "an exemption that is refused")
{
    static const PlFault of_buffer[] = { PL_ASSERT, PL_OUT_OF_BOUNDS, PL_LEFTOVER, PL_DEADLOCK };
    int which = PARAMETER(which, 0, 0, 7);
    PlRef output = pl_output(PL_F32, 8), sem = pl_dma_semaphore(), flag = pl_flags(1);

    if (which < 4)
        pl_exempt(output, of_buffer[which], "meant");
    else if (which == 4)
        pl_exempt(sem, PL_RACE, "meant");
    else if (which == 5)
        pl_exempt(sem, PL_SHAPE, "meant");
    else if (which == 6)
        pl_exempt(flag, PL_LEFTOVER, "meant");
    else
        pl_exempt(output, PL_RACE, "meant");
    pl_launch(refused, .args = {pl_input(PL_F32, 8), output, sem, flag});
}
