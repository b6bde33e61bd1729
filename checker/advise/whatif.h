/* whatif.h - checks the same program with a small change.
 *
 * Nothing is concluded from the original: a repair is named only if the changed program is verified, and synchronisation is called needless
 * only if the program without it is verified. Only for small programs, so that a report does not wait long for advice.
 */
#pragma once
#include "../check/check.h"

enum { WHATIF_CORES_MAX = 8, WHATIF_CHANGES_MAX = CORE_EDITS_MAX };

/* A list of edits, and its description. */
typedef struct Change {
    const CheckResult *result;
    RepairKind kind;
    const char *about;                          /* of changes with the same words here one is enough; interned, NULL: of none */
    unsigned changed;                           /* lines of the source; 0: as many as edits */
    Edit edit[WHATIF_CHANGES_MAX];
    EditFresh fresh[1];
    unsigned count, fresh_count;
    const char *file, *variable;                /* of the definition that all edits are about; NULL: they have their own lines */
    unsigned line;
    bool too_many;                              /* an edit did not fit */
    GPtrArray *owned;                           /* what its turns point to */
    GString *words;
} Change;

bool whatif_is_small(const CheckResult *result);
CheckSpec whatif_spec(const CheckResult *result);               /* a plain check of the same program, limited to a few seconds */
CheckResult *whatif_run(const CheckResult *result, const CheckSpec *spec);      /* bounded at once if the result is out of time.
                                                 * A contradiction within heddle is noted in the outcome of `result`, and fails its check,
                                                 * unless values from outside of a buffer were loaded */
/* edits NULL: none. knobs: of the changed check. first: stop at the first fault. check_result_free. */
CheckResult *whatif_check(const CheckResult *result, const Edits *edits, const Knobs *knobs, bool first);

void change_begin(Change *change, const CheckResult *result);
void change_clear(Change *change);
Edit *change_add(Change *change, EditKind kind);                /* zeroed except for the kind; valid until the next change_add */
/* Adds a wait for `value`. */
void change_add_wait(Change *change, EditKind kind, EditWhere where, EditSemaphore semaphore, int64_t value);
/* Turns for an edit, in which nothing is done yet; they live as long as the change. */
typedef struct Turns { EditTurns turns; uint32_t *value, *element, *target; } Turns;
Turns *change_turns(Change *change, uint32_t times);
void change_say(Change *change, const char *format, ...) __attribute__((format(printf, 2, 3)));
CheckResult *change_check(const Change *change);              /* stops at the first fault */

EditWhere whatif_at_exit(uint32_t launch, const bool *core);     /* where these cores leave the launch; NULL: all */
/* Steps of that kind at the site; for the site of a moment, the starts of its copies. */
EditWhere whatif_at(const Program *program, StepKind kind, uint32_t site);
const char *whatif_semaphore_name(const Program *program, uint32_t semaphore);
char *whatif_semaphore_text(const Program *program, uint32_t semaphore);        /* "recv_sem", "recv_sems[2]" */
uint32_t whatif_element(const Program *program, uint32_t semaphore);
/* Is it the first step of its kind and site, and for a wait of its semaphore? One call may be a wait_send and a wait_recv. */
bool whatif_is_first(const Record *record, size_t index);
EditWhere whatif_at_wait(const Program *program, const Step *wait);     /* waits at its site on semaphores of that name */
Repair *whatif_tell(CheckResult *result, RepairKind kind, char *words); /* takes the words; appends to result->tried, which owns it */
bool whatif_is_reported(const CheckResult *result, const Finding *finding);     /* not exempted */
