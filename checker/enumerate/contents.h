/* contents.h - versions of buffers and payloads of copies, as ids; 0: as before the first launch, or unknown (opaque).
 *
 * While workers run, NONE (and 0 in the state's ids) stands for a result that is not computed yet.
 */
#pragma once
#include "../../model/machine.h"
#include "space.h"

ContentsPool *contents_new(Program *program, Reservation *reservation);
void contents_free(ContentsPool *pool);
const Tile *contents_tile(void *pool, int64_t tile);
uint32_t contents_load(StateSpace *space, const uint32_t *id, const UnrollStep *step);  /* the tile that a core's LOAD or SWAP sees */
void contents_store(StateSpace *space, uint32_t *id, const UnrollStep *step);           /* STORE, SWAP */
uint32_t contents_copy_read(StateSpace *space, const uint32_t *id, const Copy *copy);   /* payload */
void contents_copy_write(StateSpace *space, uint32_t *id, const Copy *copy, uint32_t payload);
/* A machine that holds the contents of a state. */
Machine *contents_machine(StateSpace *space, const uint32_t *id);
