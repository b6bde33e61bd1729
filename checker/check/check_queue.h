/* check_queue.h - runs checks in parallel, and returns their results in order.
 *
 *     check_queue_new -> check_queue_add* -> [ check_queue_next -> check_result_free ]* -> check_queue_free
 *
 * Each check has a process of its own: a fork of this one, which starts the child that runs the kernel, and calls `finish`. Program and
 * record are in shared memory; the rest of the result crosses as bytes.
 *
 * Ownership:   specs are borrowed until the queue is freed; results belong to the caller.
 * Errors:      a process that dies is an error of that check.
 */
#pragma once
#include "check.h"

typedef struct CheckQueue CheckQueue;
typedef void (*CheckFinish)(CheckResult *result, const void *data);     /* called for each result, in its process */

/* workers 0 or 1, or a single check: no processes, check_queue_next runs the check. Spare workers share the searches. */
CheckQueue *check_queue_new(unsigned workers, CheckFinish finish, const void *data);
void check_queue_free(CheckQueue *queue);       /* kills running checks; NULL: no effect */
void check_queue_add(CheckQueue *queue, const CheckSpec *spec);
CheckResult *check_queue_next(CheckQueue *queue);               /* call once for each check added */
