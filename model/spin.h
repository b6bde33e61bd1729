/* spin.h - cores that compute for ever: the author's code is counted in basic blocks from step to step, as time depends on the machine.
 *
 * The compiler makes a module call __sanitizer_cov_trace_pc in each block. A call that computes an array counts as some blocks, whatever
 * the size of the array: the work in it is ours.
 */
#pragma once
#include "core.h"

enum { SPIN_BLOCKS = 1 << 29, SPIN_BLOCKS_A_CALL = 512 };

extern void (*spin_met)(const Core *core);      /* so many blocks without a step; does not return. NULL: nobody asks */
void spin_count(uint32_t blocks);               /* for the core that runs, if any */
void __sanitizer_cov_trace_pc(void);
