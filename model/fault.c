/* fault.c - what `heddle explain` prints: one table for faults, one for advice.
 *
 * Each text is written for the author of a kernel who meets the word for the first time: what happened, the smallest kernel that does
 * it, and what people usually change.
 */
#include "fault.h"
#include <glib.h>
#include <stddef.h>
#include <string.h>

#define FORM(name, word, least, most, agents, does) [FAULT_##name] = { word, least, most, agents, does },
const FaultForm FAULT_FORM[FAULT_COUNT] = { FAULT_IDS(FORM) };

typedef struct Explained { const char *meaning, *example, *repairs; } Explained;

static const Explained FAULT[FAULT_COUNT] = {
    [FAULT_RACE] = {
        .meaning = "Two accesses touch the same elements of one live buffer, at least one of them writes, and nothing makes either come "
                   "first: some schedule does them in one order and some schedule in the other.",
        .example =
            "    pl_copy_start(pass);                    /* the left neighbour's copy lands in our output ... */\n"
            "    PlTile seen = pl_load(output);          /* ... and nobody waited for it */\n"
            "    pl_copy_wait(pass);\n",
        .repairs =
            "  - Wait before you look: move the load after pl_copy_wait_recv of the copy that fills the buffer.\n"
            "  - Wait before you reuse: a source may be overwritten only after its wait_send, which says nothing about the arrival.\n"
            "  - If two copies count on one semaphore, a wait meant for the second can be satisfied by the first (or by half of each):\n"
            "    give each copy that can be in flight at the same time its own semaphore, such as pl_at(recv_sems, step).\n"
            "  - If a neighbour may be a round ahead, let it ask first: a capacity semaphore that you signal when a slot is free again.\n",
    },
    [FAULT_LIFETIME] = {
        .meaning = "An access or a signal may reach a buffer or a semaphore outside its life: its device has not entered the launch yet, "
                   "has left it already, or the scope that made it is closed.",
        .example =
            "    {\n"
            "        PL_SCOPED PlRef ready = pl_regular_semaphore();\n"
            "        pl_semaphore_signal(ready, 1, pl_device(right));    /* the right device may have left this scope already */\n"
            "    }\n",
        .repairs =
            "  - Early: have the devices meet first, at the entry barrier or with a handshake on the barrier semaphore.\n"
            "  - Late: stay until everything that others send you has arrived; wait for each signal and copy before the scope closes.\n"
            "  - Declare what neighbours touch outside the scope, as a scratch of the launch or as an argument.\n",
    },
    [FAULT_DEADLOCK] = {
        .meaning = "No step is possible any more and some core has not finished: each waits for a count that nobody will raise.",
        .example =
            "    pl_semaphore_wait(ready, 1);                            /* everybody waits first ... */\n"
            "    pl_semaphore_signal(ready, 1, pl_device(right));        /* ... so nobody gets here */\n",
        .repairs =
            "  - In a ring, signal or start your copy before you wait for the neighbour's.\n"
            "  - Compare what is signalled with what is waited for: the count, the semaphore (recv_sems[step] of the same step?),\n"
            "    and the device (a signal to the left is not seen on the right).\n"
            "  - A copy of 0 bytes signals nothing, and a wait for its descriptor needs nothing: both sides must agree on the size.\n"
            "  - Branches that depend on the device id must pair up: what one device skips the other must not wait for.\n",
    },
    [FAULT_LEFTOVER] = {
        .meaning = "In some order a semaphore still has a count when its life ends, so whoever gets that memory next begins with a wrong "
                   "count.",
        .example =
            "    pl_semaphore_signal(ready, 2, pl_device(right));\n"
            "    pl_semaphore_wait(ready, 1);                            /* one is never taken */\n",
        .repairs =
            "  - Wait for everything that was signalled: a wait takes exactly its value, not whatever is there.\n"
            "  - Take the send semaphore too: a copy that is only waited for with wait_recv leaves its send count behind.\n"
            "  - At the end of a loop, skip the credits that nobody needs any more, or drain them after it.\n",
    },
    [FAULT_IN_FLIGHT] = {
        .meaning = "A copy may still be in flight when a device leaves the launch: its source may be read, or its target written, after "
                   "the memory has been reused.",
        .example =
            "    pl_copy_start(pass);\n"
            "    /* the kernel ends here: nobody waited for the copy */\n",
        .repairs =
            "  - The issuer waits with pl_copy_wait_send before it leaves, the receiver with pl_copy_wait_recv.\n"
            "  - Copies started in the last step of a loop need their waits after the loop.\n"
            "  - A receiver that does not know how many copies come must be told, or must meet all senders at a barrier after their "
            "wait.\n",
    },
    [FAULT_OUT_OF_BOUNDS] = {
        .meaning = "A load, a store or a copy reaches outside its buffer.",
        .example =
            "    PlRef block = pl_at(input, pl_ds(step * 128, 128));     /* 300 rows: the third block ends at 384 */\n"
            "    PlCopy fetch = pl_make_async_copy(block, buffer, sem);\n"
            "    pl_copy_start(fetch);\n",
        .repairs =
            "  - Make the last block smaller: a dynamic size, or a separate copy for the tail.\n"
            "  - Wrap indices that walk around a ring: (my_id - step + n) % n; in C, the remainder of a negative number is negative.\n"
            "  - If the hardware's padding of the last two dimensions of VMEM is meant to be used, say --bounds padded.\n",
    },
    [FAULT_UNINITIALISED] = {
        .meaning = "An element that nobody has written reaches a decision, an index, a size, a device id or an expected result.",
        .example =
            "    PL_SCOPED PlRef count = pl_smem(PL_I32, 1);\n"
            "    for (int i = 0; i < pl_load_int(count); i++)            /* count was never stored */\n"
            "        pl_semaphore_signal(ready, 1, pl_device(i));\n",
        .repairs =
            "  - Store a first value: accumulators and counters in scratch memory begin with whatever was there.\n"
            "  - Check that the copy that should fill the buffer is started on every path, and covers all of it (the tail!).\n"
            "  - Mask what lies beyond the edge of the data before it takes part in a reduction.\n",
    },
    [FAULT_SHAPE] = {
        .meaning = "An operation does not fit what it is given: a copy whose two sides differ in shape or type or overlap, a signal or a "
                   "plain wait on a DMA semaphore, a descriptor's wait on a REGULAR one, a negative increment, or a device that does not "
                   "exist.",
        .example =
            "    pl_make_async_copy(pl_at(input, pl_ds(0, 16)), pl_at(output, pl_ds(0, 8)), sem);    /* 16 rows into 8 */\n"
            "    pl_semaphore_signal(ready, 1, pl_device(my_id + 1));                                /* the last one has no neighbour */\n",
        .repairs =
            "  - Slice both sides alike; pl_reshape and pl_bitcast change how a ref looks without moving data.\n"
            "  - A DMA semaphore counts bytes and belongs to copies: wait for it with the copy's descriptor. For your own signals\n"
            "    take a REGULAR semaphore.\n"
            "  - Compute neighbours modulo the size of the axis.\n",
    },
    [FAULT_SPACE] = {
        .meaning = "A core loads from or stores to HBM or ANY directly; only copies reach those.",
        .example =
            "    PlTile x = pl_load(pl_at(input, step));                 /* input lives in ANY */\n",
        .repairs =
            "  - Copy the block into VMEM, wait for the copy, and load from there.\n"
            "  - Small control values belong in SMEM.\n",
    },
    [FAULT_REVISIT] = {
        .meaning = "An output block is visited again after the grid has moved to another one: by then the block has been written back, and "
                   "what was accumulated in it is lost.",
        .example =
            "    /* grid (k, i), output block i: the block of i comes back in each round of k */\n"
            "    pl_store(out, pl_tile_add(pl_load(out), partial));\n",
        .repairs =
            "  - Order the grid so that all visits of one output block follow each other: put the reduction last, as in (i, k).\n"
            "  - Or accumulate in a scratch buffer that you own, and write the block once.\n",
    },
    [FAULT_ASSERT] = {
        .meaning = "What the program states does not hold: a pl_assert failed, a semaphore had another count than the one expected, or a "
                   "result differs from the expected one.",
        .example =
            "    pl_assert(pl_load_int(pl_at(counts, 0)) <= rows);\n"
            "    pl_expect_count(recv_sem, 0);                           /* the count here depends on the schedule */\n",
        .repairs =
            "  - Look at the schedule that is shown: it leads to the values printed.\n"
            "  - A wrong element with a right type usually came from another slot or device: the report names where it came from.\n"
            "  - If the statement was meant for one order only, make that order certain with a wait, or drop the statement.\n",
    },
    [FAULT_MISMATCH] = {
        .meaning = "A wait that the author annotated as being for one particular copy can pass before that copy is complete.",
        .example =
            "    pl_copy_start(first);\n"
            "    pl_copy_start(second);                                  /* same semaphore, same size */\n"
            "    pl_copy_wait_for(first, PL_THIS);                       /* the second may satisfy it */\n",
        .repairs =
            "  - Give the two copies different semaphores.\n"
            "  - Or wait for both before either buffer is used, and drop the annotation: two waits together are for both copies.\n",
    },
    [FAULT_OVERFLOW] = {
        .meaning = "In some order the count of a semaphore exceeds the limit that the program sets.",
        .example =
            "    pl_limit(credits, 2);                                   /* in the PROGRAM */\n"
            "    for (int i = 0; i < 4; i++)                             /* in the kernel: nothing stops the signaller */\n"
            "        pl_semaphore_signal(credits, 1, pl_device(left));\n",
        .repairs =
            "  - Let the signaller wait for an answer before its signals exceed the limit.\n"
            "  - Spread the signals over an array of semaphores, or raise the limit if the width of the counter allows it.\n",
    },
    [FAULT_DIVERGENCE] = {
        .meaning = "Two schedules of a program without any other fault end with different results.",
        .example =
            "    int winner = pl_semaphore_read(ready) > 0;              /* who was first decides ... */\n"
            "    pl_store_int(out, winner);                              /* ... and the result shows it */\n",
        .repairs =
            "  - Wait for a fixed count instead of reading the current one.\n"
            "  - Combine contributions in a fixed order (by device id), not in order of arrival.\n"
            "  - If both results are right, state the property they share as the expected result.\n",
    },
    [FAULT_NO_PROGRESS] = {
        .meaning = "A core loops forever: the whole state repeats and no other core can change the value it polls, or it loops without "
                   "doing any operation.",
        .example =
            "    while (pl_semaphore_read(ready) < 2)                    /* only one signal is ever sent */\n"
            "        ;\n",
        .repairs =
            "  - Wait with pl_semaphore_wait where the number of signals is known; a wait that cannot be satisfied names who is missing.\n"
            "  - Check the loop's own condition: does anything in the loop change it?\n"
            "  - A polling loop needs a writer that is not itself stuck behind the poller.\n",
    },
    [FAULT_CRASH] = {
        .meaning = "The kernel's own code failed: an invalid memory access, a stack overflow, a division by zero, an abort or a call "
                   "of exit.",
        .example =
            "    int slots[4];\n"
            "    for (int i = 0; i <= n; i++)\n"
            "        slots[i] = i;                                       /* writes past the end */\n",
        .repairs =
            "  - The line shown is the last operation that the core handed over: the crash is between it and the next one.\n"
            "  - `heddle replay FILE -v` lists every move up to there.\n"
            "  - Cores have small stacks: no deep recursion and no large arrays among the local variables.\n",
    },
};

typedef struct ExplainedAdvice { const char *name, *meaning; } ExplainedAdvice;

static const ExplainedAdvice ADVICE[ADVICE_COUNT] = {
    [ADVICE_AMBIGUOUS_WAIT] = {
        "ambiguous-wait",
        "Different signals or copies can satisfy this wait, depending on the schedule. That is harmless only as long as the code after "
        "it does not rely on one of them in particular.",
    },
    [ADVICE_OVERSIGNAL] = {
        "oversignal",
        "A count can rise above what the next wait needs: a signaller runs ahead. It does no harm here, but a later change may come to "
        "rely on it.",
    },
    [ADVICE_NEEDLESS_SYNC] = {
        "needless-sync",
        "Without this wait or barrier the program is still verified: it costs time and orders nothing that needs to be ordered. "
        "A wait alone is tried at the end of the launch instead, since its signals must be taken somewhere.",
    },
    [ADVICE_NON_NEIGHBOUR] = {
        "non-neighbour",
        "A copy goes further than one hop on the mesh: it shares links with other traffic, and takes as many hops as the report says.",
    },
    [ADVICE_EARLY_SIGNAL] = {
        "early-signal",
        "A step can name a scoped semaphore or buffer before the target device has opened that scope. It is accepted under --scopes "
        "static, where scopes have fixed places in memory, and a lifetime fault under --scopes strict.",
    },
    [ADVICE_WAIT_DESCRIPTOR_RANGE] = {
        "wait-descriptor-range",
        "A descriptor that is only waited on reaches outside its buffer. It only counts bytes, so nothing is accessed, but the number of "
        "bytes may not be the one you meant.",
    },
    [ADVICE_UNREACHED] = {
        "unreached",
        "No run of any checked size executed these operations: the verdict says nothing about them.",
    },
    [ADVICE_NEVER_RAN] = {
        "never-ran",
        "This launch never runs its kernel: its grid has no step, or it names no device. The verdict says nothing about that kernel.",
    },
    [ADVICE_NO_EXPECTATION] = {
        "no-expectation",
        "The program states no expected result: the orders were checked, but not what was computed.",
    },
    [ADVICE_UNUSED_EXEMPTION] = {
        "unused-exemption",
        "The program exempts a fault that no schedule shows at this size. An exemption that is not needed would hide the next mistake.",
    },
    [ADVICE_NO_DOMAIN] = {
        "no-domain",
        "An input of integers steers the kernel, and only one value of it was checked: the verdict says nothing about others.",
    },
    [ADVICE_IDLE_EXPECTATION] = {
        "idle-expectation",
        "This expectation holds before anything runs, or whatever the values are: it says nothing about the kernel.",
    },
};

const char *fault_name(FaultId id)
{
    g_assert(id < FAULT_COUNT);
    return FAULT_FORM[id].name;
}

bool fault_from_name(const char *name, FaultId *id)
{
    for (unsigned i = 0; i < FAULT_COUNT; i++)
        if (strcmp(FAULT_FORM[i].name, name) == 0) {
            *id = (FaultId)i;
            return true;
        }
    return false;
}

const char *fault_meaning(FaultId id)
{
    g_assert(id < FAULT_COUNT);
    return FAULT[id].meaning;
}

const char *fault_example(FaultId id)
{
    g_assert(id < FAULT_COUNT);
    return FAULT[id].example;
}

const char *fault_repairs(FaultId id)
{
    g_assert(id < FAULT_COUNT);
    return FAULT[id].repairs;
}

const char *advice_name(AdviceId id)
{
    g_assert(id < ADVICE_COUNT);
    return ADVICE[id].name;
}

const char *advice_meaning(AdviceId id)
{
    g_assert(id < ADVICE_COUNT);
    return ADVICE[id].meaning;
}

bool advice_narrows(AdviceId id)
{
    return id == ADVICE_NEVER_RAN || id == ADVICE_IDLE_EXPECTATION || id == ADVICE_NO_DOMAIN;
}
