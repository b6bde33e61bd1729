/* device.h - the caller's device, core and grid step; how many there are; and names of other devices.
 *
 * Source: jax.lax.axis_index and axis_size, pl.program_id and num_programs, device ids of Pallas TPU's remote copies and signals.
 */
#pragma once
#include "plumbing.h"

#define pl_num_devices() (pl_api->num_devices(PL_HERE))
#define pl_num_cores() (pl_api->num_cores(PL_HERE))                        /* of each device */
#define pl_has_axis(axis) (pl_api->has_axis(PL_HERE, axis))                /* for PL_NEEDS: is the mesh named so? */
#define pl_axis_size(axis) (pl_api->axis_size(PL_HERE, axis))
#define pl_axis_index(axis) (pl_api->axis_index(PL_HERE, axis))            /* the caller's coordinate on the axis */
#define pl_device_id() (pl_api->device_id(PL_HERE))                        /* the caller's, row-major over the mesh */
#define pl_core_index() (pl_api->core_index(PL_HERE))                      /* the caller's; of the output judged, see pl_expect_values */
#define pl_program_id(dimension) (pl_api->program_id(PL_HERE, dimension))
#define pl_num_programs(dimension) (pl_api->num_programs(PL_HERE, dimension))

/* pl_device(id), pl_device(id, core): a device by its id. Without a core: the core with the caller's index. */
#define pl_device(...) PL_PASTE(PL_DEVICE_, PL_NARGS(__VA_ARGS__))(__VA_ARGS__)
/* pl_mesh(x, y, ...): a device by all its coordinates. pl_along("x", i): by the caller's coordinates, but i on this axis. */
#define pl_mesh(...) (pl_api->mesh(PL_HERE, PL_LIST(__VA_ARGS__)))
#define pl_along(axis, index) (pl_api->along(PL_HERE, axis, index))

/* This core of the device: pl_on_core(pl_mesh(0, 1), 1). */
static inline PlDevice pl_on_core(PlDevice device, int64_t core)
{
    device.core = core;
    device.has_core = true;
    return device;
}

/* A core of the caller's own device. */
static inline PlDevice pl_core(int64_t core)
{
    return pl_on_core((PlDevice){ .device = 0 }, core);
}
