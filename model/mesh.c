/* mesh.c - row-major numbering of devices on named axes. */
#include "mesh.h"
#include <ctype.h>
#include <glib.h>
#include <string.h>

#define DEVICES_MAX (UINT32_C(1) << 20)

void mesh_line(Mesh *mesh, uint32_t devices)
{
    *mesh = (Mesh){.axes = 1, .name = {"x"}, .size = {devices}};
}

/* The greatest divisor of n whose power of that exponent does not exceed n. */
static uint32_t even_divisor(uint32_t n, unsigned exponent)
{
    for (uint32_t divisor = n;; divisor--) {
        uint64_t power = 1;
        for (unsigned i = 0; i < exponent && power <= n; i++)
            power *= divisor;
        if (power <= n && n % divisor == 0)
            return divisor;
    }
}

void mesh_spread(Mesh *mesh, const Mesh *like, uint32_t devices)
{
    *mesh = *like;
    for (unsigned axis = mesh->axes; axis-- > 0; devices /= mesh->size[axis])
        mesh->size[axis] = even_divisor(devices, axis + 1);
}

/* One "name=size" up to a comma or the end; NULL: malformed. */
static const char *parse_axis(Mesh *mesh, const char *text)
{
    char *name = mesh->name[mesh->axes];
    size_t length = 0;
    for (; isalnum((unsigned char)text[length]) || text[length] == '_'; length++)
        if (length + 1 >= sizeof mesh->name[0])
            return NULL;
    if (length == 0 || isdigit((unsigned char)text[0]) || text[length] != '=')
        return NULL;
    memcpy(name, text, length);
    if (mesh_axis(mesh, name) >= 0)
        return NULL;
    const char *digit = text + length + 1;
    uint32_t size = 0;
    for (; isdigit((unsigned char)*digit); digit++) {
        size = size * 10 + (uint32_t)(*digit - '0');
        if (size > DEVICES_MAX)
            return NULL;
    }
    if (size == 0 || (*digit != ',' && *digit != '\0'))
        return NULL;
    mesh->size[mesh->axes++] = size;
    return digit;
}

bool mesh_parse(Mesh *mesh, const char *text)
{
    *mesh = (Mesh){0};
    uint64_t devices = 1;
    for (;; text++) {
        if (mesh->axes == MESH_AXES_MAX || !(text = parse_axis(mesh, text)))
            return false;
        devices *= mesh->size[mesh->axes - 1];
        if (devices > DEVICES_MAX)
            return false;
        if (*text == '\0')
            return true;
    }
}

uint32_t mesh_devices(const Mesh *mesh)
{
    uint32_t devices = 1;
    for (unsigned axis = 0; axis < mesh->axes; axis++)
        devices *= mesh->size[axis];
    return devices;
}

int mesh_axis(const Mesh *mesh, const char *name)
{
    for (unsigned axis = 0; axis < mesh->axes; axis++)
        if (strcmp(mesh->name[axis], name) == 0)
            return (int)axis;
    return -1;
}

uint32_t mesh_coordinate(const Mesh *mesh, uint32_t device, unsigned axis)
{
    g_assert(axis < mesh->axes);
    for (unsigned faster = mesh->axes - 1; faster > axis; faster--)
        device /= mesh->size[faster];
    return device % mesh->size[axis];
}

uint32_t mesh_device(const Mesh *mesh, const uint32_t *coordinate)
{
    uint32_t device = 0;
    for (unsigned axis = 0; axis < mesh->axes; axis++) {
        g_assert(coordinate[axis] < mesh->size[axis]);
        device = device * mesh->size[axis] + coordinate[axis];
    }
    return device;
}

uint32_t mesh_hops(const Mesh *mesh, uint32_t a, uint32_t b)
{
    uint32_t hops = 0;
    for (unsigned axis = 0; axis < mesh->axes; axis++) {
        uint32_t from = mesh_coordinate(mesh, a, axis), to = mesh_coordinate(mesh, b, axis);
        uint32_t distance = from > to ? from - to : to - from;
        hops += MIN(distance, mesh->size[axis] - distance);
    }
    return hops;
}
