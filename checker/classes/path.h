/* path.h - the choices made so far, and the order already forced among them.
 *
 * A *choice* is one step on a contended object. Its `past` are the choices that happen before it, one bit each: by program order of its
 * core, or of its copy if it is a moment, and by the order chosen on objects. (Order that only counts enforce is not included.) A *race* is
 * a pair of choices that do not commute and are adjacent in that order: it may be possible to reverse them.
 *
 * Invariants:  1. past is transitive.  2. the choices of one object form groups that commute; each follows all of the group before it.
 */
#pragma once
#include <glib.h>
#include "usage.h"

typedef struct PathChoice {
    uint32_t agent, object, stage;              /* stage NONE: a moment of a copy */
    uint8_t manner;
    bool tainted;                               /* its core came here through waits that choices of others may have enabled */
    bool blocks;                                /* a step that may block, or a look of a poll */
    int64_t before, after;                      /* of the object */
    uint32_t on_object, of_agent;               /* the choice before it there, plus 1 */
    uint32_t enabler[3];                        /* of a moment: its core's last choice before the start, earlier moments; plus 1, 0: none */
    uint32_t races, race;                       /* number and first index of the races that end here */
    uint64_t serial;                            /* unique in the search */
    size_t events;                              /* mark of the world before it */
} PathChoice;

typedef enum RaceState { RACE_NEW, RACE_OPEN, RACE_NEVER, RACE_COVERED } RaceState;

/* With the choice that owns it, which may be able to come before `first`. */
typedef struct Race {
    uint32_t first;
    uint32_t state;                             /* RaceState; NEVER: not possible; COVERED: while choice `by` has this `serial` */
    uint32_t by;
    uint64_t serial;
} Race;

typedef struct Path {
    uint32_t agents_known, objects_known;
    PathChoice *choice;
    uint32_t choices, choices_max;
    unsigned words;                             /* of one row of bits */
    uint64_t *past;                             /* choices_max rows */
    uint64_t *on_object;                        /* objects_known rows: the choices there */
    uint64_t *of_manner;                        /* a row for each Manner */
    uint32_t *last_on_object, *last_of_agent;   /* plus 1 */
    Race *race;
    uint32_t races, races_max;
    int32_t *top;                               /* by choice: the latest choice in its past, -1: none */
    uint32_t tainted_choices;                   /* tainted choices, and moments of copies */
    uint64_t *scratch;
} Path;

void path_init(Path *path);
void path_clear(Path *path);
/* Adds a choice that the world has done. */
void path_push(Path *path, const PathChoice *choice);
void path_add_race(Path *path, uint32_t first); /* ends at the last choice */
void path_pop(Path *path);
/* The group of choices immediately before a step of that manner with which it does not commute, from the latest to the earliest: ids plus
 * 1, 0: no more. last_on_object: where to begin. */
uint32_t path_group(const Path *path, uint32_t last_on_object, Manner manner);
uint32_t path_group_next(const Path *path, uint32_t choice);

void path_assert_sane(const Path *path);       /* of a long path, its last choices */

static inline uint64_t *path_past(const Path *path, uint32_t choice) { return path->past + (size_t)choice * path->words; }
/* Is there a choice on the object after `without` that does not have it in its past and does not commute with a step of that manner? */
bool path_disturbs(const Path *path, uint32_t without, uint32_t object, Manner manner);
static inline bool path_bit(const uint64_t *row, uint32_t choice) { return row[choice / 64] >> choice % 64 & 1; }
static inline void path_set(uint64_t *row, uint32_t choice) { row[choice / 64] |= UINT64_C(1) << choice % 64; }
static inline uint32_t path_last_on(const Path *path, uint32_t object)
{
    return object < path->objects_known ? path->last_on_object[object] : 0;
}
static inline uint32_t path_last_of(const Path *path, uint32_t agent)
{
    return agent < path->agents_known ? path->last_of_agent[agent] : 0;
}
