/* hidden.c - state outside the machine: kernels that keep some, which cannot be checked, and kernels that keep none. */
#include <heddle/pallas.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int plain, *made_early, *made_by_program, *mapped;
static struct { char before[100]; int field; } structure;
static _Thread_local int of_thread;
static char *text;
static pthread_key_t key;
static FILE *file;
static PlCopy handle;

static __attribute__((constructor)) void begin(void) { made_early = calloc(1, 4); }

static void prepare(void)
{
    made_by_program = realloc(malloc(4), 12);
    memset(made_by_program, 0, 12);
    mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    text = strdup("0");
    pthread_key_create(&key, NULL);
    file = tmpfile();
}

static int *in_a_helper(void)
{
    static int calls;
    return &calls;
}

/* Device 0 sets it after its signal, device 1 looks at it after its wait: what it sees is up to the order, and no order is told apart. */
#define HIDDEN(name, set, is_set) \
    KERNEL(name, go, never) \
    { \
        if (pl_device_id() == 0) { \
            pl_semaphore_signal(go, 1, pl_device(1)); \
            set; \
        } else { \
            pl_semaphore_wait(go, 1); \
            if (!(is_set)) \
                pl_semaphore_wait(never, 1); \
        } \
    } \
    PROGRAM(name, "hidden state") \
    { \
        PL_NEEDS(pl_num_devices() == 2, "two"); \
        prepare(); \
        pl_launch(name, .args = {pl_regular_semaphore(), pl_regular_semaphore()}); \
    }

HIDDEN(static_alone, plain = 1, plain)
HIDDEN(static_in_helper, ++*in_a_helper(), *in_a_helper())
HIDDEN(static_in_structure, structure.field = 1, structure.field)
HIDDEN(thread_local, of_thread = 1, of_thread)
HIDDEN(block_of_constructor, *made_early = 1, *made_early)
HIDDEN(block_of_program, made_by_program[2] = 1, made_by_program[2])
HIDDEN(block_of_strdup, text[0] = '1', text[0] == '1')
HIDDEN(block_freed, free(made_by_program), made_by_program)
HIDDEN(pages_mapped, *mapped = 1, *mapped)
HIDDEN(error_number, errno = 5, errno == 5)
HIDDEN(environment, setenv("HIDDEN", "1", 1), getenv("HIDDEN"))
HIDDEN(random_numbers, srand(7), rand() == 7)
HIDDEN(tokens, strtok(text, "x"), strtok(NULL, "x"))
HIDDEN(thread_key, pthread_setspecific(key, &key), pthread_getspecific(key))
HIDDEN(file_read, fputc('1', file), fgetc(file) == '1')
HIDDEN(file_made, fopen("hidden.txt", "w"), access("hidden.txt", F_OK) == 0)
HIDDEN(clock_read, (void)0, clock() == 7)
HIDDEN(time_read, (void)0, time(NULL) & 1)
HIDDEN(process_id, (void)0, getpid() & 1)

/* Each core sets the static before it reads it, and puts it back in the end: cores take turns in between. */
static int my_id;
static PlDevice right(void) { return pl_device((my_id + 1) % pl_num_devices()); }
KERNEL(static_put_back, input, output, send_sem, recv_sem)
{
    my_id = pl_device_id();
    pl_copy_wait(pl_async_remote_copy(input, output, send_sem, recv_sem, right()));
    my_id = 0;
}
PROGRAM(static_put_back, "a static that is cleared at the end")
{
    pl_launch(static_put_back, .args = {pl_input(PL_F32, 8), pl_output(PL_F32, 8), pl_dma_semaphore(), pl_dma_semaphore()});
}

/* The first value is there again whenever the run is over: only in between does one device see what the other did. */
KERNEL(static_restored, go, never)
{
    if (pl_device_id() == 0) {
        pl_semaphore_signal(go, 1, pl_device(1));
        plain = 1;
        pl_semaphore_wait(go, 1);
        plain = 0;
    } else {
        pl_semaphore_wait(go, 1);
        if (!plain)
            pl_semaphore_wait(never, 1);
        pl_semaphore_signal(go, 1, pl_device(0));
    }
}
PROGRAM(static_restored, "a static that has its first value again")
{
    PL_NEEDS(pl_num_devices() == 2, "two");
    pl_launch(static_restored, .args = {pl_regular_semaphore(), pl_regular_semaphore()});
}

KERNEL(handle_in_static, input, output, sem)
{
    handle = pl_make_async_copy(input, output, sem);
    pl_copy_start(handle);
    pl_copy_wait(handle);
}
PROGRAM(handle_in_static, "the checker itself writes to a static")
{
    pl_launch(handle_in_static, .args = {pl_input(PL_F32, 8), pl_output(PL_F32, 8), pl_dma_semaphore()});
}

/* Only where device 1's look comes after the signal, which the first run does not show. */
KERNEL(static_in_another_order, sem)
{
    if (pl_device_id() == 0) {
        pl_semaphore_signal(sem, 1, pl_device(1));
    } else {
        if (pl_semaphore_read(sem) == (int)pl_parameter(count))
            plain = 1;
        pl_semaphore_wait(sem, 1);
    }
}
PROGRAM(static_in_another_order, "a static that one order alone writes to")
{
    PL_NEEDS(pl_num_devices() == 2, "two");
    PARAMETER(count, 1, 0, 1);
    pl_launch(static_in_another_order, .args = {pl_regular_semaphore()});
}

KERNEL(own_address, sem)
{
    int here;
    pl_semaphore_signal(sem, 1 + (int)((uintptr_t)&here >> 4 & 63));
    pl_semaphore_wait(sem, 1 + (int)((uintptr_t)&here >> 4 & 63));
}
PROGRAM(own_address, "where a local is") { pl_launch(own_address, .args = {pl_regular_semaphore()}); }

KERNEL(unset_block, never)
{
    int *block = malloc(4);
    __asm__("" : "+r"(block));                  /* the compiler has lost sight of it */
    if (*block == 0)
        pl_semaphore_wait(never, 1);
    free(block);
}
PROGRAM(unset_block, "what malloc gives") { pl_launch(unset_block, .args = {pl_regular_semaphore()}); }

/* ---- functions of values ---- */

static double counts(int device, const int64_t *index) { (void)device, (void)index; return ++plain; }
static double throws(int device, const int64_t *index) { (void)device, (void)index; return rand(); }
static double expects(const PlRef *ref, int device, const int64_t *index) { (void)ref, (void)device, (void)index; return plain++; }
static double reads(int device, const int64_t *index) { (void)device; return made_by_program[0] + of_thread + plain + index[0]; }
static double read_expected(const PlRef *ref, int device, const int64_t *index) { (void)ref; return reads(device, index); }

KERNEL(copies, input, output, sem) { pl_copy_wait(pl_async_copy(input, output, sem)); }

#define VALUES(name, fill, expect) \
    PROGRAM(name, "a function of values") \
    { \
        PlRef input = pl_input(PL_F32, 8), output = pl_output(PL_F32, 8); \
        prepare(), plain = 100, of_thread = 200, made_by_program[0] = 300; \
        fill; \
        expect; \
        pl_launch(copies, .args = {input, output, pl_dma_semaphore()}); \
    }

VALUES(fill_counts, pl_fill(input, counts), (void)0)
VALUES(fill_throws, pl_fill(input, throws), (void)0)
VALUES(expected_counts, (void)0, pl_expect_values(output, expects, 0))
VALUES(values_of_program, pl_fill(input, reads), pl_expect_values(output, read_expected, 0))

/* ---- kernels that keep nothing ---- */

static int rounds, table[4];
static const char *names[2];

KERNEL(reads_what_program_left, sem)
{
    pl_assert(rounds == 3 && table[1] == 2 && made_by_program[0] == 4 && made_early[0] == 5 && of_thread == 6 && text[0] == '7'
              && strcmp(names[1], "x") == 0 && *mapped == 8);
    for (int i = 0; i < rounds; i++)
        pl_semaphore_signal(sem, 1);
    pl_semaphore_wait(sem, 3);
}
PROGRAM(reads_what_program_left, "all kinds of memory")
{
    prepare();
    rounds = 3, table[1] = 2, made_by_program[0] = 4, made_early[0] = 5, of_thread = 6, text[0] = '7', names[1] = "x", *mapped = 8;
    pl_launch(reads_what_program_left, .args = {pl_regular_semaphore()});
}

KERNEL(waits_as_often_as_told, never)
{
    for (int i = 0; i < rounds; i++)
        pl_semaphore_wait(never, 1);
}
PROGRAM(waits_as_often_as_told, "its wrong twin: the bound is PROGRAM's")
{
    rounds = PARAMETER(rounds, 1, 0, 8);
    pl_launch(waits_as_often_as_told, .args = {pl_regular_semaphore()});
}

KERNEL(allocates, sem)
{
    int *own = malloc(8 * sizeof *own), *more = calloc(100, 4), *kept = malloc(4);
    for (int i = 0; i < 8; i++)
        own[i] = i + more[i];
    *kept = pl_device_id() + 1;
    pl_semaphore_signal(sem, own[3] + more[99] + *kept);
    own = realloc(own, 4000);
    free(more);
    char *copy = strdup("abc");
    printf("%s\n", copy);
    pl_semaphore_wait(sem, own[3] + *kept);
    free(copy);
    free(own);
}
PROGRAM(allocates, "blocks of a core alone, one of them never freed") { pl_launch(allocates, .args = {pl_regular_semaphore()}); }

KERNEL(counts_in_a_block, sem)
{
    int *looks = calloc(1, 4);
    if (pl_device_id() == 0) {
        pl_semaphore_signal(sem, 1, pl_device(1));
    } else {
        while (pl_semaphore_read(sem) == 0 && ++*looks < 3)
            ;
        pl_semaphore_wait(sem, *looks < 3 ? 1 : 2);
    }
}
PROGRAM(counts_in_a_block, "a poll that gives up, and counts outside of its stack")
{
    PL_NEEDS(pl_num_devices() == 2, "two");
    pl_launch(counts_in_a_block, .args = {pl_regular_semaphore()});
}

KERNEL(puts_back_at_once, sem)
{
    static int here;
    here = 3;
    int three = here + plain;
    here = 0;
    pl_semaphore_signal(sem, three);
    pl_semaphore_wait(sem, 3);
}
PROGRAM(puts_back_at_once, "a static that is as it was before the next operation")
{
    pl_launch(puts_back_at_once, .args = {pl_regular_semaphore()});
}
