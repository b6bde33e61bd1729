/* checkpoint.h - what a long search has done so far, in a file from which it can go on.
 *
 *     writing:  checkpoint_new -> [ checkpoint_due -> checkpoint_begin -> checkpoint_put* -> checkpoint_commit ]* -> checkpoint_free
 *     reading:  checkpoint_read: what was put, in one piece
 *
 * A file holds the check it belongs to (its identity: lines "key value"), the search's own bytes, and a checksum over all. It is written
 * as FILE.part and renamed: at each moment FILE is absent or whole, whatever kills us. One process at a time writes it, with a lock on
 * FILE.lock that ends with the process; a file system without locks keeps nobody out. The search decides what to write and when: at least
 * at its end and when it is told to stop.
 *
 * A checkpoint is trusted as the program is: whoever can write one can claim that all was covered. Its reader refuses nonsense.
 *
 * Errors:      one line that says what to do: a file that is damaged, foreign, or of another check (the first key that differs is named),
 *              that another process writes, or that cannot be written. Later failures (a full disk): checkpoint_failure.
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
/* Since the last commit a second has passed, and twenty times as long as it took. false for NULL: nobody asked for a file. */
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
