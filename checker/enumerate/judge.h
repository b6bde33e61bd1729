/* judge.h - all that can be wrong in the state in hand, and what the judge's parts need of each other. */
#pragma once
#include "walk.h"

bool judge_suspects(const Walk *walk, const uint32_t *id);     /* would judge_state find something? Changes nothing */
void judge_state(Walk *walk);                   /* what components are watched for */
void judge_races(Walk *walk);                   /* between cores; a core's own are among the watched */
void judge_end(Walk *walk);                     /* nothing can move */
void judge_spin(Walk *walk);                    /* spin.c: something can, but only polls? After its turns were taken */
bool spin_is_possible(const Walk *walk, const uint32_t *id);   /* false: certainly something else can. Changes nothing */
uint32_t row_moment_event(Walk *walk, uint32_t core, const UnrollStep *start, StepKind moment);       /* row.c */
#ifdef HEDDLE_DEBUG
void direct_check(Walk *walk, const uint32_t *id, uint64_t turns_taken, bool races);         /* direct.c: after a state was expanded */
#endif
char *stuck_why(Walk *walk);                     /* stuck_state.c: who stands where in a deadlock, in sentences. g_malloc */
void results_check(Walk *walk);                 /* end_contents.c: an end state's contents, all cores finished */
void results_save(const Walk *walk);            /* into the checkpoint */
void results_load(Walk *walk, Dump *dump);
