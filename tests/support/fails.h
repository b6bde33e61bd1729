/* fails.h - does a function end in an assertion? It runs in a child, which says nothing. */
#pragma once
#include <stdbool.h>

bool fails(void (*function)(void *data), void *data);
