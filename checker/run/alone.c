/* alone.c - a few instructions of BPF. The stacks of our threads lie in one reservation, a power of two aligned to its own size, so that
 * the upper half of a stack pointer identifies them.
 */
#include "alone.h"
#include <errno.h>
#include <glib.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#ifndef __NR_fork                               /* nor vfork */
#define __NR_fork (-1)
#define __NR_vfork (-1)
#endif

#define STACKS_BYTES ((size_t)1 << 33)
#define STACK_BYTES ((size_t)1 << 23)
enum { GUARD_BYTES = 4096 };
static const uint32_t SECRET = 0x5ec7e7a1;      /* in an argument that clone does not have */

static char *stacks;                            /* NULL: there is no filter */

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no)
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)

#if defined(ARCHITECTURE) && !defined(__SANITIZE_ADDRESS__)
static char *reserve_stacks(void)
{
    char *at = mmap(NULL, 2 * STACKS_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    size_t before = STACKS_BYTES - (uintptr_t)at % STACKS_BYTES;
    munmap(at, before);
    munmap(at + before + STACKS_BYTES, STACKS_BYTES - before);
    return at + before;
}

/* A child has one filter: it cannot be removed, and processes that it forks inherit it. */
void alone_begin(void)
{
    char *reserved = reserve_stacks();
    uint32_t above = (uint32_t)(STACKS_BYTES >> 32) - 1;        /* bits of the upper half that differ between stacks */
    struct sock_filter filter[] = {
        LOAD(arch), IF(ARCHITECTURE, 1, 0), ANSWER(SECCOMP_RET_ALLOW), LOAD(nr),
        IF(__NR_clone3, 0, 1), ANSWER(SECCOMP_RET_ERRNO | ENOSYS),      /* its arguments are in memory: the C library falls back to clone */
        IF(__NR_fork, 14, 0), IF(__NR_vfork, 13, 0), IF(__NR_execve, 12, 0), IF(__NR_execveat, 11, 0),
        IF(__NR_clone, 1, 0), ANSWER(SECCOMP_RET_ALLOW),
        LOAD(args[5]), IF(SECRET, 0, 1), ANSWER(SECCOMP_RET_ALLOW),
        LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~above), IF((uintptr_t)reserved >> 32, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW), ANSWER(SECCOMP_RET_TRAP),
    };
    const struct sock_fprog program = { .len = G_N_ELEMENTS(filter), .filter = filter };
    if (reserved != NULL && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0)
        stacks = reserved;
}
#else
void alone_begin(void)
{
}
#endif

pid_t alone_fork(void)
{
    return stacks == NULL ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0, SECRET);
}

typedef struct Thread {
    pthread_t id;
    unsigned index;
    void (*run)(void *data, unsigned index);
    void *data;
} Thread;

static void *run_thread(void *data)
{
    const Thread *thread = data;
    thread->run(thread->data, thread->index);
    return NULL;
}

static void start(Thread *thread)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stacks != NULL) {
        char *stack = stacks + thread->index * STACK_BYTES;
        g_assert((thread->index + 1) * STACK_BYTES <= STACKS_BYTES);
        if (mprotect(stack + GUARD_BYTES, STACK_BYTES - GUARD_BYTES, PROT_READ | PROT_WRITE) == 0)
            pthread_attr_setstack(&attributes, stack + GUARD_BYTES, STACK_BYTES - GUARD_BYTES);
    }
    int failure = pthread_create(&thread->id, &attributes, run_thread, thread);
    if (failure != 0)
        g_error("cannot start a thread: %s", g_strerror(failure));
    pthread_attr_destroy(&attributes);
}

void alone_run_threads(unsigned count, void (*run)(void *data, unsigned index), void *data)
{
    g_autofree Thread *thread = g_new0(Thread, count);
    for (unsigned i = 1; i < count; i++) {
        thread[i].index = i, thread[i].run = run, thread[i].data = data;
        start(&thread[i]);
    }
    run(data, 0);
    for (unsigned i = 1; i < count; i++)
        pthread_join(thread[i].id, NULL);
}
