/* globals.h - the writable static memory of a loaded module: saved, put back, compared.
 *
 * A kernel that keeps state there is not a function of what it observes.
 */
#pragma once

typedef struct Globals Globals;

Globals *globals_save(void *handle);            /* dlopen's handle; NULL: nothing to watch. Lives as long as the process */
void globals_restore(const Globals *globals);
const char *globals_changed(const Globals *globals);            /* name of the first variable that differs, NULL: none */
