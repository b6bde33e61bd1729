/* queue.h - states in the order in which they came: those that are not expanded yet, and lists of others.
 *
 * Invariants:  1. freed <= head <= tail <= room.  2. what was freed are whole pages; where keys are kept it is none.
 * Errors:      queue_grow returns false when the memory cannot be had; nothing is lost then.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First in, first out; with `keep` all keys stay and can be read by index. */
typedef struct Queue {
    uint64_t *key;
    unsigned words;
    bool keep;
    uint64_t head, tail, room, freed;           /* in keys; those before `freed` were given back */
} Queue;

void queue_init(Queue *queue, unsigned words, bool keep);
void queue_clear(Queue *queue);
size_t queue_bytes(const Queue *queue);
bool queue_grow(Queue *queue);                  /* call when tail == room */
void queue_release(Queue *queue);               /* gives back what lies before head, unless kept */
void queue_empty(Queue *queue);                 /* nothing is in it any more; for one that was never released */
void queue_assert_sane(const Queue *queue);
