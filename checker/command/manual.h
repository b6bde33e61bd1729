/* manual.h - help, man page and bash completion, from the tables of options.h.
 *
 * Ownership:   the caller's GString.
 */
#pragma once
#include "options.h"

void manual_help(GString *out, Command command);                /* 0: the general help */
void manual_man(GString *out);                                  /* roff, section 1 */
void manual_completion(GString *out);                           /* a bash script */
