/* words.h - small random programs over shared words, semaphores and memory of one device's cores, for tests of classes.
 *
 * Each core has a list of operations, run by a kernel body; some jump over operations that follow. Word 0 is only ever added to and
 * awaited with "at least"; the others see everything.
 */
#pragma once
#include <glib.h>
#include "../../checker/run/unroll.h"

enum { WORDS_CORES_MAX = 4, WORDS_OPS_MAX = 8, WORDS_MAX = 3 };

typedef enum WordsKind {
    WORDS_LOAD,                                 /* if the word is >= value, jumps */
    WORDS_STORE, WORDS_ADD,
    WORDS_FETCH_ADD,                            /* jumps if the old word was >= value */
    WORDS_SWAP,                                 /* compare with value, swap in other; jumps if that failed */
    WORDS_WAIT,                                 /* until the word compares with value */
    WORDS_POLL,                                 /* loads until the word is >= value */
    WORDS_LOCK,                                 /* compares and swaps from 0 to 1 until that succeeds */
    WORDS_SIGNAL, WORDS_TAKE, WORDS_KEEP, WORDS_READ, WORDS_EXPECT,            /* on the semaphore of a core */
    WORDS_COPY,                                 /* from the own slot to a core's, counted on a core's DMA semaphore */
    WORDS_TAKE_COPY,                            /* waits for that */
    WORDS_RD, WORDS_WR                          /* the slot of a core */
} WordsKind;

typedef struct WordsOp { uint8_t kind, at, compare, skip; int8_t value, other; } WordsOp;

typedef struct Words {
    uint64_t seed;
    unsigned cores, ops[WORDS_CORES_MAX];
    WordsOp op[WORDS_CORES_MAX][WORDS_OPS_MAX];
    bool polls;
    Program *program;
    uint32_t word, semaphore, dma, slot;        /* decls */
} Words;

typedef enum WordsMix { WORDS_PURE, WORDS_POLLING, WORDS_ALL } WordsMix;       /* words alone; with loops; with everything else */

void words_generate(Words *words, uint64_t seed, WordsMix mix, unsigned ops);
Program *words_build(Words *words, const Knobs *knobs);        /* borrows words, and is put there */
char *words_text(const Words *words);
bool words_jumps(const WordsOp *op);

/* Of pure words: how many classes there are, by running every interleaving. 0: too many interleavings. */
uint64_t words_count_classes(const Words *words, uint64_t runs_max);
