/* spin.c - the counter, which core_submit sets back. */
#include "spin.h"

void (*spin_met)(const Core *core);

void spin_count(uint32_t blocks)
{
    Core *core = core_running;
    if (core != NULL && (core->blocks += blocks) >= SPIN_BLOCKS && spin_met != NULL)
        spin_met(core);
}

void __sanitizer_cov_trace_pc(void)
{
    spin_count(1);
}
