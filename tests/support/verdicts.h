/* verdicts.h - what the binary decides of kernel files in tests/support/kernels, and whether the schedules that it writes show it again.
 *
 *     binary_set_up -> [ verdicts_of -> verdicts_replay ]* -> binary_tear_down
 */
#pragma once
#include "binary.h"

/* Makes FILE.so of tests/support/kernels/FILE.c, which many checks and replays need not compile again: they name it in place of FILE.c. */
void verdicts_compile(const char *file);
/* Checks FILE there: "ring faulty race; other verified", in the order of the file, each fault once. options: of heddle check.
 * g_free */
char *verdicts_of(const char *file, const char *options);
/* As verdicts_of, and the test fails unless it is that by auto and by enumerate, whose schedules are replayed. */
void verdicts_are(const char *file, const char *options, const char *expected);
/* Replays every schedule of the last verdicts_of; the test fails if one does not show its fault. How many there were. */
unsigned verdicts_replay(void);
