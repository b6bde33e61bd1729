/* identity.h - identifies a check, so that a checkpoint is resumed only by the same check. */
#pragma once
#include "spec.h"

#define IDENTITY_FACTS "launches"               /* key of what was known of launches: the run can be made again from that */

char *identity_hash_file(const char *path);     /* 16 hex digits, "-" for what cannot be read. g_malloc */
char *identity_input(const Program *program);    /* its values, "0,2,1" (model/input.h); g_malloc, NULL: none */
/* Lines "key value": program, source, size, parameters, knobs, seed, search, the recorded run with what was known of launches before it
 * (entry_barriers_known), and hashes of heddle and of a built-in module, whose source may not be at hand. Limits are not included: a search
 * may be resumed with larger ones. g_malloc. */
char *identity_of_check(const CheckSpec *spec, const Program *program, const Record *record, const char *facts);
