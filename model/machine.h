/* machine.h - the state of one run: counts of semaphores, contents of buffers; what can happen, and doing it.
 *
 * Knows no scheduling: it says whether a step is possible now and carries out its effect on counts and contents. Copies' moments are
 * carried out by the caller in a legal order.
 *
 * Invariants:  1. counts are never negative.  2. contents exist only for objects whose decl is not opaque, from first touch.
 * Ownership:   private to the process that runs; all of it freed by machine_free.
 */
#pragma once
#include "cells.h"
#include "core.h"

Machine *machine_new(Program *program);
void machine_free(Machine *machine);
void machine_reset(Machine *machine);           /* as before the first launch */
Program *machine_program(Machine *machine);
/* From here on no buffer has contents, as if all were opaque; until told otherwise. For runs in which only the steps matter. */
void machine_ignore_contents(Machine *machine, bool ignore);

/* Of all counts and contents touched so far; of what the program hands back: real buffers that outlive a launch. Both leave out the values
 * of marked elements (racing.h). */
uint64_t machine_hash(Machine *machine);
uint64_t machine_hash_results(Machine *machine);
uint64_t machine_hash_marks(Machine *machine);          /* of which elements of the results are marked; 0: none is */
/* Tells the program (racing_reach) of results with marked elements, where the program does not exempt the race on the result itself. */
void machine_tell_reached_results(Machine *machine);

int64_t machine_count(Machine *machine, uint32_t semaphore);
void machine_add(Machine *machine, uint32_t semaphore, int64_t inc);
bool machine_possible(Machine *machine, const Step *step);      /* joins: always true; the runner gathers members */
/* Effect of a core's step other than starts, joins, lives and stops; fills observed and tiles; for EXPECT_COUNT returns whether it held. */
bool machine_do(Machine *machine, Request *request);

/* Contents (NULL where the object is opaque). Reads give tiles; a copy is read into a payload, then written. */
Contents *machine_contents(Machine *machine, uint32_t object);
void machine_read(Machine *machine, uint32_t object, uint32_t view, const uint8_t *mask, Tile *out);
void machine_write(Machine *machine, uint32_t object, uint32_t view, const uint8_t *mask, const Tile *tile);
/* After a read or a write by that line: its racing elements are marked. (The moments of copies see to it themselves.) */
void machine_mark_read(Machine *machine, uint32_t site, uint32_t object, uint32_t view, const uint8_t *mask, Tile *out);
void machine_mark_write(Machine *machine, uint32_t site, uint32_t object, uint32_t view, const uint8_t *mask);
void machine_copy_now(Machine *machine, const Copy *copy);      /* read and write at once */
Tile *machine_tile(Machine *machine, uint32_t object, uint32_t view);   /* an empty one for a load */
/* An empty tile for what a copy moves from there: of bytes, each for itself, where elements do not tell them all. */
Tile *machine_copy_payload(Machine *machine, uint32_t object, uint32_t view);
Tile *machine_copy_read(Machine *machine, const Copy *copy);    /* payload, NULL if opaque; tile_free, or machine_copy_write */
void machine_copy_write(Machine *machine, const Copy *copy, Tile *payload);
/* Elements read, written or made in all runs so far: what contents have cost. */
uint64_t machine_elements_moved(const Machine *machine);
/* Opaque objects: is any byte of the region written so far? */
bool machine_any_written(Machine *machine, uint32_t object, uint32_t region);
