/* call.c - the core remembers the innermost call, whose site knows the one around it. */
#include "call.h"
#include "draft.h"

static Core *kernel_core(void)
{
    return draft_judging == NULL ? core_running : NULL;
}

static char begin_call(const PlSite *here)
{
    Core *core = kernel_core();
    if (core != NULL)
        core->caller = draft_site(here) + 1;
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
