/* entry.h - which launches begin with a barrier over all devices: those that communicate, which only runs show.
 *
 * Errors:      an unused collective_id is a usage_error of the program.
 */
#pragma once
#include "program.h"

/* A core has passed `launches` launches. Any process or thread may call this at any time; the maximum is kept. */
void entry_pass(Program *program, uint32_t core, uint32_t launches);
uint32_t entry_passed_by_all(const Program *program);           /* how many launches all cores have passed */
/* After runs: entry_barrier = communicates && !uses_barrier_semaphore && !skip (or a collective_id unused by permission). finished: all
 * cores have finished, so what was not used never is; then a collective_id without use of the barrier semaphore is a usage_error. */
void entry_settle(Program *program, bool finished);
/* After all runs: a launch that some core never passed is presumed to communicate, from the next entry_settle on. */
void entry_presume(Program *program);
bool entry_is_settled(const Program *program);                  /* have all cores passed each launch that may turn out to have a barrier? */
