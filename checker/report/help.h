/* help.h - what usually helps against a fault, chosen by its cause: for entries without a repair that was tried. */
#pragma once
#include "../facts/finding.h"

char *help_words(const Program *program, const Finding *finding);       /* a sentence; NULL: nothing that is known to fit. g_free */
