/* call.c - the core knows the innermost marked call, whose site knows the enclosing one. */
#include "call.h"
#include "builder.h"

static Core *kernel_core(void)
{
    return builder_function == NULL ? core_running : NULL;
}

static char begin_call(const PlSite *here)
{
    Core *core = kernel_core();
    if (core != NULL)
        core->caller = builder_site(here) + 1;
    return 0;
}

static void end_call(void)
{
    Core *core = kernel_core();
    if (core != NULL)
        core->caller = program_get_site(core->program, core->caller - 1)->caller;
}

void pl_call_install(PlApi *api)
{
    api->call = begin_call;
    api->end_call = end_call;
}
