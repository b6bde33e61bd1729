/* g05b_two_meanings.c - one counter for "ready" and for "done".
 *
 * Reported:  tenstorrent/tt-metal#50313 (the coordinator of a sort).
 * Wrong:     the coordinator waits for both workers to be ready, lets them go, and waits for both to be done, on the same semaphore.
 *            The fast worker's "done" of this row and its "ready" of the next are two: the slow one has not worked yet.
 * Right:     a semaphore for each meaning.
 * Teaches:   counts can be added up, meanings cannot. The work is counted here and looked at, which is a conflict and must be explored.
 * Cause:     check_in, last "pl_semaphore_wait(check_in", first "pl_semaphore_signal(check_in"
 * Repair:    semaphore check_in
 */
#include <heddle/pallas.h>

enum { ROWS = 2, WORKERS = 2 };

KERNEL(g05b_one_semaphore, check_in, go, work)
{
    int me = pl_device_id();

    for (int row = 0; row < ROWS; row++)
        if (me == 0) {
            pl_semaphore_wait(check_in, WORKERS);                               /* all are ready */
            for (int worker = 1; worker <= WORKERS; worker++)
                pl_semaphore_signal(go, 1, pl_device(worker));
            pl_semaphore_wait(check_in, WORKERS);                               /* all are done */
            for (int worker = 0; worker < WORKERS; worker++)
                pl_expect_count(pl_at(work, worker), row + 1);
        } else {
            pl_semaphore_signal(check_in, 1, pl_device(0));                     /* ready */
            pl_semaphore_wait(go, 1);
            pl_semaphore_signal(pl_at(work, me - 1), 1, pl_device(0));
            pl_semaphore_signal(check_in, 1, pl_device(0));                     /* done */
        }
}

KERNEL(g05b_two_semaphores, ready, done, go, work)
{
    int me = pl_device_id();

    for (int row = 0; row < ROWS; row++)
        if (me == 0) {
            pl_semaphore_wait(ready, WORKERS);
            for (int worker = 1; worker <= WORKERS; worker++)
                pl_semaphore_signal(go, 1, pl_device(worker));
            pl_semaphore_wait(done, WORKERS);
            for (int worker = 0; worker < WORKERS; worker++)
                pl_expect_count(pl_at(work, worker), row + 1);
        } else {
            pl_semaphore_signal(ready, 1, pl_device(0));
            pl_semaphore_wait(go, 1);
            pl_semaphore_signal(pl_at(work, me - 1), 1, pl_device(0));
            pl_semaphore_signal(done, 1, pl_device(0));
        }
}

PROGRAM(g05b_two_meanings, "G05b: ready for the next row is taken for done with this one")
{
    PL_NEEDS(pl_num_devices() == 1 + WORKERS, "a coordinator and two workers");
    PlRef work = pl_regular_semaphore(WORKERS);

    pl_launch(g05b_one_semaphore, .args = {pl_regular_semaphore(), pl_regular_semaphore(), work});
    pl_exempt(work, PL_LEFTOVER, "counts the rows of each worker; nobody takes from it");
    pl_expect_fault(PL_ASSERT, .from = 1 + WORKERS);
}

PROGRAM(g05b_two_meanings_repaired, "G05b repaired: one semaphore for ready, one for done")
{
    PL_NEEDS(pl_num_devices() == 1 + WORKERS, "a coordinator and two workers");
    PlRef work = pl_regular_semaphore(WORKERS);

    pl_launch(g05b_two_semaphores, .args = {pl_regular_semaphore(), pl_regular_semaphore(), pl_regular_semaphore(), work});
    pl_exempt(work, PL_LEFTOVER, "counts the rows of each worker; nobody takes from it");
}
