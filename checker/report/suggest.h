/* suggest.h - "did you mean": the known name nearest to a misspelt one. */
#pragma once
#include <glib.h>

/* names: of char*. NULL if none is within a third of the letters plus one. Of equally near names, the first. */
const char *suggest_nearest(const GPtrArray *names, const char *text);
