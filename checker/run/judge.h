/* judge.h - does a state of a scheduled run show a fault? Looks at the state as it stands; knows nothing of how the fault was found. */
#pragma once
#include "../facts/finding.h"
#include "execution.h"

bool judge_is_next(Execution *execution, const Place *place);  /* it is the next step of its agent, and possible */
/* Lets the core of a no-progress poll on to the place's position, as a schedule may end before it, and completes the place. */
void judge_find_poll(Execution *execution, Place *place);
bool judge_shows(Execution *execution, const Finding *finding);
