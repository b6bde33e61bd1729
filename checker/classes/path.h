/* path.h - the conflict steps chosen so far, and what order among them cannot be otherwise.
 *
 * A *pick* is one step on a contended object. `past` of a pick are the picks before it by program order of its core, or of the copy that
 * it is a moment of, and by the order chosen on objects: a bit each. (What counts alone enforce is not in there.) A *race* is a pair of
 * picks that do not commute with nothing of that order between them: perhaps they could have come the other way round.
 *
 * Invariants:  1. past is transitive.  2. the picks of one object fall into groups that commute; each comes after all of the group before.
 */
#pragma once
#include <glib.h>
#include "usage.h"

typedef struct Pick {
    uint32_t agent, object, stage;              /* stage NONE: a moment of a copy */
    uint8_t manner;
    bool tangled;                               /* its core came here through waits that others' picks may have made possible */
    bool blocks;                                /* a step that may have to wait, or a look of a poll */
    int64_t before, after;                      /* of the object */
    uint32_t on_object, of_agent;               /* the pick before it there, plus 1 */
    uint32_t enabler[3];                        /* of a moment: its core's last pick before the start, moments before it; plus 1, 0: none */
    uint32_t races, race;                       /* races[race .. race + races) end here */
    uint64_t serial;                            /* no other pick of the search has it */
    size_t deeds;                               /* mark of the world before it */
} Pick;

typedef enum RaceState { RACE_NEW, RACE_OPEN, RACE_NEVER, RACE_COVERED } RaceState;

/* The pick might have come before the pick `first`. */
typedef struct Race {
    uint32_t first;
    uint32_t state;                    /* NEVER: it is not possible then; COVERED: as long as pick `by` is what it was, as `serial` tells */
    uint32_t by;
    uint64_t serial;
} Race;

typedef struct Path {
    uint32_t agents_known, objects_known;
    Pick *pick;
    uint32_t picks, picks_max;
    unsigned words;                             /* of one row of bits */
    uint64_t *past;                             /* picks_max rows */
    uint64_t *on_object;                        /* objects_known rows: the picks there */
    uint64_t *of_manner;                        /* a row for each Manner */
    uint32_t *last_on_object, *last_of_agent;   /* plus 1 */
    Race *race;
    uint32_t races, races_max;
    int32_t *top;                               /* by pick: the latest pick in its past, -1: none */
    uint32_t tangles;                           /* tangled picks, and moments of copies */
    uint64_t *scratch;
} Path;

void path_init(Path *path);
void path_clear(Path *path);
/* agent's next pick; the world is as before it, and value_after tells what it makes of the object. */
void path_push(Path *path, const Pick *pick);
void path_add_race(Path *path, uint32_t first);                 /* that ends at the last pick */
void path_pop(Path *path);
/* The picks right before a step of that manner, which it does not commute with, from the latest to the earliest: ids plus 1, 0: no more.
 * last_on_object: where the search for them begins. */
uint32_t path_group(const Path *path, uint32_t last_on_object, Manner manner);
uint32_t path_group_next(const Path *path, uint32_t pick);

static inline uint64_t *path_past(const Path *path, uint32_t pick) { return path->past + (size_t)pick * path->words; }
/* Is there a pick on the object after `without`, that has it not in its past, with which a step of that manner does not commute? */
bool path_disturbs(const Path *path, uint32_t without, uint32_t object, Manner manner);
static inline bool path_bit(const uint64_t *row, uint32_t pick) { return row[pick / 64] >> pick % 64 & 1; }
static inline void path_set(uint64_t *row, uint32_t pick) { row[pick / 64] |= UINT64_C(1) << pick % 64; }
static inline uint32_t path_last_on(const Path *path, uint32_t object)
{
    return object < path->objects_known ? path->last_on_object[object] : 0;
}
static inline uint32_t path_last_of(const Path *path, uint32_t agent)
{
    return agent < path->agents_known ? path->last_of_agent[agent] : 0;
}
