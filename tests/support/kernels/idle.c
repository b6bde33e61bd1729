/* idle.c - launches that run nowhere, kernels that do nothing, expectations that hold of anything: a verdict says nothing about them. */
#include <heddle/pallas.h>
#include <math.h>

KERNEL(waits, never) { pl_semaphore_wait(never, 1); }
KERNEL(waits_too, never) { pl_semaphore_wait(never, 1); }
KERNEL(copies, input, output, sem) { pl_copy_wait(pl_async_copy(input, output, sem)); }
KERNEL(signals, sem)
{
    pl_semaphore_signal(sem, 1);
    pl_semaphore_wait(sem, 1);
}
KERNEL(idles, sem)
{
    if (pl_num_devices() > 1000)
        pl_semaphore_signal(sem, 1);
}

#define RUNS(name, ...) PROGRAM(name, "launches") { __VA_ARGS__; }
#define SEM .args = {pl_regular_semaphore()}
RUNS(grid_of_zero, pl_launch(waits, .grid = {0}, SEM))
RUNS(grid_of_zero_in_one_dimension, pl_launch(waits, .grid = {4, pl_num_devices() - pl_num_devices()}, SEM))
RUNS(grid_of_devices_but_one, pl_launch(signals, .grid = {pl_num_devices() - 1}, SEM))
RUNS(on_no_device, pl_launch_on(pl_device_range(0, 0, 1), waits, SEM))
RUNS(one_of_two, pl_launch(signals, SEM); pl_launch(waits_too, .grid = {0}, SEM))
RUNS(does_nothing, pl_launch(idles, SEM))
RUNS(does_all, pl_launch(signals, .grid = {1}, SEM))

static double any(const PlRef *ref, int device, const int64_t *index) { (void)ref, (void)device, (void)index; return PL_ANY_VALUE; }
static double zero(const PlRef *ref, int device, const int64_t *index) { (void)ref, (void)device, (void)index; return 0; }
static double half(const PlRef *ref, int device, const int64_t *index) { return index[0] ? pl_given(ref[0], device, index[0]) : PL_ANY_VALUE; }

#define EXPECTS(name, expect) \
    PROGRAM(name, "expectations") \
    { \
        PlRef input = pl_input(PL_F32, 8), output = pl_output(PL_F32, 8); \
        expect; \
        pl_launch(copies, .args = {input, output, pl_dma_semaphore()}); \
    }
EXPECTS(any_value, pl_expect_values(output, any, 0))
EXPECTS(infinite, pl_expect_values(output, zero, INFINITY))
EXPECTS(itself, pl_expect_equal(input, input))
EXPECTS(no_elements, pl_expect_equal(pl_at(output, pl_ds(0, 0)), pl_at(input, pl_ds(0, 0))))
EXPECTS(of_no_launch, pl_expect_equal(pl_output(PL_F32, 8), input))
EXPECTS(some, (pl_expect_values(output, half, 0, input), pl_expect_equal(input, input)))
EXPECTS(right, pl_expect_equal(output, input))
