/* check_queue.h - checks that are made at the same time and handed back in their order, as if made one after the other.
 *
 *     check_queue_new -> check_queue_add* -> [ check_queue_next -> check_result_free ]* -> check_queue_free
 *
 * Each check is made by a process of its own (a copy of this one, which starts the child that runs the kernel, and does all that `finish`
 * adds); program and record lie in shared memory, the rest of the result comes as bytes.
 *
 * Ownership:   specs are borrowed until the queue is freed; results belong to the caller.
 * Errors:      a process that dies is an error of that check.
 */
#pragma once
#include "check.h"

typedef struct CheckQueue CheckQueue;
typedef void (*CheckFinish)(CheckResult *result, const void *data);     /* what is to be done to each result, where it was made */

/* workers 0 or 1, or a single check: no processes; check_queue_next makes the check. Spare workers share the searches. */
CheckQueue *check_queue_new(unsigned workers, CheckFinish finish, const void *data);
void check_queue_free(CheckQueue *queue);       /* ends what is being made; NULL: no effect */
void check_queue_add(CheckQueue *queue, const CheckSpec *spec);
CheckResult *check_queue_next(CheckQueue *queue);               /* there is one */
