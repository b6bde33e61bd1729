/* judge.h - does a state of a scheduled run show a fault? Looks at the state as it stands; knows nothing of how the fault was found. */
#pragma once
#include "../finding.h"
#include "execution.h"

bool judge_is_next(Execution *execution, const Place *place);  /* it is the next step of its agent, and possible */
bool judge_shows(Execution *execution, const Finding *finding);
