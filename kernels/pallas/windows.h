/* windows.h - arrays seen block by block: Pallas' BlockSpecs, and the pipeline of copies behind them.
 *
 *     static void by_row(const int64_t *step, int64_t *block, const PlRef *refs) { block[0] = step[0]; block[1] = 0; }
 *
 *     pl_launch(scale, .grid = { 4 }, .args = { pl_windows(x, .block = { 8, 128 }, .index = by_row),
 *                                               pl_windows(o, .block = { 8, 128 }, .index = by_row, .output = true) });
 *
 * In the kernel such an argument is a ref of the block's shape, in VMEM, that always holds the block of the current grid step.
 *
 *   .block      the block's size along each dimension of the array, in elements; PL_SQUEEZED: 1, and the window lacks the dimension.
 *               Without it: the whole array. A block may extend beyond the array's end: that part is unwritten, and not written back.
 *   .index      the block that a grid step works on: a function that writes one block index for each dimension of the array, counted in
 *               blocks. step: the program ids, of this step or of one that is fetched ahead. refs: those of the kernel, in their order; it
 *               may load scalars from whole arrays in SMEM (Pallas' scalar prefetch), which are fetched before it is called.
 *   .blocks     the same as a table, pl_blocks(0, 0, 1, 0, ...): the block indices of each grid step in turn. Neither: always block 0.
 *   .stride     elements from one block index to the next along each dimension (pl.Element: 1); 0: the block's size
 *   .output     the kernel writes it. Each block begins unwritten, and is written back when the kernel moves to another block; visiting it
 *               again later is the fault `revisit`.
 *   .revisit    the kernel may visit an output's block again: each block is fetched from the array when its visit begins. Needs one buffer
 *               (pl.Buffered(1, revisit=pl.RevisitMode.ANY)).
 *   .buffers    how many blocks have room (pl.Buffered): 2 unless given; at most 8. With 1 no copy overlaps with the kernel's work.
 *   .space      PL_VMEM or PL_SMEM
 *
 * A TPU copies blocks by asynchronous copies, while the kernel works on others. With --windows pipelined (the default) each block is
 * fetched as soon as it has room, up to buffers - 1 grid steps ahead, and waited for only before its step; each output block is written
 * back after its last step, and waited for only when its room is needed, or at the end of the launch. A kernel cannot wait for these
 * copies: an access to the same array that bypasses its windows (through another argument, an alias, or from another device) races with
 * them. With --windows sequential each copy completes before the kernel continues.
 *
 * Errors: an array that is a semaphore, a block whose dimensions are not the array's, sizes below 1, a table of the wrong length: reported
 * at the line of pl_windows (exit 2). A block that begins outside the array is `out-of-bounds`.
 */
#pragma once
#include "plumbing.h"

#define PL_SQUEEZED (-1)
#define PL_BUFFERS_MAX 8

#define pl_windows(array, ...) (pl_api->windows(PL_HERE, PL_HERE, array, &(const PlWindows){ __VA_ARGS__ }))
#define pl_blocks(...) \
    ((PlBlocks){ (int64_t)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), (const int64_t[]){ __VA_ARGS__ } })
