/* machine.h - the state of one run: counts of semaphores, contents of buffers, and the effects of steps on them.
 *
 * It does no scheduling: it tells whether a step is possible now, and applies its effect on counts and contents. The caller does copies'
 * moments in a legal order.
 *
 * Invariants:  1. counts of semaphores are never negative; flag words have 32 bits.  2. contents exist only for objects whose decl is not
 *              opaque, from first touch.  3. what was written of an opaque one: intervals that ascend and do not touch.
 * Ownership:   private to the process that runs; all of it freed by machine_free.
 */
#pragma once
#include "cells.h"
#include "core.h"

Machine *machine_new(Program *program);
void machine_free(Machine *machine);
void machine_reset(Machine *machine);           /* as before the first launch */
Program *machine_program(Machine *machine);
/* From here on no buffer has contents, as if all were opaque. For runs in which only the steps matter. */
void machine_ignore_contents(Machine *machine, bool ignore);

/* Hashes of all counts and contents touched so far, and of the results: buffers with contents that outlive a launch. Both leave out the
 * values of marked elements (racing.h). */
uint64_t machine_hash(Machine *machine);
uint64_t machine_hash_results(Machine *machine);
uint64_t machine_hash_marks(Machine *machine);          /* of which elements of the results are marked; 0: none is */
/* Reports results with marked elements to the program (racing_reach), unless the program exempts the race on the result itself. */
void machine_tell_reached_results(Machine *machine);

int64_t machine_count(Machine *machine, uint32_t semaphore);
void machine_add(Machine *machine, uint32_t semaphore, int64_t inc);
bool machine_possible(Machine *machine, const Step *step);      /* joins: always true; the runner gathers members */
/* The effect of a core's step, other than starts, joins, lives and stops; fills `observed` and tiles. For EXPECT_COUNT: does it hold? */
bool machine_do(Machine *machine, Request *request);

/* Contents (NULL where the object is opaque). Reads give tiles; a copy is read into a payload, then written. */
Contents *machine_contents(Machine *machine, uint32_t object);
void machine_read(Machine *machine, uint32_t object, uint32_t view, const uint8_t *mask, Tile *out);
void machine_write(Machine *machine, uint32_t object, uint32_t view, const uint8_t *mask, const Tile *tile);
/* Marks the racing elements of a read or a write by that line. (Copies' moments do so themselves.) */
void machine_mark_read(Machine *machine, uint32_t site, uint32_t object, uint32_t view, const uint8_t *mask, Tile *out);
void machine_mark_write(Machine *machine, uint32_t site, uint32_t object, uint32_t view, const uint8_t *mask);
void machine_copy_now(Machine *machine, const Copy *copy);      /* read and write at once */
Tile *machine_tile(Machine *machine, uint32_t object, uint32_t view);   /* an empty tile for a load */
/* An empty tile for what a copy reads there: a tile of bytes if elements are not enough to describe them. */
Tile *machine_copy_payload(Machine *machine, uint32_t object, uint32_t view);
Tile *machine_copy_read(Machine *machine, const Copy *copy);    /* payload, NULL if opaque; tile_free, or machine_copy_write */
void machine_copy_write(Machine *machine, const Copy *copy, Tile *payload);
/* Elements read, written or made in all runs so far: the cost of contents. */
uint64_t machine_elements_moved(const Machine *machine);
/* Opaque objects: is any byte of the region written so far? */
bool machine_any_written(Machine *machine, uint32_t object, uint32_t region);
void machine_assert_sane(const Machine *machine);
