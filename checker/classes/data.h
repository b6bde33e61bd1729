/* data.h - contents of buffers while classes are explored: reads, writes, and undoing writes.
 *
 * Ownership:   all worlds of one search share Tiles, across threads, so that equal observations have equal ids.
 */
#pragma once
#include "../../model/machine.h"
#include "../run/unroll.h"

typedef struct Tiles Tiles;                     /* every distinct tile seen, interned; id 0: none */
typedef struct Data Data;

Tiles *tiles_new(void);
void tiles_free(Tiles *tiles);
const Tile *tiles_get(void *tiles, int64_t id);
const Intern *tiles_keys(const Tiles *tiles);   /* by id; for a checkpoint */
void tiles_add_key(Tiles *tiles, const void *key, size_t bytes);        /* in the order of ids: the same tiles again */

Data *data_new(Program *program, Tiles *tiles);
void data_free(Data *data);
uint32_t data_load(Data *data, const UnrollStep *step);        /* id of the tile */
void data_store(Data *data, const UnrollStep *step);
uint32_t data_copy_read(Data *data, const Copy *copy);          /* 0: unknown */
void data_copy_write(Data *data, const Copy *copy, uint32_t payload);
uint32_t data_mark(const Data *data);           /* of the journal: grows with each write */
void data_undo(Data *data, uint32_t mark);
Machine *data_machine(Data *data);
