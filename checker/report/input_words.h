/* input_words.h - the input of a check in words: choices and tables, and how many inputs were tried. */
#pragma once
#include <json-glib/json-glib.h>
#include "../check/spec.h"

/* "phase = 2; sizes = [[0, 1], [0, 2]]"; of an input that differs between devices: "count = [1] on device 0, [0] on device 1".
 * g_malloc; NULL: PROGRAM asked for nothing. */
char *input_words(const Program *program);
/* "19683 inputs". g_malloc */
char *input_count(const InputTally *tally);
/* What is said of the input of a faulty check, g_malloc; NULL: nothing. */
char *input_sentence(const CheckResult *result);
/* "verified for all 256 inputs (16 shapes)", "no fault seen in 40 inputs (38 shapes)", "input: steps = 0, the smallest of 2 that look
 * wrong, of 7 tried"; g_malloc, NULL: nothing is to be said of inputs. */
char *input_remark(const CheckResult *result);
void input_json(JsonBuilder *builder, const CheckResult *result);              /* the member "inputs" */
