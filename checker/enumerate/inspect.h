/* inspect.h - all that can be wrong in the state in hand, and what the judge's parts need of each other. */
#pragma once
#include "walk.h"

bool inspect_suspects(const Walk *walk, const uint32_t *id);     /* would inspect_state find something? Changes nothing */
void inspect_state(Walk *walk);                 /* what components are watched for */
void inspect_races(Walk *walk);                 /* between cores; a core's own are among the watched */
void inspect_end(Walk *walk);                   /* nothing can move */
void livelock_inspect(Walk *walk);              /* livelock.c: something can, but only polls? After its transitions were taken */
bool livelock_is_possible(const Walk *walk, const uint32_t *id);   /* false: certainly something else can. Changes nothing */
uint32_t row_moment_event(Walk *walk, uint32_t core, const UnrollStep *start, StepKind moment);       /* row.c */
#ifdef HEDDLE_DEBUG
/* direct.c: after a state was expanded */
void direct_check(Walk *walk, const uint32_t *id, uint64_t transitions_taken, bool races);
#endif
char *stuck_state_why(Walk *walk);              /* stuck_state.c: who stands where in a deadlock, in sentences. g_malloc */
void end_results_check(Walk *walk);             /* end_results.c: an end state's contents, all cores finished */
void end_results_save(const Walk *walk);        /* into the checkpoint */
void end_results_load(Walk *walk, Stream *stream);
