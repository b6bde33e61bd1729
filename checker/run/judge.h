/* judge.h - does a state of a scheduled run show a fault? Looks at the state as it stands; knows nothing of how the fault was found. */
#pragma once
#include "../finding.h"
#include "execution.h"

bool judge_shows(Execution *execution, const Finding *finding);
