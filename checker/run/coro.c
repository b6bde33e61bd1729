/* coro.c - switching stacks: our own few instructions on x86-64 and AArch64, ucontext elsewhere.
 *
 * A switch saves what the ABI calls callee-saved and swaps stack pointers. The sanitizers are told about each switch, as their fiber
 * interface asks. Stacks are one reservation, committed by touching; each has a guard page below it as long as the number of mappings
 * stays well under the kernel's limit, beyond that a known word at the far end that every switch checks.
 */
#include "coro.h"
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include "../../model/store.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define CORO_ASAN 1
#endif
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#define CORO_UCONTEXT 1
#endif

enum { STACK_BYTES = 256 << 10, PAGE = 4096, GUARDED_MAX = 16384, FAR_WORD = 0x5ca1ab1e };

typedef struct Coro {
    void *stack_pointer;
    void (*run)(void *);
    void *argument;
    bool done, started;
#ifdef CORO_UCONTEXT
    ucontext_t context;
#endif
} Coro;

struct CoroPool {
    char *stacks;
    uint32_t slots, running;                    /* running: NONE-like UINT32_MAX outside */
    bool guarded;
    size_t shift;
    unsigned char fill;
    size_t filled;                              /* bytes */
    void *outside;                              /* stack pointer of the resumer */
#ifdef CORO_UCONTEXT
    ucontext_t outside_context;
#endif
    const void *outside_bottom;
    size_t outside_size;
    Coro coro[];
};

static char *stack_of(const CoroPool *pool, uint32_t slot)
{
    return pool->stacks + (size_t)slot * STACK_BYTES;
}

CoroPool *coro_pool_new(uint32_t slots)
{
    CoroPool *pool = g_malloc0(sizeof *pool + slots * sizeof(Coro));
    pool->slots = slots, pool->running = UINT32_MAX, pool->guarded = slots <= GUARDED_MAX;
    pool->stacks = mmap(NULL, (size_t)slots * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool->stacks == MAP_FAILED)
        store_run_out("no address space is left for the stacks of the cores");
    for (uint32_t i = 0; i < slots; i++) {
        if (pool->guarded)
            g_assert(mprotect(stack_of(pool, i), PAGE, PROT_NONE) == 0);
        else
            *(uint32_t *)(void *)stack_of(pool, i) = FAR_WORD;
    }
    return pool;
}

void coro_pool_free(CoroPool *pool)
{
    if (pool == NULL)
        return;
#ifdef CORO_ASAN
    __asan_unpoison_memory_region(pool->stacks, (size_t)pool->slots * STACK_BYTES);        /* others map that memory next */
#endif
    munmap(pool->stacks, (size_t)pool->slots * STACK_BYTES);
    g_free(pool);
}

void coro_pool_shift(CoroPool *pool, size_t shift, unsigned char fill)
{
    g_assert(shift % 16 == 0 && shift < 65536 && pool->running == UINT32_MAX);
    pool->shift = shift;
    coro_pool_fill(pool, fill, CORO_FILLED_BYTES);
}

void coro_pool_fill(CoroPool *pool, unsigned char fill, size_t bytes)
{
    g_assert(bytes <= CORO_FILLED_DEEP);
    pool->fill = fill, pool->filled = bytes;
}

bool coro_done(const CoroPool *pool, uint32_t slot)
{
    return pool->coro[slot].done;
}

bool coro_in_guard(const CoroPool *pool, const void *address, uint32_t *slot)
{
    const char *at = address;
    if (at < pool->stacks || at >= pool->stacks + (size_t)pool->slots * STACK_BYTES)
        return false;
    *slot = (uint32_t)((size_t)(at - pool->stacks) / STACK_BYTES);
    return (size_t)(at - pool->stacks) % STACK_BYTES < PAGE;
}

const void *coro_stack_in_use(const CoroPool *pool, uint32_t slot, size_t *bytes)
{
#if defined(CORO_UCONTEXT) || defined(CORO_ASAN)        /* hidden, or full of red zones that must not be read */
    (void)pool, (void)slot, (void)bytes;
    return NULL;
#else
    const char *top = stack_of(pool, slot) + STACK_BYTES - pool->shift, *pointer = pool->coro[slot].stack_pointer;
    *bytes = (size_t)(top - pointer);
    return pointer;
#endif
}

static void leave(CoroPool *pool, bool for_good);

static _Thread_local CoroPool *entering;        /* whose coroutine is being started: read once, at its entry */

/* Backtraces end here: nobody called it. */
#if defined(__x86_64__)
#define ENDS_BACKTRACES() __asm__ volatile(".cfi_undefined rip")
#else
#define ENDS_BACKTRACES() __asm__ volatile(".cfi_undefined x30")
#endif

static void enter_coroutine(void)
{
    ENDS_BACKTRACES();
    CoroPool *pool = entering;
    Coro *coro = &pool->coro[pool->running];
#ifdef CORO_ASAN
    __sanitizer_finish_switch_fiber(NULL, &pool->outside_bottom, &pool->outside_size);
#endif
    coro->run(coro->argument);
    coro->done = true;
    leave(pool, true);
    g_assert_not_reached();
}

#if defined(__x86_64__)
/* void coro_switch(void **save, void *load): the frame pointer's zero at entry ends backtraces. */
__asm__(".text\n.type coro_switch,@function\ncoro_switch:\n"
        "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "subq $8,%rsp\nstmxcsr (%rsp)\nfnstcw 4(%rsp)\n"
        "movq %rsp,(%rdi)\nmovq %rsi,%rsp\n"
        "ldmxcsr (%rsp)\nfldcw 4(%rsp)\naddq $8,%rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
        ".size coro_switch,.-coro_switch\n");
void coro_switch(void **save, void *load);

static void prepare(Coro *coro, char *top)
{
    void **frame = (void **)(void *)top;
    *--frame = NULL;                            /* as if called from address 0, which also leaves the stack aligned as a call does */
    *--frame = (void *)enter_coroutine;
    for (int i = 0; i < 6; i++)
        *--frame = NULL;                        /* rbp, rbx, r12 to r15 */
    uint32_t control[2] = { 0x1f80, 0x037f };   /* mxcsr, x87 control word: the ABI's defaults */
    memcpy(--frame, control, sizeof control);
    coro->stack_pointer = frame;
}
#elif defined(__aarch64__)
__asm__(".text\n.type coro_switch,%function\ncoro_switch:\n"
        "sub sp,sp,#176\n"
        "stp x19,x20,[sp,#0]\nstp x21,x22,[sp,#16]\nstp x23,x24,[sp,#32]\nstp x25,x26,[sp,#48]\n"
        "stp x27,x28,[sp,#64]\nstp x29,x30,[sp,#80]\n"
        "stp d8,d9,[sp,#96]\nstp d10,d11,[sp,#112]\nstp d12,d13,[sp,#128]\nstp d14,d15,[sp,#144]\n"
        "mov x9,sp\nstr x9,[x0]\nmov sp,x1\n"
        "ldp x19,x20,[sp,#0]\nldp x21,x22,[sp,#16]\nldp x23,x24,[sp,#32]\nldp x25,x26,[sp,#48]\n"
        "ldp x27,x28,[sp,#64]\nldp x29,x30,[sp,#80]\n"
        "ldp d8,d9,[sp,#96]\nldp d10,d11,[sp,#112]\nldp d12,d13,[sp,#128]\nldp d14,d15,[sp,#144]\n"
        "add sp,sp,#176\nret\n"
        ".size coro_switch,.-coro_switch\n");
void coro_switch(void **save, void *load);

static void prepare(Coro *coro, char *top)
{
    void **frame = (void **)(void *)(top - 176);
    memset(frame, 0, 176);
    frame[11] = (void *)enter_coroutine;        /* x30; x29 = 0 ends backtraces */
    coro->stack_pointer = frame;
}
#endif

void coro_start(CoroPool *pool, uint32_t slot, void (*run)(void *), void *argument)
{
    Coro *coro = &pool->coro[slot];
    char *bottom = stack_of(pool, slot) + (pool->guarded ? PAGE : sizeof(uint64_t));
    char *top = stack_of(pool, slot) + STACK_BYTES - pool->shift;
#ifdef CORO_ASAN
    __asan_unpoison_memory_region(bottom, (size_t)(top - bottom));
#endif
    if (pool->fill != 0)
        memset(top - pool->filled, pool->fill, pool->filled);
    *coro = (Coro){ .run = run, .argument = argument, .started = true };
#ifdef CORO_UCONTEXT
    getcontext(&coro->context);
    coro->context.uc_stack.ss_sp = bottom;
    coro->context.uc_stack.ss_size = (size_t)(top - bottom);
    makecontext(&coro->context, enter_coroutine, 0);
#else
    (void)bottom;
    prepare(coro, top);
#endif
}

static void check_far_word(const CoroPool *pool, uint32_t slot)
{
    g_assert(pool->guarded || *(uint32_t *)(void *)stack_of(pool, slot) == FAR_WORD);   /* else: the kernel overflowed its stack */
}

void coro_resume(CoroPool *pool, uint32_t slot)
{
    Coro *coro = &pool->coro[slot];
    g_assert(pool->running == UINT32_MAX && coro->started && !coro->done);
    pool->running = slot;
    entering = pool;
#ifdef CORO_ASAN
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, stack_of(pool, slot), STACK_BYTES);
#endif
#ifdef CORO_UCONTEXT
    swapcontext(&pool->outside_context, &coro->context);
#else
    coro_switch(&pool->outside, coro->stack_pointer);
#endif
#ifdef CORO_ASAN
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
    pool->running = UINT32_MAX;
    check_far_word(pool, slot);
}

static void leave(CoroPool *pool, bool for_good)
{
    Coro *coro = &pool->coro[pool->running];
#ifdef CORO_ASAN
    void *fake = NULL;
    __sanitizer_start_switch_fiber(for_good ? NULL : &fake, pool->outside_bottom, pool->outside_size);
#else
    (void)for_good;
#endif
#ifdef CORO_UCONTEXT
    swapcontext(&coro->context, &pool->outside_context);
#else
    coro_switch(&coro->stack_pointer, pool->outside);
#endif
#ifdef CORO_ASAN
    __sanitizer_finish_switch_fiber(fake, &pool->outside_bottom, &pool->outside_size);
#endif
}

void coro_yield(CoroPool *pool)
{
    g_assert(pool->running != UINT32_MAX);
    leave(pool, false);
}
