/* symmetry.c - the group of rotations: inferred from the start of the cores, applied to states. automorphism.c compares images. */
#include "symmetry.h"
#include <string.h>
#include "../../model/sane.h"
#include "automorphism.h"

struct Symmetry {
    uint32_t order, cores;
    uint32_t *element;                          /* by rotation, `cores` each: the core whose id moves there */
    uint32_t *next_core;
    unsigned block, bits;                       /* one word, one circle of devices: bits of a device in a key, and of a key; 0: otherwise */
    unsigned generators;
    Automorphism *generator[MESH_AXES_MAX];     /* the generators of the group */
    char *why;
};

/* The image of a device under a shift along an axis. axis: mesh->axes for all devices in the order of ids. */
static uint32_t shift(const Mesh *mesh, uint32_t device, unsigned axis, uint32_t by)
{
    if (axis == mesh->axes)
        return (device + by) % mesh_devices(mesh);
    uint32_t at[MESH_AXES_MAX];
    for (unsigned a = 0; a < mesh->axes; a++)
        at[a] = mesh_coordinate(mesh, device, a);
    at[axis] = (at[axis] + by) % mesh->size[axis];
    return mesh_device(mesh, at);
}

static uint32_t *shift_cores(const Program *program, unsigned axis, uint32_t by)
{
    uint32_t *image = g_new(uint32_t, program->cores), cores = program->cores_per_device;
    for (uint32_t core = 0; core < program->cores; core++)
        image[core] = shift(&program->mesh, core / cores, axis, by) * cores + core % cores;
    return image;
}

/* The smallest shift along the axis that the start of every core allows; NULL: none. */
static Automorphism *find_automorphism(StateSpace *space, unsigned axis, uint32_t size, uint32_t *turns, char **why)
{
    for (uint32_t by = 1; by < size; by++) {
        if (size % by != 0)
            continue;
        g_autofree char *differs = NULL;
        Automorphism *automorphism = automorphism_new(space, shift_cores(space->program, axis, by));
        if (automorphism_check(automorphism, space, &differs)) {
            *turns = size / by;
            return automorphism;
        }
        automorphism_free(automorphism);
        if (*why == NULL)
            *why = g_steal_pointer(&differs);
    }
    return NULL;
}

/* Extends the group by all products with powers of the automorphism. */
static void multiply(Symmetry *symmetry, Automorphism *automorphism, uint32_t turns)
{
    const uint32_t *image = automorphism_image(automorphism);
    uint32_t cores = symmetry->cores, before = symmetry->order;
    symmetry->order *= turns;
    symmetry->element = g_renew(uint32_t, symmetry->element, (size_t)symmetry->order * cores);
    for (uint32_t at = before; at < symmetry->order; at++)
        for (uint32_t core = 0; core < cores; core++)
            symmetry->element[(size_t)at * cores + core] = image[symmetry->element[(size_t)(at - before) * cores + core]];
    symmetry->generator[symmetry->generators++] = automorphism;
}

static Symmetry *start_of_group(uint32_t cores)
{
    Symmetry *symmetry = g_new0(Symmetry, 1);
    symmetry->order = 1, symmetry->cores = cores;
    symmetry->element = g_new(uint32_t, cores);
    for (uint32_t core = 0; core < cores; core++)
        symmetry->element[core] = core;
    return symmetry;
}

static Symmetry *find_along_axes(StateSpace *space, unsigned first, unsigned last, char **why)
{
    const Mesh *mesh = &space->program->mesh;
    Symmetry *symmetry = start_of_group(space->cores);
    for (unsigned axis = first; axis <= last; axis++) {
        uint32_t turns = 0;
        uint32_t size = axis == mesh->axes ? mesh_devices(mesh) : mesh->size[axis];
        Automorphism *automorphism = find_automorphism(space, axis, size, &turns, why);
        if (automorphism != NULL)
            multiply(symmetry, automorphism, turns);
    }
    return symmetry;
}

/* The orbit of a core under the rotations, in order. */
static void close_circles(Symmetry *symmetry)
{
    symmetry->next_core = g_new(uint32_t, symmetry->cores);
    for (uint32_t core = 0; core < symmetry->cores; core++) {
        uint32_t above = NONE, least = core;
        for (uint32_t at = 0; at < symmetry->order; at++) {
            uint32_t image = symmetry->element[(size_t)at * symmetry->cores + core];
            least = MIN(least, image);
            if (image > core && (above == NONE || image < above))
                above = image;
        }
        symmetry->next_core[core] = above != NONE ? above : least;
    }
}

Symmetry *symmetry_find(StateSpace *space, char **why)
{
    const Mesh *mesh = &space->program->mesh;
    Symmetry *symmetry = find_along_axes(space, 0, mesh->axes - 1, why);
    if (mesh->axes > 1) {
        Symmetry *line = find_along_axes(space, mesh->axes, mesh->axes, why);
        Symmetry *smaller = line->order > symmetry->order ? symmetry : line;
        symmetry = smaller == line ? symmetry : line;
        symmetry_free(smaller);
    }
    if (symmetry->order == 1 && space->program->devices > 1) {
        symmetry_free(symmetry);
        return NULL;
    }
    g_clear_pointer(why, g_free);
    close_circles(symmetry);
    SANE(symmetry_assert_sane(symmetry));
    return symmetry;
}

/* Is the composition of two rotations in the group? */
static bool has_product(const Symmetry *symmetry, const uint32_t *one, const uint32_t *other)
{
    const uint32_t *element = symmetry->element;
    bool found = false;
    for (uint32_t at = 0; at < symmetry->order && !found; at++, element += symmetry->cores) {
        uint32_t core = 0;
        while (core < symmetry->cores && element[core] == one[other[core]])
            core++;
        found = core == symmetry->cores;
    }
    return found;
}

void symmetry_assert_sane(const Symmetry *symmetry)
{
    for (uint32_t core = 0; core < symmetry->cores; core++)
        g_assert(symmetry->element[core] == core);
    for (uint32_t one = 0; one < symmetry->order; one++)
        for (uint32_t other = 0; other < symmetry->order; other++)
            g_assert(has_product(symmetry, symmetry->element + (size_t)one * symmetry->cores,
                                 symmetry->element + (size_t)other * symmetry->cores));
}

void symmetry_free(Symmetry *symmetry)
{
    if (symmetry == NULL)
        return;
    for (unsigned i = 0; i < symmetry->generators; i++)
        automorphism_free(symmetry->generator[i]);
    g_free(symmetry->element);
    g_free(symmetry->next_core);
    g_free(symmetry->why);
    g_free(symmetry);
}

uint32_t symmetry_order(const Symmetry *symmetry)
{
    return symmetry->order;
}

uint32_t symmetry_next_core(const Symmetry *symmetry, uint32_t core)
{
    return symmetry->next_core[core];
}

const char *symmetry_why(const Symmetry *symmetry)
{
    return symmetry == NULL ? NULL : symmetry->why;
}

bool symmetry_check(Symmetry *symmetry, StateSpace *space)
{
    for (unsigned i = 0; i < symmetry->generators && symmetry->why == NULL; i++)
        automorphism_check(symmetry->generator[i], space, &symmetry->why);
    return symmetry->why == NULL;
}

void symmetry_rotate(const Symmetry *symmetry, uint32_t rotation, const uint32_t *id, uint32_t *rotated)
{
    const uint32_t *element = symmetry->element + (size_t)rotation * symmetry->cores;
    for (uint32_t core = 0; core < symmetry->cores; core++)
        rotated[core] = id[element[core]];
}

/* Is each rotation a shift in the order of device ids? */
static bool is_ring(const Symmetry *symmetry, uint32_t cores_per_device)
{
    for (uint32_t at = 0; at < symmetry->order; at++)
        for (uint32_t core = 0; core < symmetry->cores; core++)
            if (symmetry->element[(size_t)at * symmetry->cores + core] != (core + at * cores_per_device) % symmetry->cores)
                return false;
    return symmetry->order > 1;
}

void symmetry_fit(Symmetry *symmetry, const Layout *layout)
{
    uint32_t device = symmetry->cores / symmetry->order;        /* cores of one, if this is a ring */
    symmetry->block = 0, symmetry->bits = layout->bits;
    if (layout->words > 1 || symmetry->order * device != symmetry->cores || !is_ring(symmetry, device))
        return;
    for (uint32_t core = device; core < symmetry->cores; core++)
        if (layout->field[core].bits != layout->field[core - device].bits)
            return;
    symmetry->block = layout->bits / symmetry->order;
}

static uint64_t turn_key(const Symmetry *symmetry, uint64_t key, unsigned by)
{
    return (key >> by | key << (symmetry->bits - by)) & ((1ull << (symmetry->bits - 1) << 1) - 1);
}

/* States are compared as the numbers that keys of one word are: the last core's id weighs most. */
static bool is_less(const uint32_t *id, const uint32_t *element, const uint32_t *than, uint32_t cores)
{
    uint32_t core = cores;
    while (core > 0 && id[element[core - 1]] == id[than[core - 1]])
        core--;
    return core > 0 && id[element[core - 1]] < id[than[core - 1]];
}

void symmetry_canonical(const Symmetry *symmetry, const Layout *layout, uint64_t *key)
{
    if (symmetry->block > 0) {
        uint64_t least = *key;
        for (unsigned by = symmetry->block; by < symmetry->bits; by += symmetry->block)
            least = MIN(least, turn_key(symmetry, *key, by));
        *key = least;
        return;
    }
    const uint32_t cores = symmetry->cores, *best = symmetry->element, *element = best;
    uint32_t id[cores], rotated[cores];
    layout_unpack(layout, key, id);
    for (uint32_t at = 1; at < symmetry->order; at++) {
        element += cores;
        if (is_less(id, element, best, cores))
            best = element;
    }
    if (best == symmetry->element)
        return;
    for (uint32_t core = 0; core < cores; core++)
        rotated[core] = id[best[core]];
    layout_pack(layout, rotated, key);
}

uint32_t symmetry_orbit(const Symmetry *symmetry, const uint32_t *id)
{
    uint32_t same = 0;
    const uint32_t *element = symmetry->element;
    for (uint32_t at = 0; at < symmetry->order; at++, element += symmetry->cores) {
        uint32_t core = 0;
        while (core < symmetry->cores && id[element[core]] == id[core])
            core++;
        same += core == symmetry->cores;
    }
    return symmetry->order / same;
}
