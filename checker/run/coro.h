/* coro.h - stackful coroutines for cores: thousands of small stacks, each behind a guard page.
 *
 *     coro_pool_new -> coro_start -> [ coro_resume -> runs -> coro_yield ]* -> the function returns: coro_done
 *
 * An abandoned coroutine is simply never resumed; its stack is reused by the next coro_start of that slot.
 * Invariants:  1. only one coroutine runs at a time, resumed from outside any coroutine.
 * Errors:      memory for stacks that cannot be reserved aborts; a stack overflow hits the guard page (coro_in_guard tells whose).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CoroPool CoroPool;

/* shift: bytes by which stacks begin lower, so that a repeated run sees other addresses (multiple of 16, below 64 KiB). */
CoroPool *coro_pool_new(uint32_t slots);
void coro_pool_free(CoroPool *pool);
enum { CORO_FILLED_BYTES = 4096, CORO_FILLED_DEEP = 65536 };
/* From now on: stacks are filled at their start, so many bytes from the top, so that what was used is as if never written. 0: not. */
void coro_pool_shift(CoroPool *pool, size_t shift, unsigned char fill);         /* CORO_FILLED_BYTES */
void coro_pool_fill(CoroPool *pool, unsigned char fill, size_t bytes);          /* at most CORO_FILLED_DEEP */
void coro_start(CoroPool *pool, uint32_t slot, void (*run)(void *), void *argument);
void coro_resume(CoroPool *pool, uint32_t slot);                /* returns when it yields or ends */
void coro_yield(CoroPool *pool);                                /* from inside only */
bool coro_done(const CoroPool *pool, uint32_t slot);
/* What a parked coroutine has on its stack: everything its own future depends on besides the heap. */
const void *coro_stack_in_use(const CoroPool *pool, uint32_t slot, size_t *bytes);      /* NULL where the platform hides it */
bool coro_in_guard(const CoroPool *pool, const void *address, uint32_t *slot);
