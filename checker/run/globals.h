/* globals.h - what user code could change outside of the machine is watched: statics and thread-locals of its module and of the libraries
 * that came with it, and blocks that constructors and PROGRAM allocated.
 *
 *     globals_expect -> a module is opened -> globals_opened -> its PROGRAM runs -> globals_seal -> runs
 *
 * From then on all of that is as PROGRAM left it at the beginning of each run, and a kernel that changes it is refused (see outside.h).
 * Pages are protected, so what is never written costs nothing. There is one watch a process.
 */
#pragma once
#include <stdbool.h>

void globals_expect(void);                      /* what is loaded by now is no user's */
void globals_opened(void *handle);              /* dlopen's; NULL: nothing to watch */
void globals_seal(bool handlers);               /* handlers: a fault comes to globals_on_fault; false: all is compared at each step */
bool globals_on_fault(const void *address);     /* in the handler: it was the first write to a watched page; go on */
