/* random_words.h - small random programs of one device's cores, for tests of classes. */
#pragma once
#include "random_program.h"

/* Over flag words alone; with polls of them; with semaphores, copies and memory too. */
typedef enum RandomMix { RANDOM_PURE, RANDOM_POLLING, RANDOM_ALL } RandomMix;
void random_generate_words(RandomProgram *random, uint64_t seed, RandomMix mix, unsigned operations);

/* random_count.c: of pure words, how many classes there are, by running every interleaving. 0: too many interleavings. */
uint64_t random_count_classes(const RandomProgram *random, uint64_t runs_max);
