/* inputs.h - a check of many inputs: the search over inputs in a child, then an ordinary check of the input that is shown.
 *
 * The verdict is faulty if that check is: of a smallest input (fewest values above their least ones) that the search doubts. It is
 * verified if every input was tried, and each doubt is verified; bounded otherwise.
 */
#pragma once
#include "check_parts.h"

typedef void (*CheckOne)(CheckResult *result, WorkerShared *shared);           /* an ordinary check of result->spec */

void inputs_check(CheckResult *result, WorkerShared *shared, CheckOne check_one);
