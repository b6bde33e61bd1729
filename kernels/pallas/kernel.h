/* kernel.h - kernels, and the plan that launches them.
 *
 *     KERNEL(copy, input, output, sem) { ... }
 *     PROGRAM(copy, "one local copy")
 *     {
 *         PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
 *         pl_launch(copy, .args = { input, output, pl_dma_semaphore() });
 *         pl_expect_equal(output, input);
 *     }
 *
 * PROGRAM runs once for each size and set of parameters, before any kernel. Programs register themselves through a linker section.
 */
#pragma once
#include "plumbing.h"

/* KERNEL(name, ref, ...): up to 64 refs, which are PlRef parameters of the body. */
#define KERNEL(...) PL_PASTE(PL_KERNEL_, PL_ONE_OR_MORE(__VA_ARGS__))(__VA_ARGS__)

#define PROGRAM(name, summary) \
    static void pl_build_##name(void); \
    static const PlProgram pl_program_##name = \
        { #name, summary, { __FILE__, "pl_build_" #name, __LINE__, __COUNTER__ }, pl_build_##name }; \
    static const PlProgram *const pl_entry_##name __attribute__((section("heddle_programs"), used)) = &pl_program_##name; \
    static void pl_build_##name(void)

/* An integer of the program that `-D name=value` sets. In a kernel: pl_parameter(name). */
#define PARAMETER(name, value, least, greatest) (pl_api->parameter(PL_HERE, #name, value, least, greatest))
#define pl_parameter(name) (pl_api->parameter_value(PL_HERE, #name))
/* An integer of which every value is checked, in all combinations with others (-D name=value picks one); pl_require rules some out. */
#define pl_choose(name, least, greatest) (pl_api->choose(PL_HERE, name, least, greatest))
#define pl_require(condition, why) PL_NEEDS(condition, why)
/* A size that does not meet the condition is "not applicable", not a failure. */
#define PL_NEEDS(condition, why) ((condition) ? (void)0 : pl_api->needs(PL_HERE, why))

/* pl_launch(kernel, .grid = { n }, .args = { ref, ... }, .collective_id = 0, .dimension_semantics = { PL_PARALLEL },
 *           .skip_device_barrier = true, .one_core = true, .name = "..."): all devices call the kernel, and all cores of each, or one. */
#define pl_launch(kernel, ...) \
    (pl_api->launch(PL_HERE, NULL, &pl_kernel_##kernel, &(const PlLaunch){ __VA_ARGS__ }, #__VA_ARGS__))
/* The same on some devices: pl_devices(0, 2), pl_device_range(first, count, step), pl_device_list(count, array). */
#define pl_launch_on(devices, kernel, ...) \
    (pl_api->launch(PL_HERE, &(const PlDevices[]){ devices }[0], &pl_kernel_##kernel, &(const PlLaunch){ __VA_ARGS__ }, #__VA_ARGS__))
#define pl_devices(...) pl_device_list((int)(sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)), ((const int[]){ __VA_ARGS__ }))
/* Plain computation between launches, on each device, by a KERNEL that may access every memory directly. */
#define pl_host(kernel, ...) \
    (pl_api->host(PL_HERE, &pl_kernel_##kernel, PL_REFS(__VA_ARGS__)))

static inline PlDevices pl_device_list(int64_t count, const int *list)
{
    return (PlDevices){ 0, count, 1, list };
}

static inline PlDevices pl_device_range(int64_t first, int64_t count, int64_t step)
{
    return (PlDevices){ first, count, step, NULL };
}
