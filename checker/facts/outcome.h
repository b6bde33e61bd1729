/* outcome.h - an outcome as bytes in a shared Store, to pass it between a child and its parent. */
#pragma once
#include "finding.h"

void outcome_save(const Outcome *outcome, Store *bytes);        /* replaces the contents of the store */
Outcome *outcome_load(const Store *bytes);                      /* NULL: damaged */
