/* repair.h - what a check of a changed program, or under other knobs, showed.
 *
 * Ownership:   a repair owns what it points to.
 */
#pragma once
#include "../facts/codec.h"
#include "../run/edit.h"

typedef enum RepairKind {
    REPAIR_MENDS,                               /* with this change the program is verified */
    REPAIR_MASKS,                               /* so it is with a further barrier, or under other knobs: the mistake is still there */
    REPAIR_NEEDED,                              /* of a verified program: what happens without this */
    REPAIR_SIZE                                 /* which sizes are wrong */
} RepairKind;

/* What was changed at the steps of a line. */
typedef struct RepairEdit {
    uint8_t kind, at, step;                     /* EditKind; StepKind of the line's steps, of the one more step */
    char *file;                                 /* NULL: not of one line */
    unsigned line;
    char *semaphore;                            /* the new step's, or the new one of a step; NULL: it has its own */
    int64_t value;
} RepairEdit;

/* A line of the author's file before and after. */
typedef struct RepairLine {
    char *file, *old, *new;                     /* old NULL: put in before that line, perhaps several; new NULL: left out */
    unsigned line;
} RepairLine;

typedef struct Repair {
    RepairKind kind;
    char *words;                                /* what was changed, or a sentence without its full stop */
    GPtrArray *edits, *lines, *keys;            /* of RepairEdit; of RepairLine; of finding_key: what is gone */
    unsigned changed;                           /* lines of the author's file; 0: none, or unknown */
    int waits;                                  /* so many more than before */
    uint32_t devices;                           /* so many it was tried with; 0: as many as the check has */
    bool data_checked;                          /* results were compared with expected ones */
} Repair;

Repair *repair_new(RepairKind kind, char *words);               /* takes the words */
void repair_free(Repair *repair);
void repair_add_edit(Repair *repair, const Edit *edit);
void repair_add_line(Repair *repair, const char *file, unsigned line, const char *old, const char *now);
const char *repair_kind_name(RepairKind kind);  /* "repair", "mask", "needed", "size" */
const char *repair_edit_name(EditKind kind);    /* "drop", "before", ... */
char *repair_text(const Repair *repair);        /* the words, and what the check of the changed program showed. g_free */
void repairs_carry(Codec *codec, GPtrArray **repairs);          /* of Repair, or NULL */
