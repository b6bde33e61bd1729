/* g06_reset_loses_a_signal.c - the reader puts a counter back to zero, and a signal of the next round with it.
 *
 * Reported:  tenstorrent/tt-metal#50793 and #50794, also #48534 and #47257; NVIDIA/nccl#2093.
 * Wrong:     the writer does not wait for the reset: it may add for the next batch between the reader's look and its store of 0.
 * Right:     never reset; wait for a number that grows with the batches. (A wait that takes what it waited for would do as well.)
 * Teaches:   a store forgets what it did not see. Only the reset is a conflict: without it no order needs to be explored.
 * Cause:     ready, "pl_flag_store(ready, 0", "pl_flag_add(ready"
 * Repair:    epoch ready
 */
#include <heddle/pallas.h>

enum { BATCHES = 2 };

KERNEL(g06_reset, ready)
{
    for (int batch = 0; batch < BATCHES; batch++)
        if (pl_device_id() == 0) {
            pl_flag_add(ready, 1, pl_device(1));
        } else {
            pl_flag_wait(ready, PL_GE, 1, PL_OWN);
            pl_flag_store(ready, 0, PL_OWN);
        }
}

KERNEL(g06_monotonic, ready)
{
    for (int batch = 0; batch < BATCHES; batch++)
        if (pl_device_id() == 0)
            pl_flag_add(ready, 1, pl_device(1));
        else
            pl_flag_wait(ready, PL_GE, batch + 1, PL_OWN);
}

PROGRAM(g06_reset_loses_a_signal, "G06: the reset wipes out the signal of the next batch")
{
    PL_NEEDS(pl_num_devices() == 2, "a writer and a reader");

    pl_launch(g06_reset, .args = {pl_flags()}, .skip_device_barrier = true);
    pl_expect_fault(PL_DEADLOCK, .from = 2);
}

PROGRAM(g06_reset_loses_a_signal_repaired, "G06 repaired: no reset, a target that grows")
{
    PL_NEEDS(pl_num_devices() == 2, "a writer and a reader");

    pl_launch(g06_monotonic, .args = {pl_flags()}, .skip_device_barrier = true);
}
