/* label.h - names of the copies that the library makes for windows: "the fetch of block (0, 1) of x". A label is a number; 0 is none.
 *
 * Ownership:   texts belong to the caller (g_free).
 */
#pragma once
#include "labels.h"
#include "program.h"

uint32_t label_add(Program *program, Labels labels);            /* returns their index; sets first and count */
uint32_t label_of_block(const Program *program, uint32_t labels, const int64_t *index);         /* index may be outside */
char *label_describe(const Program *program, uint32_t label);
/* core: the words for its core. "the fetch of block (0, 1) of x by device 1"; without a label "copy 3 of device 1". */
char *label_describe_copy(const Program *program, const char *core, uint32_t ordinal, uint32_t label);
/* Where a copy is started; "kernel.c:12 (described at kernel.c:9)" if another line describes it. */
char *label_describe_start(const Program *program, uint32_t site, uint32_t described);

/* Is the step at that site part of such a copy? Then the author has no line that could be changed. */
void label_mark_site(Program *program, uint32_t site);
bool label_marks_site(const Program *program, uint32_t site);
