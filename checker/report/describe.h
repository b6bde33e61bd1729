/* describe.h - how reports name things: cores, copies, what a step does and to what.
 *
 * Ownership:   results belong to the caller (g_free).
 */
#pragma once
#include "../facts/finding.h"

/* The values of each knob in the order of its enum, as command line and reports spell them. */
#define CHOICES_DMA_ORDER "unordered|link-fifo|issue-order"
#define CHOICES_DMA_PROGRESS "fluid|whole"
#define CHOICES_BOUNDS "logical|padded"
#define CHOICES_SCOPES "static|strict"
#define CHOICES_WINDOWS "pipelined|sequential"
#define CHOICES_DATA "real|opaque"

typedef enum Knob { KNOB_DMA_ORDER, KNOB_DMA_PROGRESS, KNOB_BOUNDS, KNOB_SCOPES, KNOB_WINDOWS, KNOB_DATA, KNOB_COUNT } Knob;

const char *describe_knob_name(Knob knob);                                  /* "dma-order" */
const char *describe_knob_values(Knob knob);                                /* "unordered|link-fifo|issue-order" */
char *describe_knob_value(const Knobs *knobs, Knob knob);                   /* "link-fifo" */
char *describe_knobs(const Knobs *knobs);                                   /* "dma-order unordered, dma-progress fluid, ..." */
char *describe_chosen_knobs(const Knobs *knobs);                /* the same of those that are not the default; "": none */
char *describe_limit(const Program *program, const char *limit);            /* what a search did not cover because of it */
char *describe_bounded(const Outcome *outcome);                             /* "bounded: ...", and why. g_malloc */
const char *describe_mode(unsigned bit);                                    /* "sweep"; NULL: there is no such mode */

char *describe_agent(const Program *program, const Place *place);           /* "copy 3 of device 1", or the core */
char *describe_object(const Program *program, const Place *place);          /* "output[2, 0:8] on device 1"; NULL: none */
char *describe_action(const Program *program, const Place *place);          /* "copy 3 of device 1 writes output[2, 0:8] on device 1" */
char *describe_call(const Program *program, uint32_t site);                 /* "all_gather at kernels/all_gather.c:12": who called */
char *describe_launch(const Program *program, uint32_t launch);             /* "launch 0 (all_gather)" */
