/* test_mesh.c - numbering, parsing and distances on named axes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "../../model/mesh.h"

static void the_last_axis_runs_fastest(void **state)
{
    (void)state;
    Mesh mesh;
    assert_true(mesh_parse(&mesh, "x=2,y=3,z=4"));
    assert_int_equal(mesh_devices(&mesh), 24);
    uint32_t id = 0;
    for (uint32_t x = 0; x < 2; x++)
        for (uint32_t y = 0; y < 3; y++)
            for (uint32_t z = 0; z < 4; z++, id++) {
                assert_int_equal(mesh_device(&mesh, (uint32_t[]){x, y, z}), id);
                assert_int_equal(mesh_coordinate(&mesh, id, 0), x);
                assert_int_equal(mesh_coordinate(&mesh, id, 1), y);
                assert_int_equal(mesh_coordinate(&mesh, id, 2), z);
            }
}

static void a_line_has_one_axis_x(void **state)
{
    (void)state;
    Mesh mesh;
    mesh_line(&mesh, 5);
    assert_int_equal(mesh.axes, 1);
    assert_int_equal(mesh_devices(&mesh), 5);
    assert_int_equal(mesh_axis(&mesh, "x"), 0);
    assert_int_equal(mesh_axis(&mesh, "y"), -1);
    assert_int_equal(mesh_coordinate(&mesh, 3, 0), 3);
}

static void well_formed_meshes_are_read(void **state)
{
    (void)state;
    static const struct { const char *text; unsigned axes; uint32_t devices; } CASE[] = {
        {"x=1", 1, 1}, {"x=4,y=2", 2, 8}, {"model_axis2=16", 1, 16}, {"a=1,b=1,c=1,d=1,e=1,f=7", 6, 7}, {"x=1048576", 1, 1048576},
        {"x=1024,y=1024", 2, 1048576}, {"x=007", 1, 7}, {"_=3", 1, 3}, {"abcdefghijklmnopqrstuvwxyz12345=2", 1, 2},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASE); i++) {
        Mesh mesh;
        assert_true(mesh_parse(&mesh, CASE[i].text));
        assert_int_equal(mesh.axes, CASE[i].axes);
        assert_int_equal(mesh_devices(&mesh), CASE[i].devices);
    }
}

static void malformed_meshes_are_refused(void **state)
{
    (void)state;
    static const char *const CASE[] = {
        "", "x", "x=", "=4", "x=0", "x=-1", "x=4,", ",x=4", "x=4,,y=2", "x=4,x=2", "x=4 ,y=2", " x=4", "x=4y", "x=4;y=2", "4=4", "1x=4",
        "x=1048577", "x=1024,y=1025", "x=4294967297", "x=99999999999999999999", "x=1048576,y=1048576,z=1048576,w=1048576",
        "a=1,b=1,c=1,d=1,e=1,f=1,g=1", "abcdefghijklmnopqrstuvwxyz123456=2", "x=0x4", "x=4\n", "x=4,y=2,",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASE); i++) {
        Mesh mesh;
        assert_false(mesh_parse(&mesh, CASE[i]));
    }
}

static void hops_go_the_shorter_way_round_each_axis(void **state)
{
    (void)state;
    Mesh mesh;
    mesh_line(&mesh, 6);
    static const uint32_t FROM_0[] = {0, 1, 2, 3, 2, 1};
    for (uint32_t to = 0; to < 6; to++) {
        assert_int_equal(mesh_hops(&mesh, 0, to), FROM_0[to]);
        assert_int_equal(mesh_hops(&mesh, to, 0), FROM_0[to]);
    }
    assert_true(mesh_parse(&mesh, "x=4,y=3"));
    assert_int_equal(mesh_hops(&mesh, mesh_device(&mesh, (uint32_t[]){0, 0}), mesh_device(&mesh, (uint32_t[]){3, 2})), 2);
    assert_int_equal(mesh_hops(&mesh, mesh_device(&mesh, (uint32_t[]){0, 0}), mesh_device(&mesh, (uint32_t[]){2, 1})), 3);
    mesh_line(&mesh, 1);
    assert_int_equal(mesh_hops(&mesh, 0, 0), 0);
}

static void devices_spread_evenly_over_the_axes(void **state)
{
    (void)state;
    static const struct { const char *like; uint32_t devices, size[3]; } CASE[] = {
        { "x=2,y=2", 1, { 1, 1 } }, { "x=2,y=2", 5, { 5, 1 } }, { "x=2,y=2", 6, { 3, 2 } }, { "x=9,y=1", 16, { 4, 4 } },
        { "x=2,y=2,z=2", 12, { 3, 2, 2 } }, { "x=2,y=2,z=2", 27, { 3, 3, 3 } }, { "only=3", 7, { 7 } },
        { "x=2,y=2", 1 << 20, { 1024, 1024 } },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASE); i++) {
        Mesh like, mesh;
        assert_true(mesh_parse(&like, CASE[i].like));
        mesh_spread(&mesh, &like, CASE[i].devices);
        assert_int_equal(mesh_devices(&mesh), CASE[i].devices);
        for (unsigned axis = 0; axis < like.axes; axis++) {
            assert_string_equal(mesh.name[axis], like.name[axis]);
            assert_int_equal(mesh.size[axis], CASE[i].size[axis]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_axis_runs_fastest),
        cmocka_unit_test(a_line_has_one_axis_x),
        cmocka_unit_test(well_formed_meshes_are_read),
        cmocka_unit_test(malformed_meshes_are_refused),
        cmocka_unit_test(devices_spread_evenly_over_the_axes),
        cmocka_unit_test(hops_go_the_shorter_way_round_each_axis),
    };
    return cmocka_run_group_tests_name("mesh", tests, NULL, NULL);
}
