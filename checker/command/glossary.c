/* glossary.c - each word, as the author of a kernel needs to know it. */
#include "glossary.h"
#include <string.h>

const GlossaryWord glossary[] = {
    {"agent",
     "Anything that takes steps: a core of a device, or a copy in flight."},
    {"bounded",
     "A verdict: no fault was seen, but a limit was reached or something was not judged. It is not a proof."},
    {"checkpoint",
     "A file with the progress of a long search. --resume continues from it."},
    {"class",
     "All executions with the same conflicting steps in the same order. They have the same faults, so one of them is run and the "
     "others are proved from it. The literature calls it a Mazurkiewicz trace."},
    {"conflict",
     "A pair of steps of two agents whose order changes what a core observes: two waits that compete for one count, a look at a count "
     "and a signal to it, two stores to a flag. Each order of a conflict is explored."},
    {"count",
     "The value of a semaphore. A signal or a copy adds to it; a wait takes its value from it, and waits until it can."},
    {"dma-order",
     "--dma-order issue-order: all copies of a core complete in the order of their starts. link-fifo: those to one device do. "
     "unordered, the default: none do."},
    {"execution",
     "One run of all cores and copies, from the first launch to the end, in one order."},
    {"exemption",
     "A fault that the program allows with pl_exempt and a reason. It is reported as allowed. What it may have reached is not judged, "
     "and the verdict is then bounded."},
    {"expectation",
     "What the program states about its results: pl_expect_all_gather and the like, or a function of the expected values."},
    {"faulty",
     "A verdict: some schedule shows a fault. Each fault was replayed before it was reported."},
    {"fluid",
     "The progress of copies that is assumed by default: a copy may signal bytes on its semaphores before all its data is written, so "
     "a wait for fewer bytes than a copy has can pass early. With --dma-progress whole it signals all bytes at its end."},
    {"grid-step",
     "One round of a launch's grid; pl.program_id in Pallas."},
    {"inputs",
     "What a program leaves open: each pl_choose, and each element of pl_input_among and pl_table_among. With --inputs, one execution of "
     "each input is recorded. Inputs whose records are the same but for values have one shape, and one proof is enough for them. The "
     "smallest wrong input is shown."},
    {"launch",
     "One call of a kernel on all its devices (pallas_call). Devices enter and leave it at different times."},
    {"leave",
     "A device leaves a launch when all its cores are at the end of the kernel. Its buffers and semaphores then belong to others."},
    {"life",
     "The time in which a buffer or a semaphore exists: that of its launch on its device, or that of its scope."},
    {"move",
     "One entry of a schedule: which agent does its next step."},
    {"occurrence",
     "The same fault at the same source lines, by other devices or in other rounds of a loop. One is shown."},
    {"opaque",
     "--data opaque: contents are left out: regions, counts and orders are checked, but not the values of results."},
    {"padded",
     "--bounds padded: a VMEM buffer reaches to the end of its tiles, as on hardware. logical, the default: to the end of its shape."},
    {"region",
     "The elements of a buffer that a step reads or writes."},
    {"schedule",
     "The moves of an execution, in their order. heddle replay runs a saved one again."},
    {"scope",
     "A buffer or semaphore that is made inside a kernel lives in a scope: pl.run_scoped in Pallas, PL_SCOPED in C. With --scopes "
     "static, the default, it has the same address on all devices, and signals may come before its device opens it."},
    {"search",
     "How a check decides. auto and prove: one execution of each class, and a proof for the rest of it. enumerate: every state. "
     "random, pct, pos and starve: a number of sampled schedules."},
    {"site",
     "The source line of a step, and the macro on it."},
    {"state",
     "Where all cores and copies stand, with counts, flags and, if it matters, contents. --search enumerate visits each once."},
    {"step",
     "One atomic action of an agent: a load, a store, a signal, a wait, the start of a copy; for a copy, its read and its write."},
    {"verified",
     "A verdict: no schedule at this size and input, under the stated assumptions, shows a fault."},
    {"window",
     "A block of an array that a launch copies into and out of a buffer around each grid step; BlockSpec in Pallas. With --windows "
     "pipelined, the default, blocks of other grid steps are copied meanwhile."},
    {NULL, NULL},
};

const char *glossary_meaning(const char *name)
{
    for (const GlossaryWord *word = glossary; word->name; word++)
        if (strcmp(word->name, name) == 0)
            return word->meaning;
    return NULL;
}
