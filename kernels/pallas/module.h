/* module.h - the programs of a module: those linked into this executable, or those of a shared object.
 *
 * Ownership:   a module is never closed: its code may be running on any stack.
 * Errors:      NULL and one line in *error (g_malloc): it cannot be loaded, is not a Heddle module, was built for another version, has no
 *              program, or two with the same name.
 */
#pragma once
#include "../../model/offer.h"

ProgramModule *pl_module_open(const char *path, char **error);
