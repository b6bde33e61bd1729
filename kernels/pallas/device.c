/* device.c - the caller's device, core, coordinates and grid step. */
#include "device.h"
#include "builder.h"
#include <glib.h>
#include <string.h>

static int num_devices(const PlSite *here)
{
    (void)here;
    return (int)builder_program()->devices;
}

static int num_cores(const PlSite *here)
{
    (void)here;
    return (int)builder_program()->cores_per_device;
}

static int device_id(const PlSite *here)
{
    return (int)builder_core(here, "pl_device_id")->device;
}

static int core_index(const PlSite *here)
{
    if (builder_function == NULL)
        return (int)builder_core(here, "pl_core_index")->index;
    if (builder_function->core == NONE)
        builder_misuse(here, "pl_core_index: these values belong to the whole device, not to one of its cores");
    return (int)builder_function->core;
}

static unsigned find_axis(const PlSite *here, const char *name)
{
    const Mesh *mesh = &builder_program()->mesh;
    int axis = mesh_axis(mesh, name);
    if (axis >= 0)
        return (unsigned)axis;
    char known[MESH_AXES_MAX * 48] = "";
    for (unsigned i = 0; i < mesh->axes; i++)
        g_snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s=%u", i ? "," : "", mesh->name[i], mesh->size[i]);
    builder_misuse(here, "no axis \"%s\" in the mesh %s", name, known);
}

static bool has_axis(const PlSite *here, const char *axis)
{
    (void)here;
    return mesh_axis(&builder_program()->mesh, axis) >= 0;
}

static int axis_size(const PlSite *here, const char *axis)
{
    return (int)builder_program()->mesh.size[find_axis(here, axis)];
}

static int axis_index(const PlSite *here, const char *axis)
{
    const Core *core = builder_core(here, "pl_axis_index");
    return (int)mesh_coordinate(&core->program->mesh, core->device, find_axis(here, axis));
}

static const Launch *grid_of(const PlSite *here, int dimension, const char *what)
{
    const Core *core = builder_core(here, what);
    const Launch *launch = program_launch(core->program, core->launch);
    if (dimension < 0 || dimension >= (int)launch->grid_dims)
        builder_misuse(here, "%s(%d): the launch of %s has a grid of %u dimensions", what, dimension,
                    program_text(core->program, launch->name), launch->grid_dims);
    return launch;
}

static int program_id(const PlSite *here, int dimension)
{
    grid_of(here, dimension, "pl_program_id");
    return (int)core_running->grid[dimension];
}

static int num_programs(const PlSite *here, int dimension)
{
    return (int)grid_of(here, dimension, "pl_num_programs")->grid[dimension];
}

static PlDevice no_such_device(void)
{
    return (PlDevice){ .device = -1, .has_device = true };
}

static PlDevice device_at(const PlSite *here, int axes, const int64_t *coordinate)
{
    const Mesh *mesh = &builder_program()->mesh;
    uint32_t at[MESH_AXES_MAX];
    if (axes != (int)mesh->axes)
        builder_misuse(here, "pl_mesh with %d coordinates: the mesh has %u axes", axes, mesh->axes);
    for (int i = 0; i < axes; i++) {
        if (coordinate[i] < 0 || coordinate[i] >= mesh->size[i])
            return no_such_device();
        at[i] = (uint32_t)coordinate[i];
    }
    return (PlDevice){ .device = mesh_device(mesh, at), .has_device = true };
}

static PlDevice along(const PlSite *here, const char *axis, int64_t index)
{
    const Core *core = builder_core(here, "pl_along");
    const Mesh *mesh = &core->program->mesh;
    unsigned which = find_axis(here, axis);
    int64_t at[MESH_AXES_MAX];
    for (unsigned i = 0; i < mesh->axes; i++)
        at[i] = i == which ? index : (int64_t)mesh_coordinate(mesh, core->device, i);
    return device_at(here, (int)mesh->axes, at);
}

void pl_device_install(PlApi *api)
{
    api->num_devices = num_devices;
    api->num_cores = num_cores;
    api->device_id = device_id;
    api->core_index = core_index;
    api->axis_size = axis_size;
    api->has_axis = has_axis;
    api->axis_index = axis_index;
    api->program_id = program_id;
    api->num_programs = num_programs;
    api->mesh = device_at;
    api->along = along;
}
