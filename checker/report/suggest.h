/* suggest.h - "did you mean": the known name that is nearest to a misspelt one. */
#pragma once
#include <glib.h>

/* names: of char*. NULL when none is near: more than a third of the letters and one would have to change. Of equals the first. */
const char *suggest_nearest(const GPtrArray *names, const char *text);
