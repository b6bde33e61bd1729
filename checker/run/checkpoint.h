/* checkpoint.h - what a long search has done so far, in a file from which it can go on.
 *
 *     writing:  checkpoint_new -> [ checkpoint_due -> checkpoint_begin -> checkpoint_put* -> checkpoint_commit ]* -> checkpoint_free
 *     reading:  checkpoint_read: what was put, in one piece
 *
 * A file holds which check it belongs to (the identity: lines "key value"), the search's own bytes, and a checksum over all. It is written
 * beside (FILE.part) and renamed, so at each moment FILE is absent or whole, whoever kills us. One process at a time writes it: who does
 * holds a lock on FILE.lock, which ends with the process. When and what to write is the search's business: at least at its end and when it
 * is told to stop.
 *
 * A checkpoint is believed as the program is: who can write one can claim that all was covered. What is no claim but nonsense is refused
 * by whoever reads it.
 *
 * Errors:      one line that says what to do: a file that is torn, foreign, or of another check (naming the first key that differs), or
 *              that another process writes.
 *              A file that cannot be written: told at once; later (a full disk) by checkpoint_failure.
 */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include "../facts/codec.h"

/* The first line. Its number changes with the bytes of any search. */
#define CHECKPOINT_MAGIC "heddle-checkpoint 4\n"

/* What a search says of a file that is whole and not of it. */
#define CHECKPOINT_UNFIT "the checkpoint does not fit this program, or is of another version of heddle: start again, without --resume"

typedef struct Checkpoint Checkpoint;

/* Both are copied. NULL and *error (g_malloc): there can be no such file. */
Checkpoint *checkpoint_new(const char *path, const char *identity, char **error);
void checkpoint_free(Checkpoint *checkpoint);   /* NULL: no effect */
/* A second has passed since the last commit, or twenty times what that took. false for NULL: nobody asked for a file. */
bool checkpoint_due(const Checkpoint *checkpoint);
void checkpoint_begin(Checkpoint *checkpoint);
void checkpoint_put(Checkpoint *checkpoint, const void *data, size_t bytes);
Codec checkpoint_codec(Checkpoint *checkpoint);  /* puts what is written */
bool checkpoint_commit(Checkpoint *checkpoint); /* false: the file is as it was; checkpoint_failure tells why */
const char *checkpoint_failure(const Checkpoint *checkpoint);   /* of the last commit; NULL: it went well */

/* What a line of the file's identity says, without a look at the rest. NULL: it has no such line, or is no such file. g_malloc. */
char *checkpoint_peek(const char *path, const char *key);
/* The bytes, aligned to 8. NULL and *error (g_malloc): not a file to go on from for this identity. */
GBytes *checkpoint_read(const char *path, const char *identity, char **error);
