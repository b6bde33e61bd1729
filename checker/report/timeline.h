/* timeline.h - one run step by step, for pictures and the stepper: which agent moved, which counts changed, which wait took which signal.
 *
 *     timeline_new(record) -> events in order, links between them -> timeline_free
 *
 * Invariants:  1. a join is one event, of its first member.  2. a link goes from an earlier event to a later one.
 * Ownership:   borrows the record.
 */
#pragma once
#include <glib.h>
#include "../check/check.h"

typedef struct TimelineEvent {
    uint32_t core, members;                     /* members: the cores of a join, else 1 */
    uint32_t copy;                              /* index in the record: the copy that is started, or that the moment belongs to; NONE */
    uint8_t kind;
    uint32_t site, position, launch;            /* position: of the core's step, or of the copy's start */
    uint32_t object, region;                    /* the memory it accesses; NONE */
    uint32_t semaphore;                         /* whose count it changes or reads; NONE */
    int64_t before, after;                      /* that count */
    uint32_t value, extra;                      /* of the step, as step.h says */
    uint32_t step;                              /* index in the record; of an eager copy's moments, that of its start; NONE: not done yet */
} TimelineEvent;

typedef struct Link { uint32_t from, to; int64_t amount; } Link;        /* events; the amount that one gives and the other takes */

typedef struct Timeline {
    const Record *record;
    GArray *events, *links;                     /* of TimelineEvent, of Link, sorted by `to` */
    GArray *starts;                             /* of uint32_t: by copy, the event of its start, NONE */
} Timeline;

Timeline *timeline_new(const Record *record, uint32_t events_max);              /* later steps are omitted */
void timeline_free(Timeline *timeline);
bool event_is_moment(const TimelineEvent *event);
Place event_place(const Timeline *timeline, const TimelineEvent *event);
char *timeline_copy_name(const Timeline *timeline, uint32_t copy);               /* "copy 3"; by its label, if it has one */
char *event_words(const Timeline *timeline, const TimelineEvent *event);                /* "copy 3 of device 1 writes output[2, 0:8]..." */
/* The step of a finding's place as an event that has not happened yet; false: it has. */
bool timeline_next_of(const Timeline *timeline, const Place *place, TimelineEvent *event);
/* One byte for each event: must it precede the finding's steps (or the end)? */
GByteArray *timeline_past(const Timeline *timeline, const Finding *finding);
/* The record of a finding's replay; if the kernel died, its record up to then. NULL: none. */
Record *timeline_record(const CheckResult *result, const Finding *finding);    /* record_free */
