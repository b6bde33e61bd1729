/* outcome.h - an outcome as bytes: in a shared Store, to cross from a child to its parent and back, or among those of a checkpoint. */
#pragma once
#include "codec.h"
#include "finding.h"

void outcome_save(const Outcome *outcome, Store *bytes);        /* replaces what is there */
Outcome *outcome_load(const Store *bytes);                      /* NULL: damaged */
void outcome_carry(Codec *codec, Outcome *outcome);
void outcome_carry_limits(Codec *codec, Outcome *outcome);      /* reading adds them */
