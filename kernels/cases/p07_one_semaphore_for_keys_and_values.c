/* p07_one_semaphore_for_keys_and_values.c - double-buffered fetches of keys and values, all counted on one semaphore.
 *
 * Reported:  jax-ml/jax commit 0e690c1a (the repair); 23c8607b had switched the test off because of it.
 * Wrong:     copies complete in any order. The wait that was meant for this step's keys is content with its values, or with the keys of
 *            the next step.
 * Right:     a semaphore for each array and slot.
 * Teaches:   a wait takes a number of bytes from whoever brought them. Only the last of the four waits is safe: it needs them all.
 * Cause:     sem, "pl_copy_wait(fetch_k[i])"
 * Repair:    semaphore sem
 */
#include <heddle/pallas.h>

KERNEL(p07_shared, k_hbm, v_hbm, k, v, sem)
{
    PlCopy fetch_k[2], fetch_v[2];
    for (int i = 0; i < 2; i++) {
        fetch_k[i] = pl_make_async_copy(pl_at(k_hbm, i), pl_at(k, i), sem);
        fetch_v[i] = pl_make_async_copy(pl_at(v_hbm, i), pl_at(v, i), sem);
    }

    pl_copy_start(fetch_k[0]);
    pl_copy_start(fetch_v[0]);
    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            pl_copy_start(fetch_k[1]);
            pl_copy_start(fetch_v[1]);
        }
        pl_copy_wait(fetch_k[i]);
        pl_load(pl_at(k, i));
        pl_copy_wait(fetch_v[i]);
        pl_load(pl_at(v, i));
    }
}

KERNEL(p07_one_each, k_hbm, v_hbm, k, v, k_sems, v_sems)
{
    PlCopy fetch_k[2], fetch_v[2];
    for (int i = 0; i < 2; i++) {
        fetch_k[i] = pl_make_async_copy(pl_at(k_hbm, i), pl_at(k, i), pl_at(k_sems, i));
        fetch_v[i] = pl_make_async_copy(pl_at(v_hbm, i), pl_at(v, i), pl_at(v_sems, i));
    }

    pl_copy_start(fetch_k[0]);
    pl_copy_start(fetch_v[0]);
    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            pl_copy_start(fetch_k[1]);
            pl_copy_start(fetch_v[1]);
        }
        pl_copy_wait(fetch_k[i]);
        pl_load(pl_at(k, i));
        pl_copy_wait(fetch_v[i]);
        pl_load(pl_at(v, i));
    }
}

PROGRAM(p07_one_semaphore_for_keys_and_values, "P07: keys are read when values, or the next keys, have come")
{
    PlRef k_hbm = pl_input(PL_F32, 2, 8, 128), v_hbm = pl_input(PL_F32, 2, 8, 128);
    PlRef k = pl_vmem(PL_F32, 2, 8, 128), v = pl_vmem(PL_F32, 2, 8, 128);

    pl_launch(p07_shared, .args = {k_hbm, v_hbm, k, v, pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 1);
}

PROGRAM(p07_one_semaphore_for_keys_and_values_repaired, "P07 repaired: a semaphore for each array and slot")
{
    PlRef k_hbm = pl_input(PL_F32, 2, 8, 128), v_hbm = pl_input(PL_F32, 2, 8, 128);
    PlRef k = pl_vmem(PL_F32, 2, 8, 128), v = pl_vmem(PL_F32, 2, 8, 128);

    pl_launch(p07_one_each, .args = {k_hbm, v_hbm, k, v, pl_dma_semaphore(2), pl_dma_semaphore(2)});
}
