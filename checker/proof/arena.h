/* arena.h - memory and time of one proof: zeroed blocks that are freed together, under one limit of bytes and seconds.
 *
 *     Budget --- Arena (the whole proof)
 *           \--- Arena (one phase) -> arena_clear gives its memory back early
 *
 * Invariants:  1. budget->bytes = sum over its arenas of what they hold.  2. blocks and piles never overlap; a Pile may move when it
 *              grows, so keep indices into it, not addresses.
 * Ownership:   an arena owns all that is allocated from it.
 * Errors:      exceeding a limit jumps to budget->bail with budget->limit set ("memory", "time"); the caller of setjmp calls budget_clear.
 */
#pragma once
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ArenaBlock ArenaBlock;

typedef struct Budget {
    size_t bytes, bytes_peak, bytes_max;        /* max 0: no limit */
    double deadline;                            /* monotonic seconds, 0: none */
    const char *limit;                          /* which one was exceeded */
    ArenaBlock *blocks;                         /* of all its arenas */
    jmp_buf bail;
} Budget;

typedef struct Arena {
    Budget *budget;
    ArenaBlock *last;
} Arena;

void arena_init(Arena *arena, Budget *budget);
void arena_clear(Arena *arena);
void *arena_alloc(Arena *arena, size_t items, size_t item_bytes);      /* zeroed, aligned to 64 bytes */
#define ARENA_NEW(T, arena, items) ((T *)arena_alloc(arena, items, sizeof(T)))
void budget_clear(Budget *budget);              /* frees every block of every arena, even after a jump past the arenas' owners */
void budget_check_time(Budget *budget);         /* cheap enough for every few thousand steps */

/* A growing array inside an arena. */
typedef struct Pile {
    Arena *arena;
    ArenaBlock *block;                          /* its own, once it is large; NULL: part of a shared block */
    char *base;
    size_t count, item_bytes, capacity_bytes;
} Pile;

void pile_init(Pile *pile, Arena *arena, size_t item_bytes);
void *pile_push(Pile *pile, size_t items);      /* zeroed, unless count was decreased before; valid until the next push */
static inline void *pile_base(const Pile *pile) { return pile->base; }
#define PILE(T, pile, i) (((T *)pile_base(pile))[i])
