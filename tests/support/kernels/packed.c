/* packed.c - rows of a bitcast ref lie packed: an item of 4 bytes holds one column of four rows of bytes, the first row lowest.
 *
 * Row 5 of bytes is byte 1 of every word of row 1. Each program has a wrong twin, or is one.
 */
#include <heddle/pallas.h>

/* Two cores, and nothing that orders them: one stores row 5 of bytes, the other loads column `column` of row `row` of words. */
KERNEL(row_and_word, words, row)
{
    if (pl_core_index() == 0)
        pl_store(pl_at(pl_bitcast(words, PL_U8), 5), pl_tile_zeros(PL_U8, 8));
    else if (pl_core_index() == 1)
        pl_load(pl_core_ref(pl_at(words, pl_parameter(row), pl_parameter(column)), 0));
}

static void row_and_word_program(int row)
{
    pl_choose("column", 0, 7);
    pl_choose("row", row, row);
    pl_launch(row_and_word, .args = { pl_input_in(PL_VMEM, PL_I32, 3, 8), pl_smem(PL_I32) });
}

PROGRAM(row_meets_word, "a row of bytes reaches every word of its row of words")
{
    row_and_word_program(1);
    pl_expect_fault(PL_RACE);
}

PROGRAM(row_misses_word, "and none of the next")
{
    row_and_word_program(2);
}

/* The same with halves: word (2, 5) of the wide view is column 5 of rows 4 and 5. */
KERNEL(word_and_half, halves, which)
{
    int column = pl_parameter(row) / 16, row = pl_parameter(row) % 16;
    (void)which;
    if (pl_core_index() == 0)
        pl_store(pl_at(pl_bitcast(halves, PL_U32), 2, 5), pl_tile_zeros(PL_U32));
    else if (pl_core_index() == 1)
        pl_load(pl_core_ref(pl_at(halves, row, column), 0));
}

static void word_and_half_program(int least, int greatest)
{
    pl_choose("row", least, greatest);
    pl_launch(word_and_half, .args = { pl_input_in(PL_VMEM, PL_BF16, 8, 8), pl_smem(PL_I32) });
}

PROGRAM(word_meets_half, "one item of the wide view is two of one column")
{
    word_and_half_program(5 * 16 + 4, 5 * 16 + 5);
    pl_expect_fault(PL_RACE);
}

PROGRAM(word_misses_half, "and not its neighbours in a row")
{
    word_and_half_program(6 * 16 + 4, 6 * 16 + 5);
}

/* Strided rows of a bitcast, reshaped: rows 1, 5 and 9 of bytes, as 3 times 2 times 4. Another core stores rows 2, 6 and 10, or 9 to 11. */
KERNEL(every_fourth, words, gate)
{
    PlRef bytes = pl_bitcast(words, PL_U8);
    if (pl_core_index() == 0) {
        PlRef mine = pl_reshape(pl_at(bytes, pl_dslice(1, 3, 4)), 3, 2, 4);
        pl_store(mine, pl_tile_zeros(PL_U8, 3, 2, 4));
    } else if (pl_core_index() == 1) {
        PlRef theirs = pl_parameter(near) ? pl_at(bytes, pl_ds(9, 3), pl_ds(7, 1)) : pl_at(bytes, pl_dslice(2, 3, 4));
        pl_load(pl_core_ref(theirs, 0));
    }
}

static void every_fourth_program(int near)
{
    pl_choose("near", near, near);
    pl_launch(every_fourth, .args = { pl_input_in(PL_VMEM, PL_I32, 3, 8), pl_smem(PL_I32) });
}

PROGRAM(strided_rows_meet, "every fourth row of bytes against rows that hold one of them")
{
    every_fourth_program(1);
    pl_expect_fault(PL_RACE);
}

PROGRAM(strided_rows_pass, "against the bytes beside them in the same words")
{
    every_fourth_program(0);
}

/* Two stores of which masks leave nothing, or one element of one row. */
KERNEL(masked, words, gate)
{
    PlTile mask = pl_tile_zeros(PL_BOOL, 2, 8);
    for (int i = 0; i < pl_parameter(elements); i++)
        pl_tile_put(mask, 1, 1, 3);
    PlRef rows = pl_at(pl_bitcast(pl_core_ref(words, 0), PL_U8), pl_ds(4, 2));
    if (pl_core_index() < 2)
        pl_store_masked(rows, pl_tile_zeros(PL_U8, 2, 8), mask);
}

static void masked_program(int elements)
{
    pl_choose("elements", elements, elements);
    pl_launch(masked, .args = { pl_input_in(PL_VMEM, PL_I32, 3, 8), pl_smem(PL_I32) });
}

PROGRAM(masked_to_nothing, "nothing is stored twice")
{
    masked_program(0);
}

PROGRAM(masked_to_one_byte, "one byte is stored twice")
{
    masked_program(1);
    pl_expect_fault(PL_RACE);
}

/* Device 0 sends row 5 of bytes to every other device, which loads column 0 of the words: after the wait, or before it. */
KERNEL(row_is_sent, words, sems)
{
    PlRef row = pl_at(pl_bitcast(words, PL_U8), pl_ds(5, 1));
    if (pl_device_id() == 0) {
        for (int device = 1; device < pl_num_devices(); device++)
            pl_copy_wait_send(pl_async_remote_copy(row, row, pl_at(sems, 0), pl_at(sems, 1), pl_device(device)));
        return;
    }
    if (!pl_parameter(waits))
        pl_load(pl_at(words, PL_ALL, 0));
    pl_copy_wait(pl_make_async_copy(row, row, pl_at(sems, 1)));
    if (pl_parameter(waits))
        pl_load(pl_at(words, PL_ALL, 0));
}

static void row_is_sent_program(int waits)
{
    pl_choose("waits", waits, waits);
    pl_launch(row_is_sent, .args = { pl_input_in(PL_VMEM, PL_I32, 3, 8), pl_dma_semaphore(2) });
}

PROGRAM(row_sent_loaded_early, "a packed row from another device is looked at before it is there")
{
    row_is_sent_program(0);
    pl_expect_fault(PL_RACE, .from = 2);
}

PROGRAM(row_sent_loaded_late, "a packed row from another device is looked at when it is there")
{
    row_is_sent_program(1);
}

/* A local copy of a row of words to a buffer of bytes, and a load of one of the rows that it fills. */
KERNEL(row_is_copied, words, bytes, sem)
{
    PlCopy copy = pl_async_copy(pl_at(words, 1), pl_at(pl_bitcast(bytes, PL_I32), 0), sem);
    if (pl_parameter(waits))
        pl_copy_wait(copy);
    PlTile row = pl_load(pl_at(bytes, 3, pl_ds(0, 2)));
    if (!pl_parameter(waits))
        pl_copy_wait(copy);
    (void)row;
}

static void row_is_copied_program(int waits)
{
    pl_choose("waits", waits, waits);
    pl_launch(row_is_copied, .args = { pl_input_in(PL_VMEM, PL_I32, 3, 8), pl_input_in(PL_VMEM, PL_U8, 8, 8), pl_dma_semaphore() });
}

PROGRAM(row_copied_loaded_early, "a row of words copied into four rows of bytes, one of which is loaded at once")
{
    row_is_copied_program(0);
    pl_expect_fault(PL_RACE);
}

PROGRAM(row_copied_loaded_late, "a row of words copied into four rows of bytes, one of which is loaded then")
{
    row_is_copied_program(1);
}

static double word(int device, const int64_t *index)
{
    (void)device;
    return (double)(index[0] * 0x1000000 + index[1] * 0x10000 + 0x100 * (index[0] == 1 && index[1] == 1));
}

static double byte_of_word(const PlRef *ref, int device, const int64_t *index)
{
    int64_t whole = (int64_t)pl_given(ref[0], device, index[0] / 4, index[1]);
    return (double)(whole >> 8 * (index[0] % 4) & 0xff);
}

static double byte_behind_byte(const PlRef *ref, int device, const int64_t *index)
{
    int64_t at = index[0] * 8 + index[1], whole = (int64_t)pl_given(ref[0], device, at / 4 / 8, at / 4 % 8);
    return (double)(whole >> 8 * (at % 4) & 0xff);
}

KERNEL(bytes_move, words, bytes)
{
    pl_store(bytes, pl_load(pl_bitcast(words, PL_U8)));
}

KERNEL(words_move, words, bytes, sem)
{
    PlCopy copy = pl_async_copy(words, pl_bitcast(bytes, PL_I32), sem);
    pl_copy_wait(copy);
}

static void moved(bool by_copy, double (*due)(const PlRef *, int, const int64_t *))
{
    PlRef words = pl_fill(pl_input_in(PL_VMEM, PL_I32, 3, 8), word), bytes = pl_output_in(PL_VMEM, PL_U8, 12, 8);
    if (by_copy)
        pl_launch(words_move, .args = { words, bytes, pl_dma_semaphore() });
    else
        pl_launch(bytes_move, .args = { words, bytes });
    pl_expect_values(bytes, due, 0, words);
}

PROGRAM(values_by_load, "row r of bytes is byte r % 4 of row r / 4 of words")
{
    moved(false, byte_of_word);
}

PROGRAM(values_by_copy, "the same by a copy of words into bytes")
{
    moved(true, byte_of_word);
}

PROGRAM(values_by_load_wrong, "not the bytes one behind the other")
{
    moved(false, byte_behind_byte);
    pl_expect_fault(PL_ASSERT);
}

PROGRAM(values_by_copy_wrong, "nor by a copy")
{
    moved(true, byte_behind_byte);
    pl_expect_fault(PL_ASSERT);
}

/* Byte 1 of word (1, 1), and of no other, is 1: a signal that is never taken. */
KERNEL(value_steers, words, gate)
{
    PlTile row = pl_load(pl_at(pl_bitcast(words, PL_U8), pl_parameter(row)));
    if (pl_tile_int(row, 1) == 1)
        pl_semaphore_signal(gate, 1);
}

static void value_steers_program(int row)
{
    pl_choose("row", row, row);
    pl_launch(value_steers, .args = { pl_fill(pl_input_in(PL_VMEM, PL_I32, 3, 8), word), pl_regular_semaphore() });
}

PROGRAM(value_leaves_a_signal, "byte 1 of a word decides")
{
    value_steers_program(5);
    pl_expect_fault(PL_LEFTOVER);
}

PROGRAM(value_leaves_none, "byte 0 of that word does not")
{
    value_steers_program(4);
}

/* Some rows of bytes are stored, then one column of the words is looked at, or another row of bytes. */
KERNEL(part_is_written, words, gate)
{
    PlRef bytes = pl_bitcast(words, PL_U8);
    pl_store(pl_at(bytes, pl_ds(0, pl_parameter(rows))), pl_tile_zeros(PL_U8, pl_parameter(rows), 8));
    PlTile tile = pl_parameter(word) ? pl_load(pl_at(words, 0)) : pl_load(pl_at(bytes, 2));
    if (pl_tile_int(tile, 3) == 77)
        pl_semaphore_signal(gate, 1);
}

static void part_is_written_program(int rows, int word)
{
    pl_choose("rows", rows, rows);
    pl_choose("word", word, word);
    pl_launch(part_is_written, .args = { pl_vmem(PL_I32, 3, 8), pl_regular_semaphore() });
}

PROGRAM(part_of_a_word_written, "three rows of bytes are no word")
{
    part_is_written_program(3, 1);
    pl_expect_fault(PL_UNINITIALISED);
}

PROGRAM(other_part_of_a_word_written, "two rows of bytes are not the third")
{
    part_is_written_program(2, 0);
    pl_expect_fault(PL_UNINITIALISED);
}

PROGRAM(all_of_a_word_written, "four rows of bytes are a row of words")
{
    part_is_written_program(4, 1);
}

PROGRAM(row_of_bytes_written, "the third row of three")
{
    part_is_written_program(3, 0);
}

/* Where elements came from is known whatever they were moved as: halves as words, words as bytes, all at once or row by row. */
KERNEL(moves, input, output, sem)
{
    PlType type = (PlType)pl_parameter(as);
    PlRef from = pl_bitcast(input, type), to = pl_bitcast(output, type);
    int rows = (int)pl_size(from, 0), right = rows - pl_parameter(lacks);
    switch (pl_parameter(how)) {
    case 0:
        pl_copy_wait(pl_async_copy(pl_at(from, pl_ds(0, right)), pl_at(to, pl_ds(0, right)), sem));
        break;
    case 1:
        for (int row = 0; row < right; row++)
            pl_store(pl_at(to, row), pl_load(pl_at(from, row)));
        break;
    default:
        pl_store(pl_at(to, pl_ds(0, right)), pl_load(pl_at(from, pl_ds(0, right))));
        break;
    }
    for (int row = right; row < rows; row++)
        pl_store(pl_at(to, row), pl_load(pl_at(from, 0)));
}

static void moves_program(PlType type, PlType as, int most, int lacks, bool parts)
{
    pl_choose("as", as, as);
    pl_choose("how", 0, most);
    pl_choose("lacks", lacks, lacks);
    PlRef input = pl_input_in(PL_VMEM, type, 4, 8), output = pl_output_in(PL_VMEM, type, 4, 8);
    pl_launch(moves, .args = { input, output, pl_dma_semaphore() });
    if (parts)
        pl_expect_equal(pl_at(pl_bitcast(output, as), 1), pl_at(pl_bitcast(input, as), 1));
    else
        pl_expect_equal(output, input);
}

PROGRAM(words_as_bytes, "words moved as bytes are the same words")
{
    moves_program(PL_I32, PL_U8, 2, 0, false);
}

PROGRAM(words_as_halves, "and as halves")
{
    moves_program(PL_F32, PL_BF16, 2, 0, false);
}

PROGRAM(words_as_bytes_but_one, "one row of bytes is another's")
{
    moves_program(PL_I32, PL_U8, 2, 1, false);
    pl_expect_fault(PL_ASSERT);
}

PROGRAM(halves_as_words, "halves moved as words are the same halves")
{
    moves_program(PL_BF16, PL_U32, 2, 0, false);
}

PROGRAM(halves_as_words_but_one, "one row of words is another's")
{
    moves_program(PL_BF16, PL_U32, 2, 1, false);
    pl_expect_fault(PL_ASSERT);
}

PROGRAM(bytes_of_words_expected, "a row of bytes is expected where words were moved")
{
    moves_program(PL_I32, PL_I16, 2, 0, true);
}

/* Of words, three rows of bytes are written; a copy as words takes those along. */
KERNEL(part_is_copied, words, copy, gate, sem)
{
    pl_store(pl_at(pl_bitcast(words, PL_U8), pl_ds(0, 3)), pl_tile_zeros(PL_U8, 3, 8));
    pl_copy_wait(pl_async_copy(words, copy, sem));
    if (pl_tile_int(pl_load(pl_at(pl_bitcast(copy, PL_U8), pl_parameter(row))), 3) == 77)
        pl_semaphore_signal(gate, 1);
}

static void part_is_copied_program(int row)
{
    pl_choose("row", row, row);
    pl_launch(part_is_copied, .args = { pl_vmem(PL_I32, 3, 8), pl_bitcast(pl_vmem(PL_I8, 12, 8), PL_I32), pl_regular_semaphore(),
                                        pl_dma_semaphore() });
}

PROGRAM(copied_part_written, "the third row of bytes was written")
{
    part_is_copied_program(2);
}

PROGRAM(copied_part_unwritten, "the fourth was not")
{
    part_is_copied_program(3);
    pl_expect_fault(PL_UNINITIALISED);
}

/* A race on one row of bytes is exempt: what is in the other rows of its words is judged all the same. */
KERNEL(beside_a_race, words, gate)
{
    PlRef bytes = pl_bitcast(pl_core_ref(words, 0), PL_U8);
    if (pl_core_index() < 2)
        pl_store(pl_at(bytes, 5), pl_tile_full(PL_U8, 1 + pl_core_index(), 8));
    if (pl_core_index() == 0)
        pl_assert(pl_tile_int(pl_load(pl_at(bytes, pl_parameter(row))), 3) == 77);
}

PROGRAM(beside_exempt_race, "a wrong value beside an exempt race")
{
    pl_choose("row", 6, 6);
    PlRef words = pl_input_in(PL_VMEM, PL_I32, 3, 8);
    pl_launch(beside_a_race, .args = { words, pl_smem(PL_I32) });
    pl_exempt(words, PL_RACE, "the last one counts");
    pl_expect_fault(PL_ASSERT);
}
