/* words.h - how reports name things: cores, copies, what a step does and to what.
 *
 * Ownership:   results belong to the caller (g_free).
 */
#pragma once
#include "../facts/finding.h"

/* The values of each knob in the order of its enum, as command line and reports spell them. */
#define WORDS_DMA_ORDER "unordered|link-fifo|issue-order"
#define WORDS_DMA_PROGRESS "fluid|whole"
#define WORDS_BOUNDS "logical|padded"
#define WORDS_SCOPES "static|strict"
#define WORDS_WINDOWS "pipelined|sequential"
#define WORDS_DATA "real|opaque"

typedef enum Knob { KNOB_DMA_ORDER, KNOB_DMA_PROGRESS, KNOB_BOUNDS, KNOB_SCOPES, KNOB_WINDOWS, KNOB_DATA, KNOB_COUNT } Knob;

const char *words_knob_name(Knob knob);                                 /* "dma-order" */
char *words_knob_value(const Knobs *knobs, Knob knob);                  /* "link-fifo" */
char *words_knobs(const Knobs *knobs);                                  /* "dma-order unordered, dma-progress fluid, ..." */
char *words_limit(const Program *program, const char *limit);          /* what a search that it ended did not cover */
char *words_bounded(const Outcome *outcome);     /* "bounded: ...", and why. g_malloc */
const char *words_mode(unsigned bit);                                  /* "sweep"; NULL: there is no such mode */

char *words_core(const Program *program, uint32_t core);                /* "device 1", or "core 0 of device 1" where there are several */
char *words_agent(const Program *program, const Place *place);          /* "copy 3 of device 1", or as words_core */
char *words_object(const Program *program, const Place *place);         /* "output[2, 0:8] on device 1"; NULL: the step touches nothing */
char *words_action(const Program *program, const Place *place);         /* "copy 3 of device 1 writes output[2, 0:8] on device 1" */
char *words_call(const Program *program, uint32_t site);                /* "all_gather at kernels/all_gather.c:12": who called */
char *words_launch(const Program *program, uint32_t launch);            /* "launch 0 (all_gather)" */
bool words_on_memory(uint8_t kind);                                     /* does a place of this kind name a region? */
