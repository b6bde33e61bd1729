/* heap.h - malloc and free as user code has them, so that a block is either PROGRAM's, which kernels may only read, or one core's own.
 *
 *     heap_load -> constructors run -> heap_loaded -> PROGRAM runs -> heap_seal -> kernels run, and each run ends with heap_clear
 *
 * What constructors and PROGRAM allocate lies in pages of its own, which can be watched (heap_pages). What a core allocates is filled with
 * a pattern, is known to that core alone, and is gone when its run is.
 *
 * Errors:      freeing what is not the caller's own ends it by outside_refuse. No memory: NULL, as malloc says it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HeapBlock HeapBlock;

/* The list of the core that runs, in each thread; NULL: none does. */
extern _Thread_local HeapBlock **heap_own;

void heap_load(void);                           /* in dlopen: what is allocated there, other than by the loader, is user code's */
void heap_loaded(void);
void heap_seal(bool seal);                      /* false: another PROGRAM comes */
/* From now on: what unwritten memory of cores holds, and how far their blocks are moved (a multiple of 16). */
void heap_pattern(unsigned char fill, size_t shift);
enum { HEAP_FILL = 0x5b };                      /* what a repeated run has is 0: as truth, as a bound and as a sum they differ */
void heap_clear(HeapBlock **own);               /* of a core */
/* The pages of blocks that PROGRAM and constructors made, each span once. */
void heap_pages(void (*each)(void *data, void *start, size_t bytes), void *data);
char *heap_describe(const void *address);       /* "a heap block of 4 bytes that is older than the run", g_malloc */

/* The function of that name that user code is to have in place of the C library's; NULL: there is none. */
void *heap_function(const char *name);
