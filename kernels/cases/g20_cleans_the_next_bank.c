/* g20_cleans_the_next_bank.c - each operation cleans the flags of the next one, which may be on its way already.
 *
 * Reported:  deepseek-ai/DeepEP#513 (a question) and #580 (dispatch, dispatch, combine, combine).
 * Wrong:     operation 0 clears bank 1 for operation 1. A partner that issues both without receiving in between has set it by then.
 * Right:     at most one operation in flight for the pair of banks: the sender waits for the receiver's word.
 * Teaches:   cleaning up is a write into the future.
 * Cause:     "pl_flag_store(bank1, 0", "pl_flag_store(bank1, 1"
 * Repair:    handshake flags or capacity or barrier else without "pl_flag_store(bank1, 0"
 */
#include <heddle/pallas.h>

KERNEL(g20_both_at_once, flags)
{
    PlRef bank0 = pl_at(flags, 0), bank1 = pl_at(flags, 1);

    if (pl_device_id() == 1) {
        pl_flag_store(bank0, 1, pl_device(0));
        pl_flag_store(bank1, 1, pl_device(0));
    } else {
        pl_flag_store(bank1, 0, PL_OWN);                        /* operation 0 cleans up for operation 1 */
        pl_flag_wait(bank0, PL_GE, 1, PL_OWN);
        pl_flag_store(bank0, 0, PL_OWN);
        pl_flag_wait(bank1, PL_GE, 1, PL_OWN);
    }
}

KERNEL(g20_one_at_a_time, flags, received)
{
    PlRef bank0 = pl_at(flags, 0), bank1 = pl_at(flags, 1);

    if (pl_device_id() == 1) {
        pl_flag_store(bank0, 1, pl_device(0));
        pl_semaphore_wait(received, 1);
        pl_flag_store(bank1, 1, pl_device(0));
    } else {
        pl_flag_store(bank1, 0, PL_OWN);
        pl_flag_wait(bank0, PL_GE, 1, PL_OWN);
        pl_semaphore_signal(received, 1, pl_device(1));
        pl_flag_store(bank0, 0, PL_OWN);
        pl_flag_wait(bank1, PL_GE, 1, PL_OWN);
    }
}

PROGRAM(g20_cleans_the_next_bank, "G20: the flag of the next operation is cleaned away")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");

    pl_launch(g20_both_at_once, .args = {pl_flags(2)}, .skip_device_barrier = true);
    pl_expect_fault(PL_DEADLOCK, .from = 2);
}

PROGRAM(g20_cleans_the_next_bank_repaired, "G20 repaired: one operation at a time")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");

    pl_launch(g20_one_at_a_time, .args = {pl_flags(2), pl_regular_semaphore()});
}
