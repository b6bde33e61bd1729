/* heap.h - malloc and free for user code: a block belongs either to PROGRAM, and kernels may only read it, or to one core.
 *
 *     heap_load -> constructors run -> heap_loaded -> PROGRAM runs -> heap_seal -> kernels run, and each run ends with heap_clear
 *
 * What constructors and PROGRAM allocate lies in separate pages, which can be watched (heap_pages). What a core allocates is filled with a
 * pattern, belongs to that core alone, and is freed at the end of its run.
 *
 * Invariants:  1. a block of PROGRAM's lies in the used part of a span; spans share no byte and hold zeros where nothing was yet.  2. a
 *              core's block is in one list, in which each knows the one before.
 * Errors:      freeing another's block ends the caller by outside_refuse. No memory: NULL, as from malloc.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HeapBlock HeapBlock;

/* In each thread, the blocks of the running core; NULL: none is running. */
extern _Thread_local HeapBlock **heap_own;

void heap_load(void);                           /* before dlopen: what is allocated from here on, but by the loader, belongs to user code */
void heap_loaded(void);
void heap_seal(bool seal);                      /* PROGRAM is done; false: another PROGRAM follows */
void heap_keep(void);                           /* before the first PROGRAM */
/* What PROGRAM allocated is gone, but not yet what it wrote. false: it freed something that is older. */
bool heap_start_over(void);
/* From now on: the fill byte of cores' fresh blocks, and how far blocks are shifted (a multiple of 16). */
void heap_pattern(unsigned char fill, size_t shift);
enum { HEAP_FILL = 0x5b };                      /* a repeated run uses 0: the two differ as a truth value, a bound and a summand */
void heap_clear(HeapBlock **own);               /* of a core */
/* The pages of blocks that PROGRAM and constructors allocated, each span once. */
void heap_pages(void (*each)(void *data, void *start, size_t bytes), void *data);
char *heap_describe(const void *address);       /* "a heap block of 4 bytes that is older than the run", g_malloc */

void heap_assert_sane(void);

/* The replacement of that C library function for user code; NULL: there is none. */
void *heap_function(const char *name);
