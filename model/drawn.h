/* drawn.h - one answer of an input (input.h). */
#pragma once
#include <stdint.h>

/* table: the decl that it is an element of, NONE: a choice (pl_choose). One that is set from outside has one value. */
typedef struct Drawn { int64_t value, least, greatest; uint32_t table; } Drawn;
