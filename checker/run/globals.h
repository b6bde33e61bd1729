/* globals.h - watches state of user code outside the machine: statics and thread-locals of its module and of the libraries loaded with it,
 * and blocks that constructors and PROGRAM allocated.
 *
 *     globals_expect -> a module is opened -> globals_opened -> its PROGRAM runs -> globals_seal -> runs
 *
 * From then on each run begins with all of that as PROGRAM left it, and a kernel that changes it is refused (see outside.h). Pages are
 * protected, so memory that is never written costs nothing. There is one watch per process. With globals_keep before the first PROGRAM,
 * globals_start_over lets another one follow, which finds everything as loading left it.
 */
#pragma once
#include <stdbool.h>

void globals_expect(void);                      /* objects loaded so far are not the user's */
void globals_opened(void *handle);              /* dlopen's; NULL: nothing to watch */
void globals_seal(bool handlers);               /* handlers: faults reach globals_on_fault; false: everything is compared at each step */
void globals_keep(void);
bool globals_start_over(void);                  /* false: it cannot, as PROGRAM has freed what a constructor allocated */
bool globals_on_fault(const void *address);     /* in the handler; true: the first write to a watched page, so continue */
