/* one_shot.c - one-shot all-reduce, round after round: everybody sends its block to everybody, then adds what came.
 *
 * Two slots in turn. Nobody is a whole round ahead: a block of round r+2 is sent after all blocks of round r+1 came, and each of those was
 * sent by a device that was done with round r. So a slot is free when it is written again, without a barrier. The receive semaphores need
 * two in turn for the same reason: a block of the next round may come before one of this round.
 */
#include <heddle/pallas.h>

typedef struct Shot { PlRef input, output, inbox, sum, copy_sem, send_sem, recv_sems; } Shot;
typedef struct Choice { bool one_slot, one_semaphore; } Choice;

static void copy_now(PlRef from, PlRef to, PlRef semaphore)
{
    PlCopy copy = pl_make_async_copy(from, to, semaphore);
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

static void round_of(Shot shot, int round, Choice choice)
{
    int n = pl_num_devices(), me = pl_device_id(), slot = choice.one_slot ? 0 : round % 2;
    PlRef inbox = pl_at(shot.inbox, slot), recv_sem = pl_at(shot.recv_sems, choice.one_semaphore ? 0 : round % 2);
    for (int i = 1; i < n; i++)
        pl_async_remote_copy(pl_at(shot.input, round), pl_at(inbox, me), shot.send_sem, recv_sem, pl_device((me + i) % n));
    copy_now(pl_at(shot.input, round), shot.sum, shot.copy_sem);
    PlRef others = pl_at(inbox, pl_ds(0, n - 1));
    pl_copy_wait(pl_make_async_copy(others, others, recv_sem));
    for (int i = 1; i < n; i++)
        pl_store(shot.sum, pl_tile_add(pl_load(shot.sum), pl_load(pl_at(inbox, (me + i) % n))));
    pl_copy_wait(pl_make_async_copy(others, others, shot.send_sem));
    copy_now(shot.sum, pl_at(shot.output, round), shot.copy_sem);
}

#define SHOT_KERNEL(name, ...) \
    KERNEL(name, input, output, inbox, sum, copy_sem, send_sem, recv_sems) \
    { \
        for (int round = 0; round < pl_size(input, 0); round++) \
            round_of((Shot){ input, output, inbox, sum, copy_sem, send_sem, recv_sems }, round, (Choice){ __VA_ARGS__ }); \
    }

SHOT_KERNEL(one_shot, .one_slot = false)
SHOT_KERNEL(one_shot_one_slot, .one_slot = true)
SHOT_KERNEL(one_shot_one_semaphore, .one_semaphore = true)

#define SHOT_PROGRAM(kernel) \
    int n = pl_num_devices(), rounds = PARAMETER(rounds, 3, 1, 16), rows = PARAMETER(rows, 1, 1, 64); \
    PL_NEEDS(n >= 2, "several devices"); \
    PlRef input = pl_input(PL_F32, rounds, rows, 128), output = pl_output(PL_F32, rounds, rows, 128); \
    pl_launch(kernel, .args = { input, output, pl_vmem(PL_F32, 2, n, rows, 128), pl_vmem(PL_F32, rows, 128), pl_dma_semaphore(), \
                                pl_dma_semaphore(), pl_dma_semaphore(2) }); \
    for (int round = 0; round < rounds; round++) \
        pl_expect_all_reduce(pl_at(output, round), pl_at(input, round))

PROGRAM(one_shot, "one-shot all-reduce in rounds, two slots and two receive semaphores in turn")
{
    SHOT_PROGRAM(one_shot);
}

/* Cause:  "pl_load(pl_at(inbox", "pl_async_remote_copy(pl_at(shot.input"
 * Repair: slot inbox or capacity or barrier */
PROGRAM(one_shot_one_slot, "wrong: one slot, so the next round's block lands while this round's is being added")
{
    pl_expect_fault(PL_RACE, .from = 2);
    SHOT_PROGRAM(one_shot_one_slot);
}

/* Cause:  recv_sems, "pl_copy_wait(pl_make_async_copy(others, others, recv_sem"
 * Repair: semaphore recv_sems */
PROGRAM(one_shot_one_semaphore, "wrong: one receive semaphore, on which a block of the next round counts for one of this round")
{
    pl_expect_fault(PL_RACE, .from = 2);
    SHOT_PROGRAM(one_shot_one_semaphore);
}
