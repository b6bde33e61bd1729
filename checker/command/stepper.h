/* stepper.h - a replayed run walked through by commands.
 *
 * Ownership:   borrows all; what it says goes to the session's text.
 */
#pragma once
#include "session.h"

void stepper_run(Session *session, const CheckResult *check);
