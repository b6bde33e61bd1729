/* course.h - what cores can do: a stage for each point between two steps of a core, a branch for each outcome of a step that observes.
 *
 *     stage --step--> stage --step--> stage --observing step, saw 0--> stage ...
 *                                         \--the same step, saw 1--> stage ...
 *
 * A core is a deterministic function of what it has observed, so this is all that it can ever do. It grows on demand. A branch that brings
 * a polling core back to the state in which it was at an earlier stage leads back to that stage.
 *
 * Several threads may ask for stages at once: those that are there are read without a lock, one thread at a time makes new ones, and a
 * stage can be found only when it is complete.
 *
 * Invariants:  1. the stages that one call of the source gave are consecutive.  2. only a stage whose step has several outcomes has more
 *              than one child, or none yet.
 * Ownership:   steps' tiles and masks belong to the source.
 */
#pragma once
#include "../run/unroll.h"
#include "usage.h"

typedef enum StageEnd { STAGE_GOES_ON, STAGE_FINISHED, STAGE_STOPPED } StageEnd;

typedef struct Stage {                          /* what is asked for often comes first */
    Step step;                                  /* what comes next; if the core has ended here, only `core` counts */
    int64_t seen;                               /* the observation that led here */
    uint32_t child, sibling;                    /* outcomes of the step; the parent's other outcomes */
    uint32_t position;                          /* steps done */
    uint32_t same;                              /* the earlier stage whose state this is; itself */
    uint8_t end;
    bool observes;                              /* the step's outcome is an observation */
    bool observed;                              /* an observation led here */
    bool guessed;                               /* a loop was taken for closed here without being seen to be */
    uint32_t unrolled;                          /* its UnrollStep */
    uint32_t parent;                            /* NONE: the start */
    uint32_t steps;                             /* the same number for the same steps done, whatever they saw */
    uint32_t copy;                              /* COPY_START of bytes: its number among all copies */
} Stage;

enum { COURSE_HELD = 0, COURSE_FAILED = 1 };    /* outcomes of EXPECT_COUNT, in place of an observation */

typedef enum Polling { POLLING_NO, POLLING_TO_BE, POLLING_YES } Polling;       /* TO_BE: from the next search on */

typedef struct Course {
    UnrollSource *source;
    Usage *usage;
    bool guessed;                               /* some stage is */
    bool contents, raises;                      /* raises: some core raises a fault without being stopped */
    uint32_t *start;                            /* by core: its first stage */
    Store stages, steps;                        /* Stage, UnrollStep; of all cores */
    Store polling;                              /* Polling by site: a loop with that look came back to where it was, on some core */
    Intern copies;                              /* (core, ordinal) of copies, numbered */
    Intern done;                                /* sequences of steps: (the one without its last step, that step), numbered */
    GMutex lock;                                /* whoever runs user's code or adds to the program */
    const Tile *(*tile)(void *owner, int64_t seen);        /* contents: the tile that an observation stands for */
    void *owner;
} Course;

void course_init(Course *course, UnrollSource *source, Usage *usage, bool contents);
void course_clear(Course *course);
void course_begin(Course *course);              /* makes the start of each core; once, after `tile` was set */
bool course_can_follow(const Course *course, uint32_t stage);
uint32_t course_extend(Course *course, uint32_t stage, int64_t seen);          /* course_after where nobody asked before */
void course_adopt(Course *course);              /* what was found out about objects and polls holds from now on: a new search begins */
const char *course_keep_text(Course *course, const char *text);        /* as long as the program */

static inline Stage *course_stage(const Course *course, uint32_t stage) { return &STORE(Stage, &course->stages, stage); }
static inline bool course_polls(const Course *course, const Stage *stage)
{
    return stage->observes && stage->step.site < course->polling.count
        && STORE(uint8_t, &course->polling, stage->step.site) == POLLING_YES;
}
static inline bool course_may_block(const Course *course, uint32_t stage)
{
    const Stage *at = course_stage(course, stage);
    return step_blocks(at->step.kind) || course_polls(course, at);
}
static inline const UnrollStep *course_step(const Course *course, uint32_t stage)
{
    return &STORE(UnrollStep, &course->steps, course_stage(course, stage)->unrolled);
}
/* NONE: nobody has asked for it yet. */
static inline uint32_t course_find_child(const Course *course, const Stage *stage, int64_t seen)
{
    uint32_t child = (uint32_t)g_atomic_int_get((const gint *)&stage->child);
    while (child != NONE && course_stage(course, child)->seen != seen)
        child = course_stage(course, child)->sibling;
    return child;
}

/* The stage after the step of `stage`, which saw `seen` (0 where nothing is seen). */
static inline uint32_t course_after(Course *course, uint32_t stage, int64_t seen)
{
    uint32_t child = course_find_child(course, course_stage(course, stage), seen);
    return G_LIKELY(child != NONE) ? course_stage(course, child)->same : course_extend(course, stage, seen);
}
