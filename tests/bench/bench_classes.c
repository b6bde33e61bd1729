/* bench_classes.c - executions a second of the search over classes, for short programs: searched whole again and again, and once where
 * there are many. Called by `make bench`.
 *
 * An execution is a class that was run to its end and judged. Seconds are those that the one thread of the search computes, in user code
 * and in the kernel, from beginning a search to freeing it: running the program's code for each new list of observations, choosing,
 * proving. The program itself is made before.
 *
 * lastzero and readers: see test_classes.c. permute: so many times each of two devices copies to the other one and looks at the count of
 * what arrives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "../../checker/classes/classes.h"
#include "../support/script.h"

static uint32_t word;
static int size;

static int64_t get(Core *core, int x) { return core_flag_load(core, script_line(core, 1), script_at(word, x), script_on(0)); }
static void put(Core *core, int x, int64_t value) { core_flag_store(core, script_line(core, 2), script_at(word, x), script_on(0), value); }

SCRIPT_BODY(readers)
{
    if (core->id == 0)
        put(core, 0, 1);
    else
        get(core, 0);
}

SCRIPT_BODY(lastzero)
{
    if (core->id > 0) {
        put(core, (int)core->id, get(core, (int)core->id - 1) + 1);
        return;
    }
    for (int i = size; get(core, i) != 0; i--)
        ;
}

static double seconds(void)
{
    struct rusage now;
    getrusage(RUSAGE_SELF, &now);
    return (double)(now.ru_utime.tv_sec + now.ru_stime.tv_sec) + (double)(now.ru_utime.tv_usec + now.ru_stime.tv_usec) / 1e6;
}

static void measure(const char *name, int n, Script *script)
{
    double begin = seconds(), now = begin;
    uint64_t executions = 0, searches = 0, classes = 0;
    for (; now < begin + 0.5; now = seconds(), searches++) {
        Outcome *outcome = classes_run(script_source(script), &(ClassesOptions){ .no_end_states = true }, NULL);
        executions += outcome->executions, classes = outcome->classes;
        outcome_free(outcome);
    }
    printf("%-10s %4d %9lu %9lu %12.0f\n", name, n, classes, searches, (double)executions / (now - begin));
    fflush(stdout);
    script_free(script);
}

static void measure_words(const char *name, int n, uint32_t words, void (*body)(Core *, const Launch *))
{
    Script *script = script_around((uint32_t)n + 1, NULL, body);
    word = script_semaphore(script, SEMAPHORE_FLAG, words, "word"), size = n;
    measure(name, n, script);
}

static void measure_permute(int rounds)
{
    Script *script = script_new(2, 1, NULL);
    uint32_t buffer = script_buffer(script, SPACE_HBM, 2 * (uint32_t)rounds, 8, "buffer");
    uint32_t send = script_semaphore(script, SEMAPHORE_DMA, 1, "send"), receive = script_semaphore(script, SEMAPHORE_DMA, 1, "receive");
    for (uint32_t step = 0; step < 2 * (uint32_t)rounds; step++) {
        uint32_t core = step % 2, slot = step / 2 * 2, arrived = script_semaphore_id(script, receive, core, 0);
        script_copy(script, core, buffer, slot, buffer, slot + 1, 1 - core, script_semaphore_id(script, send, core, 0),
                    script_semaphore_id(script, receive, 1 - core, 0), true);
        script_step(script, core, STEP_SEMAPHORE_READ, arrived, 0, 0);
        script_wait(script, core, script_semaphore_id(script, send, core, 0), 8);
        script_wait(script, core, arrived, 8);
    }
    measure("permute", rounds, script);
}

int main(void)
{
    printf("%-10s %4s %9s %9s %12s\n", "classes of", "size", "classes", "searches", "executions/s");
    measure_words("lastzero", 5, 6, lastzero);
    measure_words("lastzero", 15, 16, lastzero);
    measure_words("readers", 8, 1, readers);
    measure_words("readers", 16, 1, readers);
    measure_permute(1);
    measure_permute(3);
    return 0;
}
