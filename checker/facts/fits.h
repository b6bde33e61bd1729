/* fits.h - may a finding be what it says? Asked of findings from files and from processes that ran user code, before anything else is done
 * with them.
 */
#pragma once
#include "finding.h"

bool finding_is_formed(const Finding *finding); /* it has the places and the object of its kind: see the table in finding.h */
bool finding_fits(const Program *program, const Finding *finding);      /* it is formed, and the program has all that it names */
bool place_fits(const Program *program, const Place *place);
