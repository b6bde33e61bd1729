/* binary.h - runs the binary that $HEDDLE names as a user would, in its own folder, which contains a kernel (kernel.c).
 *
 *     binary_set_up, once -> binary_run -> binary_says, binary_contents ... -> binary_tear_down
 *
 * Ownership:   results belong to the caller (g_free); binary_text holds the output of a run until the next one.
 * Errors:      the test that asks fails.
 */
#pragma once
#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

extern char *binary_folder, *binary_heddle, *binary_text;

int binary_set_up(void **state);
int binary_tear_down(void **state);
int binary_run(const char *words);              /* its exit code; standard output, then standard error become binary_text */
int binary_shell(const char *script);           /* the same of a script of sh, to which $HEDDLE is that binary */
void binary_says(const char *part);
char *binary_path(const char *name);
char *binary_contents(const char *name);
void binary_write(const char *name, const char *text);
void binary_copy_kernel(const char *name);      /* kernel.c, as it is now */
void binary_take_kernel(const char *from, const char *name);    /* tests/support/kernels/FROM */
/* Is the text that of tests/cli/golden/NAME? After an intended change GOLDEN=write in the environment rewrites it; review the diff. */
void binary_is_golden(const char *text, const char *name);
bool binary_tool(const char *command);          /* a check by a tool; true: it is not installed */
JsonParser *binary_parse(const char *json);
/* Rewrites kernel.c: `before`, then tests/support/kernels/ring.c with each `with` replaced by `instead`; with NULL: unchanged. */
void binary_write_kernel(const char *before, const char *with, const char *instead);
void binary_use_kernels(const char *name);      /* tests/support/kernels/NAME.c as NAME.c and, compiled, as NAME.so */
char *binary_first_schedule(const char *name);  /* a file of that folder, with the folder before it */

static inline JsonObject *object_in(JsonObject *object, const char *name) { return json_object_get_object_member(object, name); }
static inline JsonArray *array_in(JsonObject *object, const char *name) { return json_object_get_array_member(object, name); }
static inline const char *text_in(JsonObject *object, const char *name) { return json_object_get_string_member(object, name); }
