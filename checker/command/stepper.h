/* stepper.h - steps through a replayed run by commands.
 *
 * Ownership:   borrows all; output goes to the session's text.
 */
#pragma once
#include "session.h"

void stepper_run(Session *session, const CheckResult *check);
