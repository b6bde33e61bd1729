/* repairs.h - shared by the parts of repairs.
 *
 *     repairs.c: which kinds are tried, ranking      repairs_ops.c: the program's operations       repairs_landings.c: what stays read
 *     repairs_order.c: steps left out, moved, put in               repairs_names.c: other slots, devices, semaphores, counts
 *     repairs_wait.c: missing waits; _up: late ones   repairs_barrier.c: semaphores, barriers, capacity, knobs
 *     repairs_handshake.c: order between cores        repairs_flags.c: values of flags
 *     repairs_size.c: smaller sizes                   repairs_diff.c: a change as lines of the author's file
 *
 * Ownership:   borrows the result; the repairs go to result->tried.
 */
#pragma once
#include "../report/source.h"
#include "whatif.h"

/* A call of the source that was a step of the recorded run, on whatever core. */
typedef struct Op {
    uint8_t kind;                               /* StepKind */
    const char *file;
    unsigned line, counter;
    uint16_t launch;
    uint32_t value;                             /* of its first step */
    const char *semaphore, *send, *buffer;      /* names; semaphore: of a copy, that it receives on. NULL: none */
    bool remote;
    uint8_t semaphore_kind, compare;            /* compare: of a wait for a flag */
    int64_t initial;
    bool scoped, sends, varies;                 /* sends: it names a core; varies: not always the same one */
    bool stuck, blamed;                         /* a core is stuck there; a fault is at its line */
    uint32_t element, elements;
    uint32_t times[WHATIF_CORES_MAX], target[WHATIF_CORES_MAX];         /* by core; NONE: it names none */
} Op;

/* Whom each core names; NONE: nobody. */
typedef struct Relation { const char *words; uint32_t target[WHATIF_CORES_MAX]; } Relation;

typedef struct Repairs {
    CheckResult *result;
    const Program *program;
    const Record *record;
    unsigned faults, named, tries;              /* faults: bit per FaultId */
    uint64_t work;                              /* steps of all executions that were tried */
    GHashTable *seen, *found;                   /* texts of changes that were tried; what right ones are about. Looked up only */
    GHashTable *read;                           /* landings that may be read: see repairs_landings.c */
    Source *source;
    GArray *ops;                                /* of Op, in the order of their first steps */
    GArray *order[WHATIF_CORES_MAX];            /* by core, of indices in ops: without immediate repetitions */
} Repairs;

/* The same amount left over on one element on these cores. */
typedef struct Drain { const char *name; uint32_t element, semaphore; bool core[WHATIF_CORES_MAX]; int64_t value; } Drain;

const Step *repairs_step(const Repairs *r, size_t i);
bool repairs_are_over(const Repairs *r);        /* enough is named, or was tried */
bool repairs_try(Repairs *r, Change *change);   /* clears the change. True: the changed program is right */
/* Of Drain: what the recorded run left on semaphores; every complete run leaves the same. */
GArray *repairs_find_left(const Repairs *r);

void repairs_find_ops(Repairs *r);
void repairs_forget_ops(Repairs *r);
Op *repairs_op(const Repairs *r, guint index);
/* How often the core did such steps before that index of the record. */
uint32_t repairs_occurrence(const Repairs *r, size_t index, const EditWhere *where);
bool repairs_matches(const Repairs *r, const Step *step, const EditWhere *where);       /* kind, place and semaphore */
EditWhere op_where(const Op *op);               /* all steps of that call */
GArray *repairs_relations(const Repairs *r);    /* of Relation: neighbours, and those that the program's operations have */
bool relation_stays(const Relation *relation, const Op *op);    /* each core names itself; op: of those that it names, NULL: all */
bool op_sets_flag(const Op *op);                /* or waits for one */
bool flag_is_given(const Repairs *r, const char *flag);         /* some core stores a word there, or adds to it */
bool flag_makes_no_sense(const Op *op, int64_t now);            /* a wait that passes at once; a word for a reset, or a reset for a word */
char *op_place(const Op *op);                   /* "kernel.c:12". g_free */
char *op_words(const Op *op);                   /* "wait on recv_sem", "start of the copy". g_free */

GHashTable *landings_find(const CheckResult *result);           /* of keys of landings that may be read */
bool landings_stay(const Repairs *r, const CheckResult *changed);       /* whatever could be read still is */

/* Each offers some kinds of changes. */
void repairs_at_smaller_size(CheckResult *result);              /* of a large program: repairs at a smaller faulty size */
void repairs_drains(Repairs *r);                /* at the end, wait for what is left over */
void repairs_missing_waits(Repairs *r);         /* of two racing steps, one waits for the other */
void repairs_waits_behind_starts(Repairs *r);   /* wait for a copy right after its start */
void repairs_without_waits(Repairs *r);         /* leave out a wait at which cores are stuck */
void repairs_without_signals(Repairs *r);       /* leave out a signal that nobody takes */
void repairs_starts(Repairs *r);                /* start a copy that is only waited for */
void repairs_moves(Repairs *r);                 /* an operation comes behind one of the next */
void repairs_signals(Repairs *r);               /* put in a signal that a core waits for */
void repairs_devices(Repairs *r);               /* another device */
void repairs_counts(Repairs *r);                /* one more, one less */
void repairs_slots(Repairs *r);                 /* one slot further or less far */
void repairs_semaphores(Repairs *r);            /* another semaphore; send and receive exchanged */
void repairs_flags(Repairs *r);                 /* at least instead of equal; an epoch */
void repairs_guards(Repairs *r);                /* nothing where it would be out of bounds */
void repairs_one_a_copy(Repairs *r);
void repairs_larger_counts(Repairs *r);
void repairs_smaller_counts(Repairs *r);
void repairs_second_barriers(Repairs *r);
void repairs_entry_barriers(Repairs *r);
void repairs_handshakes(Repairs *r);            /* of two steps of different cores, the second waits for the first */
void repairs_capacity(Repairs *r);              /* the same before each copy of a line, if each core has one sender */
void repairs_one_a_round(Repairs *r);
void repairs_one_a_wait(Repairs *r);
void repairs_first_credits(Repairs *r);         /* a signal before the first wait, in place of the last one */
bool repairs_wait_up(Repairs *r, const Step *wait, const EditWhere *to);        /* that one */
void repairs_waits_up(Repairs *r);              /* a late wait comes before the step that needs it */
void repairs_knobs(Repairs *r);

/* What the source says of it: the lines before and after go to the repair. */
void diff_tell(const Repairs *r, const Change *change, Repair *repair);
/* The line where the copy was made that is started or waited for at this line: perhaps the same. 0: not found. */
unsigned diff_find_made(const Repairs *r, const char *file, unsigned line);
/* If a variable names what the edit changes: the line of its definition, and the variable (g_free). 0 and NULL: it does not. */
unsigned diff_find_ref(const Repairs *r, const Edit *edit, char **variable);
/* Adds the same edit for each operation of the function that names that variable, defined at that line. */
void diff_add_users(const Repairs *r, Change *change, const Edit *like, const char *file, unsigned line, const char *variable);
