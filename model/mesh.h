/* mesh.h - devices on named axes, ids row-major (the last axis runs fastest), as jax.sharding.Mesh has them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define MESH_AXES_MAX 6

typedef struct Mesh {
    unsigned axes;
    char name[MESH_AXES_MAX][32];
    uint32_t size[MESH_AXES_MAX];
} Mesh;

void mesh_line(Mesh *mesh, uint32_t devices);                   /* one axis, "x" */
bool mesh_parse(Mesh *mesh, const char *text);                  /* "x=4,y=2"; false when malformed or above 2^20 devices */
/* The axes of `like`, with sizes as near to each other as so many devices allow, larger ones first: 6 is x=3,y=2; 5 is x=5,y=1. */
void mesh_spread(Mesh *mesh, const Mesh *like, uint32_t devices);
uint32_t mesh_devices(const Mesh *mesh);
int mesh_axis(const Mesh *mesh, const char *name);              /* -1: none of that name */
uint32_t mesh_coordinate(const Mesh *mesh, uint32_t device, unsigned axis);
uint32_t mesh_device(const Mesh *mesh, const uint32_t *coordinate);
uint32_t mesh_hops(const Mesh *mesh, uint32_t a, uint32_t b);   /* on the torus: the sum over axes of the shorter distance */
