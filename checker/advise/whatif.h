/* whatif.h - what would be if: the same program with a small change, checked as a whole by a check of its own.
 *
 * Nothing is concluded from the original: a repair is named only when the changed program was verified, a synchronisation is called
 * needless only when the program without it was. Small programs only, so that a report does not wait for its advice.
 */
#pragma once
#include "../check/check.h"

enum { WHATIF_CORES_MAX = 8, WHATIF_CHANGES_MAX = CORE_EDITS_MAX };

/* A list of changes in the making, and the words that name it. */
typedef struct Change {
    const CheckResult *result;
    Edit edit[WHATIF_CHANGES_MAX];
    EditFresh fresh[1];
    unsigned count, fresh_count;
    bool too_many;                              /* an edit did not fit in */
    GString *words;
} Change;

bool whatif_is_small(const CheckResult *result);
CheckSpec whatif_spec(const CheckResult *result);               /* a plain check of the same, within a few seconds */
CheckResult *whatif_run(const CheckResult *result, const CheckSpec *spec);      /* bounded at once where the result's time is over */
/* edits NULL: none. knobs: of the changed check. first: a fault that is there is enough. check_result_free. */
CheckResult *whatif_check(const CheckResult *result, const Edits *edits, const Knobs *knobs, bool first);

void change_begin(Change *change, const CheckResult *result);
void change_clear(Change *change);
Edit *change_add(Change *change, EditKind kind);                /* zeroed but for the kind; borrowed until the next change_add */
/* One more wait for `value`. */
void change_add_wait(Change *change, EditKind kind, EditWhere where, EditSemaphore semaphore, int64_t value);
void change_say(Change *change, const char *format, ...) __attribute__((format(printf, 2, 3)));
CheckResult *change_check(const Change *change);              /* a fault that is there is enough */

EditWhere whatif_at_exit(uint32_t launch, const bool *core);     /* where these cores leave the launch; NULL: all of them */
/* Steps of that kind at the site of `step`; copies of a moment's site are meant by their start. */
EditWhere whatif_at(const Program *program, StepKind kind, uint32_t site);
const char *whatif_semaphore_name(const Program *program, uint32_t semaphore);
char *whatif_semaphore_text(const Program *program, uint32_t semaphore);        /* "recv_sem", "recv_sems[2]" */
uint32_t whatif_element(const Program *program, uint32_t semaphore);
/* No earlier step of the record has that kind and site, and of waits that semaphore: one call may be a wait_send and a wait_recv. */
bool whatif_is_first(const Record *record, size_t index);
EditWhere whatif_at_wait(const Program *program, const Step *wait);     /* waits of its site on semaphores of that name */
void whatif_tell(CheckResult *result, char *sentence);          /* takes it; to result->tried */
