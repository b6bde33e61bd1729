/* vclock_inside.h - what vclock.c and learn.c share. */
#pragma once
#include "plan.h"
#include "vclock.h"

/* Fills plan->answer; returns how many passes the slowest block of columns took. */
uint32_t clocks_compute(const Plan *plan, Budget *budget);
bool clocks_learnt(const Clocks *clocks, uint32_t slot, uint32_t column, uint32_t *entry);
