/* buffer.h - buffers and semaphores: inputs, outputs, scratch of a launch, scratch of a scope.
 *
 * In PROGRAM, pl_vmem and the like declare scratch for a launch: fresh in each launch. In KERNEL scratch lives from its declaration to the
 * closing brace:
 *
 *     PL_SCOPED PlRef tmp = pl_vmem(PL_F32, 8, 128);
 *
 * Dimensions follow the type; without any it is a single element, or a single semaphore.
 */
#pragma once
#include "plumbing.h"

/* Arrays of the program, in memory space ANY unless another is named. Inputs are filled with small integers that differ between devices. */
#define pl_input(...) pl_input_in(PL_ANY, __VA_ARGS__)
#define pl_output(...) pl_output_in(PL_ANY, __VA_ARGS__)
#define pl_input_in(space, ...) PL_ALLOCATE(space, PL_ROLE_INPUT, __VA_ARGS__)
#define pl_output_in(space, ...) PL_ALLOCATE(space, PL_ROLE_OUTPUT, __VA_ARGS__)

/* Inputs with a domain: each element is any integer from `least` to `greatest`, such as a size. --inputs checks all of them, or many;
 * without it, one is checked. pl_input_among: each device has its own values; pl_table_among: all devices have the same. In SMEM unless
 * another space is named. In PROGRAM, pl_given(ref, device, index, ...) is an element, for pl_require. */
#define pl_input_among(type, least, greatest, ...) pl_input_among_in(PL_SMEM, type, least, greatest, __VA_ARGS__)
#define pl_table_among(type, least, greatest, ...) pl_table_among_in(PL_SMEM, type, least, greatest, __VA_ARGS__)
#define pl_input_among_in(space, type, least, greatest, ...) \
    (pl_api->among(PL_HERE, PL_ALLOCATE_N(space, PL_ROLE_INPUT, type, __VA_ARGS__), least, greatest, false))
#define pl_table_among_in(space, type, least, greatest, ...) \
    (pl_api->among(PL_HERE, PL_ALLOCATE_N(space, PL_ROLE_INPUT, type, __VA_ARGS__), least, greatest, true))

#define pl_vmem(...) PL_ALLOCATE(PL_VMEM, PL_ROLE_SCRATCH, __VA_ARGS__)
#define pl_smem(...) PL_ALLOCATE(PL_SMEM, PL_ROLE_SCRATCH, __VA_ARGS__)
#define pl_hbm(...) PL_ALLOCATE(PL_HBM, PL_ROLE_SCRATCH, __VA_ARGS__)
#define pl_any(...) PL_ALLOCATE(PL_ANY, PL_ROLE_SCRATCH, __VA_ARGS__)

#define pl_regular_semaphore(...) PL_SEMAPHORES(PL_REGULAR, PL_ROLE_SCRATCH, 0, __VA_ARGS__)
#define pl_dma_semaphore(...) PL_SEMAPHORES(PL_DMA, PL_ROLE_SCRATCH, 0, __VA_ARGS__)
/* The barrier semaphore of the launch's collective_id, as an argument. */
#define pl_barrier_semaphore() PL_SEMAPHORES(PL_BARRIER, PL_ROLE_SCRATCH, 0, )
/* Semaphores returned by one launch and taken by later ones: pl_semaphore_output(PL_REGULAR), pl_semaphore_output(PL_DMA, 4). */
#define pl_semaphore_output(...) PL_PASTE(PL_SEMAPHORE_OUTPUT_, PL_ONE_OR_MORE(__VA_ARGS__))(__VA_ARGS__)
/* Words of shared memory, one set for each device, which live as long as the program; see flag.h. */
#define pl_flags(...) PL_SEMAPHORES(PL_FLAG, PL_ROLE_OUTPUT, 0, __VA_ARGS__)
#define pl_flags_from(initial, ...) PL_SEMAPHORES(PL_FLAG, PL_ROLE_OUTPUT, initial, __VA_ARGS__)

/* An input whose values belong to the program: it may steer, and needs no domain. */
#define pl_constant(ref) (pl_api->constant(PL_HERE, ref))
/* What reports call a buffer; else it is called as the first kernel that takes it calls it. */
#define pl_named(ref, name) (pl_api->named(PL_HERE, ref, name))
/* No values are kept for this buffer, only which regions are written. */
#define pl_opaque(ref) (pl_api->opaque(PL_HERE, ref))
/* Fills an input with the author's own function of (device, index). */
#define pl_fill(ref, function) (pl_api->fill(PL_HERE, ref, function))

#define PL_SCOPED __attribute__((cleanup(pl_scope_end_)))
