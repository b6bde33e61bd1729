/* consumers.c - one producer, several consumers: each block goes to all of them, into slots that are used again and again.
 *
 * Device 0 produces. Before it writes a slot of a consumer again it needs that consumer's credit: one semaphore each, since credits of a
 * fast consumer must not stand in for those of a slow one.
 */
#include <heddle/pallas.h>

typedef struct Pipe { PlRef input, output, slots, copy_sem, send_sem, recv_sems, credits; } Pipe;
typedef struct Choice { bool credits_together, credit_too_soon, one_semaphore; } Choice;

static PlRef received_on(Pipe pipe, int item, Choice choice)
{
    return pl_at(pipe.recv_sems, choice.one_semaphore ? 0 : item % pl_size(pipe.slots, 0));
}

static void produce(Pipe pipe, Choice choice)
{
    int n = pl_num_devices(), items = pl_size(pipe.input, 0), depth = pl_size(pipe.slots, 0);
    for (int item = 0; item < items; item++) {
        if (item >= depth && choice.credits_together)
            pl_semaphore_wait(pl_at(pipe.credits, 0), n - 1);
        for (int to = 1; to < n; to++) {
            if (item >= depth && !choice.credits_together)
                pl_semaphore_wait(pl_at(pipe.credits, to), 1);
            pl_async_remote_copy(pl_at(pipe.input, item), pl_at(pipe.slots, item % depth), pipe.send_sem, received_on(pipe, item, choice),
                                 pl_device(to));
        }
    }
    for (int to = 1; to < n; to++)
        pl_copy_wait(pl_make_async_copy(pipe.input, pipe.input, pipe.send_sem));
}

static void consume(Pipe pipe, Choice choice)
{
    int me = pl_device_id(), items = pl_size(pipe.input, 0), depth = pl_size(pipe.slots, 0);
    PlRef credit = pl_at(pipe.credits, choice.credits_together ? 0 : me);
    for (int item = 0; item < items; item++) {
        PlRef slot = pl_at(pipe.slots, item % depth);
        pl_copy_wait(pl_make_async_copy(slot, slot, received_on(pipe, item, choice)));
        bool wanted = item + depth < items;             /* a later item comes into this slot */
        if (wanted && choice.credit_too_soon)
            pl_semaphore_signal(credit, 1, pl_device(0));
        PlCopy keep = pl_make_async_copy(slot, pl_at(pipe.output, item), pipe.copy_sem);
        pl_copy_start(keep);
        pl_copy_wait(keep);
        if (wanted && !choice.credit_too_soon)
            pl_semaphore_signal(credit, 1, pl_device(0));
    }
}

#define PIPE_KERNEL(name, ...) \
    KERNEL(name, input, output, slots, copy_sem, send_sem, recv_sems, credits) \
    { \
        Pipe pipe = { input, output, slots, copy_sem, send_sem, recv_sems, credits }; \
        if (pl_device_id() == 0) \
            produce(pipe, (Choice){ __VA_ARGS__ }); \
        else \
            consume(pipe, (Choice){ __VA_ARGS__ }); \
    }

PIPE_KERNEL(consumers, .credits_together = false)
PIPE_KERNEL(consumers_credits_together, .credits_together = true)
PIPE_KERNEL(consumers_credit_too_soon, .credit_too_soon = true)
PIPE_KERNEL(consumers_one_semaphore, .one_semaphore = true)

static double produced(const PlRef *refs, int device, const int64_t *index)
{
    return device > 0 ? pl_given(refs[0], 0, index[0], index[1], index[2]) : PL_ANY_VALUE;
}

#define PIPE_PROGRAM(kernel) \
    int n = pl_num_devices(), items = PARAMETER(items, 5, 1, 64), depth = PARAMETER(depth, 2, 1, 8); \
    PL_NEEDS(n >= 2, "a producer and consumers"); \
    PlRef input = pl_input(PL_F32, items, 1, 128), output = pl_output(PL_F32, items, 1, 128); \
    pl_launch(kernel, .args = { input, output, pl_vmem(PL_F32, depth, 1, 128), pl_dma_semaphore(), pl_dma_semaphore(), \
                                pl_dma_semaphore(depth), pl_regular_semaphore(n) }); \
    pl_expect_values(output, produced, 0.0, input)

PROGRAM(consumers, "a producer, several consumers, a credit semaphore for each of them")
{
    PIPE_PROGRAM(consumers);
}

/* Cause:  credits, "pl_semaphore_wait(pl_at(pipe.credits, 0), n - 1)"
 * Repair: semaphore credits */
PROGRAM(consumers_credits_together, "wrong: all credits on one semaphore, so a fast consumer's stand in for a slow one's")
{
    pl_expect_fault(PL_RACE, .from = 3);
    PIPE_PROGRAM(consumers_credits_together);
}

/* Cause:  first "pl_semaphore_signal(credit"
 * Repair: down credits */
PROGRAM(consumers_credit_too_soon, "wrong: a consumer gives the slot back before it has copied it out")
{
    pl_expect_fault(PL_RACE, .from = 2);
    PIPE_PROGRAM(consumers_credit_too_soon);
}

/* Cause:  recv_sems, "pl_copy_wait(pl_make_async_copy(slot"
 * Repair: semaphore recv_sems */
PROGRAM(consumers_one_semaphore, "wrong: one receive semaphore for all slots, so the second block counts for the first")
{
    pl_expect_fault(PL_RACE, .from = 2);
    PIPE_PROGRAM(consumers_one_semaphore);
}
