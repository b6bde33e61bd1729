/* starts.c - kernels that start what a check does not watch: processes, threads, other programs. WAY, WHERE: by -D. */
#include <heddle/pallas.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#ifndef WAY
#define WAY nothing
#endif
#ifndef WHERE
#define WHERE 0                                 /* 1: a constructor, 2: PROGRAM, with two devices, 3: the kernel */
#endif

static inline void nothing(void)
{
}

static inline void by_fork(void)
{
    if (fork() == 0) {
        sleep(100);
        _exit(0);
    }
}

static inline void by_vfork(void)
{
    if (vfork() == 0)
        _exit(0);
}

static inline void by_syscall(void)
{
    if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0)
        _exit(0);
}

static inline void by_system(void)
{
    if (system("sleep 100 &"))
        sleep(0);
}

static inline void by_popen(void)
{
    pclose(popen("true", "r"));
}

static inline void by_spawn(void)
{
    char *argv[] = { (char *)"sleep", (char *)"100", NULL };
    pid_t child;
    posix_spawnp(&child, "sleep", NULL, NULL, argv, environ);
}

static inline void by_exec(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void *run(void *data)
{
    return data;
}

static inline void by_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, NULL);
}

__attribute__((constructor)) static void constructor(void)
{
    (void)run;
    if (WHERE == 1)
        WAY();
}

KERNEL(starts, out)
{
    pl_store(out, pl_tile_full(PL_F32, 1, 8, 128));
    if (WHERE == 3)
        WAY();
}

PROGRAM(starts, "starts something")
{
    if (WHERE == 2 && pl_num_devices() == 2)
        WAY();
    pl_launch(starts, .args = {pl_vmem(PL_F32, 8, 128)});
}
