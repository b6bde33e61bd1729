/* telling.h - an entry part by part, in the order that all reports share: what and where, cause, under
 * which orders of copies it holds, repair, how to see it; then what may be folded. A report is a Teller, which lays out what it is told.
 *
 *     telling -> for each part that the teller wants and that has anything: begin, its items, end
 */
#pragma once
#include "entry.h"
#include "narrative.h"

typedef enum TellingPart {
    TELLING_HEADLINE, TELLING_PLACES, TELLING_CAUSE, TELLING_HOLDS, TELLING_REPAIRS, TELLING_COMMAND, TELLING_DELAYS,
    TELLING_SYMPTOMS, TELLING_TRIED, TELLING_HELPS, TELLING_STORY, TELLING_PARTS
} TellingPart;

/* What is told. finding NULL: only what was tried. */
typedef struct Told {
    const CheckResult *result;
    const Finding *finding;                     /* the first of the entry, or one of its symptoms */
    const Entry *entry;                         /* NULL: a symptom, by itself */
    bool alone, first;                          /* of the check's entries: the only one; the first */
    const char *schedule;                       /* the path of its file; NULL: none */
} Told;

/* All are called with `to`; NULL: not wanted. */
typedef struct Teller {
    unsigned parts;                             /* a bit per TellingPart */
    void (*begin)(void *to, TellingPart part, guint items);
    void (*words)(void *to, TellingPart part, const char *words);       /* HEADLINE, CAUSE, HOLDS, COMMAND, DELAYS, HELPS */
    void (*place)(void *to, const Place *place);
    void (*repair)(void *to, TellingPart part, const Repair *repair, const char *words);       /* REPAIRS, TRIED */
    void (*symptom)(void *to, const Finding *finding);
    void (*step)(void *to, const NarrativeStep *step);
    void (*end)(void *to, TellingPart part);
} Teller;

enum { TELLING_ALL = (1 << TELLING_PARTS) - 1 };

/* Is it one that the only entry of a check is told with? */
bool telling_is_repair(const Repair *repair, bool alone);
void telling(const Teller *teller, void *to, const Told *told);
