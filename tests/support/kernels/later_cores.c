/* later_cores.c - as later_launches.c, with two cores a device: one of them is stuck, or stopped, before the launch in which it communicates. */
#include <heddle/pallas.h>

KERNEL(one_core_waits, g)
{
    if (pl_device_id() == 1 && pl_core_index() == 1)
        pl_semaphore_wait(g, 1);
}

KERNEL(one_core_reads_beyond, v)
{
    if (pl_device_id() == 1 && pl_core_index() == 1)
        pl_store(pl_at(v, pl_ds(1, 2)), pl_load(pl_at(v, pl_ds(0, 2))));
}

KERNEL(that_core_tells, g, v, d)
{
    if (pl_device_id() == 1 && pl_core_index() == 1) {
        pl_semaphore_signal(g, 1, pl_device(0));
    } else if (pl_device_id() == 0) {
        PlCopy copy = pl_async_copy(pl_at(v, 0), pl_at(v, 1), d);
        pl_load(pl_at(v, 1));
        pl_copy_wait(copy);
    }
}

PROGRAM(core_stuck_before, "core 1 of device 1 is stuck")
{
    PL_NEEDS(pl_num_cores() == 2, "a core that is stuck and one that is not");
    pl_launch(one_core_waits, .args = {pl_regular_semaphore()});
    pl_launch(that_core_tells, .args = {pl_regular_semaphore(), pl_input_in(PL_VMEM, PL_U8, 2, 4), pl_dma_semaphore()});
}

PROGRAM(core_stopped_before, "core 1 of device 1 is stopped by a store out of bounds")
{
    PL_NEEDS(pl_num_cores() == 2, "a core that is stopped and one that is not");
    pl_launch(one_core_reads_beyond, .args = {pl_input_in(PL_VMEM, PL_U8, 2, 4)});
    pl_launch(that_core_tells, .args = {pl_regular_semaphore(), pl_input_in(PL_VMEM, PL_U8, 2, 4), pl_dma_semaphore()});
}
