/* entry.h - which launches begin with a barrier over all devices: those that communicate, which only runs show.
 *
 * Errors:      a collective_id for nothing is a usage_error of the program.
 */
#pragma once
#include "program.h"

/* A core got past `launches` launches. Any process or thread may say so at any time; what is known of a core only grows. */
void entry_pass(Program *program, uint32_t core, uint32_t launches);
uint32_t entry_passed_by_all(const Program *program);           /* so many launches every core got past */
/* After runs: entry_barrier = communicates && !uses_barrier_semaphore && !skip (or a collective_id unused by permission). finished: all
 * cores came to their end, so what was not used never is; then a collective_id without use of the barrier semaphore is a usage_error. */
void entry_settle(Program *program, bool finished);
/* All runs are done: a launch that some core never got past is taken for one that communicates, from the next entry_settle on. */
void entry_presume(Program *program);
bool entry_is_settled(const Program *program);                  /* all got past each launch that may still turn out to have a barrier */
