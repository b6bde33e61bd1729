/* outcome.h - an outcome as bytes in a shared Store, to cross from a child to its parent and back. */
#pragma once
#include "finding.h"

void outcome_save(const Outcome *outcome, Store *bytes);        /* replaces what is there */
Outcome *outcome_load(const Store *bytes);                      /* NULL: damaged */
