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

static const Target HOME = { 0, NONE };
static uint32_t word;
static int size;

static Ref element(const Core *core, int index)
{
    const ViewIndex at = { .start = index, .size = 1, .stride = 1, .is_index = true };
    const char *why = NULL;
    View view;
    view_at(&view, program_get_view(core->program, program_decl(core->program, word)->view), 1, &at, &why);
    return (Ref){ word, program_view(core->program, &view), NONE };
}

static int64_t get(Core *core, int x)
{
    return core_flag_load(core, program_site(core->program, "bench", "get", 1, 0), element(core, x), HOME);
}

static void put(Core *core, int x, int64_t value)
{
    core_flag_store(core, program_site(core->program, "bench", "put", 2, 0), element(core, x), HOME, value);
}

static void readers(Core *core, const Launch *launch)
{
    (void)launch;
    if (core->id == 0)
        put(core, 0, 1);
    else
        get(core, 0);
}

static void lastzero(Core *core, const Launch *launch)
{
    (void)launch;
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

static void measure(const char *name, int n, UnrollSource *(*open)(void *), void (*close)(void), void *of)
{
    double begin = seconds(), now = begin;
    uint64_t executions = 0, searches = 0, classes = 0;
    for (; now < begin + 0.5; now = seconds(), searches++) {
        Outcome *outcome = classes_run(open(of), &(ClassesOptions){ .no_end_states = true }, NULL);
        executions += outcome->executions, classes = outcome->classes;
        outcome_free(outcome);
        close();
    }
    printf("%-10s %4d %9lu %9lu %12.0f\n", name, n, classes, searches, (double)executions / (now - begin));
    fflush(stdout);
}

static Unroller *unroller;

static UnrollSource *open_program(void *program)
{
    unroller = unroller_new(program);
    return unroller_source(unroller);
}

static void close_program(void)
{
    unroller_free(unroller);
}

static void measure_words(const char *name, int n, uint32_t words, void (*body)(Core *, const Launch *))
{
    const Knobs knobs = { 0 };
    Mesh mesh;
    mesh_line(&mesh, (uint32_t)n + 1);
    Program *program = program_new(&mesh, 1, &knobs);
    program->bare = true;
    const DeclSpec spec = { .space = SPACE_SEMAPHORE, .semaphore_kind = SEMAPHORE_FLAG, .dtype = DTYPE_I32, .life = LIFE_ALWAYS, .ndim = 1,
                            .size = { words }, .collective_id = -1, .name = "word" };
    word = program_add_decl(program, &spec), size = n;
    program_add_launch(program)->body = body;
    measure(name, n, open_program, close_program, program);
    program_free(program);
}

static UnrollSource *open_script(void *script)
{
    return &((Script *)script)->source;
}

static void close_script(void)
{
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
    measure("permute", rounds, open_script, close_script, script);
    script_free(script);
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
