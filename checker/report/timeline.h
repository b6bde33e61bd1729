/* timeline.h - what one run did, step by step, as pictures and walks need it: who moved, which counts changed, which wait took
 * whose signal.
 *
 *     timeline_new(record) -> frames in order, links between them, who stands where in the end -> timeline_free
 *
 * Invariants:  1. a join is one frame, of its first member.  2. a link goes from an earlier frame to a later one.
 * Ownership:   borrows the record.
 */
#pragma once
#include <glib.h>
#include "../check/check.h"

typedef struct Frame {
    uint32_t core, members;                     /* members: of a join, so many cores; else 1 */
    uint32_t copy;                              /* index in the record: of the copy that is started, or whose moment it is; NONE */
    uint8_t kind;
    uint32_t site, position, launch;            /* position: of the core's step, or of the copy's start */
    uint32_t object, region;                    /* memory that it touches; NONE */
    uint32_t semaphore;                         /* whose count changes or is looked at; NONE */
    int64_t before, after;                      /* that count */
    uint32_t value, extra;                      /* of the step, as step.h says */
    uint32_t step;                              /* index in the record; of an eager copy's moments, that of its start */
} Frame;

typedef struct Link { uint32_t from, to; int64_t amount; } Link;        /* frames; what the one gave and the other took */

typedef struct Timeline {
    const Record *record;
    GArray *frames, *links;                     /* of Frame, of Link, sorted by `to` */
    GArray *starts;                             /* of uint32_t: by copy, the frame of its start, NONE */
} Timeline;

Timeline *timeline_new(const Record *record, uint32_t frames_max);              /* what comes later is left out */
void timeline_free(Timeline *timeline);
bool frame_is_moment(const Frame *frame);
Place frame_place(const Timeline *timeline, const Frame *frame);
char *timeline_copy_name(const Timeline *timeline, uint32_t copy);               /* "copy 3"; by its label, if it has one */
char *frame_words(const Timeline *timeline, const Frame *frame);                /* "copy 3 of device 1 writes output[2, 0:8]..." */
/* The step that the place of a finding means, as a frame that has not happened: false if the run did it. */
bool timeline_next_of(const Timeline *timeline, const Place *place, Frame *frame);
/* The frames that must have happened before those that the finding is about (or before the end), one byte a frame. */
GByteArray *timeline_past(const Timeline *timeline, const Finding *finding);
/* A finding's film as a record; of a kernel that died, what it had done by then. NULL: there is none. */
Record *timeline_record(const CheckResult *result, const Finding *finding);    /* record_free */
