/* false_alarm_06_updated_in_place.c - one array as input and output, gone over twice. This is right.
 *
 * Cried wolf: a checker saw that a block of the output was visited again after another one, and that the input was written to. But the
 *             two are one array, and each visit starts from what the last one left.
 * Is right:  aliasing is declared by handing the same ref twice; every block is fetched, changed and put back before the next.
 */
#include <heddle/pallas.h>

enum { PASSES = 2, BLOCKS = 3 };

KERNEL(fa06_add_one, input, output, block, sem)
{
    int which = pl_program_id(1);

    PlCopy fetch = pl_async_copy(pl_at(input, which), block, sem);
    pl_copy_wait(fetch);
    pl_store(block, pl_tile_add(pl_load(block), pl_tile_full(PL_F32, 1, 8, 128)));
    PlCopy put_back = pl_async_copy(block, pl_at(output, which), sem);
    pl_copy_wait(put_back);
}

static double two_more(const PlRef *refs, int device, const int64_t *index)
{
    return PASSES + pl_given(refs[0], device, index[0], index[1], index[2]);
}

PROGRAM(false_alarm_06_updated_in_place, "an array that is input and output, gone over twice")
{
    PlRef x = pl_input(PL_F32, BLOCKS, 8, 128);

    pl_launch(fa06_add_one, .grid = {PASSES, BLOCKS}, .args = {x, x, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore()});
    pl_expect_values(x, two_more, 0, x);
}
