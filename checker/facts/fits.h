/* fits.h - is a finding well-formed? Asked of findings from files and from processes that ran user code, before they are used. */
#pragma once
#include "finding.h"

bool finding_is_formed(const Finding *finding); /* it has the places and the object of its fault: see the table in finding.h */
bool finding_fits(const Program *program, const Finding *finding);      /* it is formed, and all its ids exist in the program */
bool place_fits(const Program *program, const Place *place);
