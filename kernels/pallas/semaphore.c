/* semaphore.c - semaphores, barriers, assertions and debug output. */
#include "semaphore.h"
#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include "builder.h"

static void semaphore_signal(const PlSite *here, PlRef semaphore, PlSignal signal)
{
    Core *core = builder_core(here, "pl_semaphore_signal");
    Ref ref = builder_ref(here, semaphore, "pl_semaphore_signal");
    core_signal(core, builder_site(here), ref, signal.inc, builder_target(core, here, signal.device, "semaphore_signal"));
}

static void semaphore_wait(const PlSite *here, PlRef semaphore, PlWait wait)
{
    Core *core = builder_core(here, "pl_semaphore_wait");
    core_wait(core, builder_site(here), builder_ref(here, semaphore, "pl_semaphore_wait"), wait.value, wait.decrement);
}

static int64_t semaphore_read(const PlSite *here, PlRef semaphore)
{
    Core *core = builder_core(here, "pl_semaphore_read");
    return core_semaphore_read(core, builder_site(here), builder_ref(here, semaphore, "pl_semaphore_read"));
}

static PlRef get_barrier_semaphore(const PlSite *here)
{
    Core *core = builder_core(here, "pl_get_barrier_semaphore");
    uint32_t decl = core_barrier_semaphore(core, builder_site(here));
    return builder_make_ref(decl, program_decl(core->program, decl)->view, NONE);
}

static void core_barrier_here(const PlSite *here)
{
    Core *core = builder_core(here, "pl_core_barrier");
    core_barrier(core, builder_site(here));
}

static void expect_count(const PlSite *here, PlRef semaphore, int64_t value)
{
    Core *core = builder_core(here, "pl_expect_count");
    core_expect_count(core, builder_site(here), builder_ref(here, semaphore, "pl_expect_count"), value);
}

static void delay(const PlSite *here, int64_t cycles)
{
    (void)cycles;                               /* any schedule may stretch or shrink it */
    builder_core(here, "pl_delay");
}

static void debug_print(const PlSite *here, const char *format, ...)
{
    const Core *core = builder_core(here, "pl_debug_print");
    va_list arguments;
    va_start(arguments, format);
    printf("[device %u step %lld] ", core->device, (long long)core->grid_index);
    vprintf(format, arguments);
    putchar('\n');
    fflush(stdout);                             /* not lost if the child crashes */
    va_end(arguments);
}

static void check(const PlSite *here, bool holds, const char *text)
{
    Core *core = builder_core(here, "pl_assert");
    if (!holds)
        core_stop(core, builder_site(here), FAULT_ASSERT, "pl_assert(%s) does not hold", text);
}

void pl_semaphore_install(PlApi *api)
{
    api->semaphore_signal = semaphore_signal;
    api->semaphore_wait = semaphore_wait;
    api->semaphore_read = semaphore_read;
    api->get_barrier_semaphore = get_barrier_semaphore;
    api->core_barrier = core_barrier_here;
    api->expect_count = expect_count;
    api->delay = delay;
    api->debug_print = debug_print;
    api->check = check;
}
