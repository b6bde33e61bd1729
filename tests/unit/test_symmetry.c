/* test_symmetry.c - one of the states that rotations turn into each other: as many as there must be, the same faults, or a refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include "../../checker/enumerate/enumerate.h"
#include "../support/shapes.h"

static Outcome *walk(Script *script, unsigned modes, unsigned workers)
{
    const EnumerateOptions options = {.modes = modes, .workers = workers};
    return enumerate_run(script_source(script), &options);
}

/* States that a rotation leaves as they are stand for themselves alone, such as the start: so it is some more than one in `order`. */
static void want_rotated(Script *script, uint64_t order)
{
    static const struct { unsigned modes, workers; } WAY[] = {{ENUMERATE_SYMMETRY, 1}, {ENUMERATE_SYMMETRY, 2},
                                                              {ENUMERATE_SYMMETRY | ENUMERATE_SWEEP, 1}};
    Outcome *plain = walk(script, 0, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(WAY); i++) {
        Outcome *outcome = walk(script, WAY[i].modes, WAY[i].workers);
        assert_null(outcome->refused);
        assert_true(outcome->complete);
        assert_int_equal(outcome->rotated, plain->states);
        assert_true(outcome->states > plain->states / order);
        assert_true(outcome->states < plain->states / order + plain->states / 20 + 10);
        assert_int_equal(outcome->end_states->len, plain->end_states->len);
        assert_memory_equal(outcome->end_states->data, plain->end_states->data, plain->end_states->len * sizeof(uint64_t));
        assert_int_equal(outcome->findings->len, plain->findings->len);
        for (guint f = 0; f < plain->findings->len; f++) {
            const Finding *one = g_ptr_array_index(plain->findings, f), *two = g_ptr_array_index(outcome->findings, f);
            assert_int_equal(finding_compare(one, two), 0);
            assert_int_equal(one->count, two->count);
            assert_non_null(two->moves);
            assert_int_equal(one->moves->len, two->moves->len);
        }
        outcome_free(outcome);
    }
    outcome_free(plain);
    script_free(script);
}

static void rings_need_one_state_of_each_rotation(void **state)
{
    (void)state;
    want_rotated(shape_all_gather(2, NULL, false), 2);
    want_rotated(shape_all_gather(4, NULL, false), 4);
    want_rotated(shape_all_gather(5, NULL, false), 5);
    want_rotated(shape_all_reduce(3, true), 3);
    want_rotated(shape_right_permute(4), 4);
}

static void faults_are_found_on_all_devices(void **state)
{
    (void)state;
    want_rotated(shape_all_gather(4, NULL, true), 4);
    want_rotated(shape_two_slots(3, 2, false), 3);
    want_rotated(shape_all_reduce(3, false), 3);
}

/* Every device sends to the next one along each axis, and waits for what comes; after `lonely` steps device 0 signals once more. */
static Script *exchange(uint32_t devices, const char *mesh, bool strangers)
{
    Script *script = script_new(devices, 1, NULL);
    Mesh *axes = &script->program->mesh;
    if (mesh != NULL)
        assert_true(mesh_parse(axes, mesh));
    uint32_t inbox = script_semaphore(script, SEMAPHORE_REGULAR, axes->axes, "inbox");
    for (uint32_t device = 0; device < devices; device++)
        for (unsigned axis = 0; axis < axes->axes; axis++) {
            uint32_t at[MESH_AXES_MAX];
            for (unsigned a = 0; a < axes->axes; a++)
                at[a] = mesh_coordinate(axes, device, a);
            at[axis] = (at[axis] + 1) % axes->size[axis];
            uint32_t inc = strangers && device % 2 ? 2 : 1, other = mesh_device(axes, at);
            script_signal(script, device, script_semaphore_id(script, inbox, other, axis), inc);
            script_wait(script, device, script_semaphore_id(script, inbox, device, axis), strangers && device % 2 == 0 ? 2 : 1);
        }
    return script;
}

static void meshes_rotate_along_each_axis(void **state)
{
    (void)state;
    Script *script = exchange(6, "x=2,y=3", false);
    Outcome *plain = walk(script, 0, 1), *rotated = walk(script, ENUMERATE_SYMMETRY, 1);
    assert_int_equal(rotated->rotated, plain->states);
    assert_true(rotated->states < plain->states / 4);   /* of six; states that some rotation keeps are common here */
    outcome_free(plain);
    outcome_free(rotated);
    script_free(script);
}

static void devices_of_two_kinds_rotate_by_two(void **state)
{
    (void)state;
    want_rotated(exchange(4, NULL, true), 2);
}

static void want_refused(Script *script, const char *why)
{
    Outcome *outcome = walk(script, ENUMERATE_SYMMETRY, 1);
    assert_non_null(outcome->refused);
    assert_non_null(strstr(outcome->refused, "--symmetry is not possible for this program"));
    if (strstr(outcome->refused, why) == NULL)
        fail_msg("%s", outcome->refused);
    outcome_free(outcome);
    script_free(script);
}

static void programs_whose_devices_differ_are_refused_with_the_place(void **state)
{
    (void)state;
    Script *script = shape_all_gather(3, NULL, false);
    script_signal(script, 1, script_semaphore_id(script, 1, 0, 0), 1);
    want_refused(script, "device 1 does not do what device 0 does, shifted: the signal at script:1007 against nothing more");

    want_refused(shape_all_to_all(3), "the signal at script:1001");       /* each goes through the others by their ids */

    script = script_new(2, 1, NULL);            /* two slots that overlap on one device alone */
    uint32_t buffer = script_buffer(script, SPACE_HBM, 2, 4, "buffer"), semaphore = script_semaphore(script, SEMAPHORE_DMA, 1, "copied");
    for (uint32_t device = 0; device < 2; device++) {
        script_access(script, device, STEP_STORE, buffer, 0);
        script_copy(script, device, buffer, 0, buffer, 1, device, NONE, script_semaphore_id(script, semaphore, device, 0), false);
        script_access(script, device, STEP_LOAD, buffer, device);
    }
    want_refused(script, "the load at script:1003 against the load at script:3");

    script = script_new(2, 1, NULL);
    uint32_t flag = script_semaphore(script, SEMAPHORE_FLAG, 1, "flag");
    for (uint32_t device = 0; device < 2; device++)
        script_step(script, device, STEP_FLAG_STORE, script_semaphore_id(script, flag, device, 0), 1, 0);
    want_refused(script, "it has flags");
}

static void a_search_goes_on_where_it_was_cut_short(void **state)
{
    (void)state;
    char *error = NULL, path[] = "/tmp/heddle-test-XXXXXX";
    close(mkstemp(path));
    Script *script = shape_all_gather(5, NULL, true);
    Outcome *whole = walk(script, ENUMERATE_SYMMETRY, 1);
    EnumerateOptions options = {.modes = ENUMERATE_SYMMETRY, .limits.states = 3000, .checkpoint = checkpoint_new(path, "test 1\n", &error)};
    Outcome *cut = enumerate_run(script_source(script), &options);
    assert_false(cut->complete);
    const EnumerateOptions on = {.modes = ENUMERATE_SYMMETRY, .resumed = checkpoint_read(path, "test 1\n", &error)};
    Outcome *rest = enumerate_run(script_source(script), &on);
    assert_true(rest->complete);
    assert_int_equal(rest->states, whole->states);
    assert_int_equal(rest->rotated, whole->rotated);
    assert_int_equal(rest->transitions, whole->transitions);
    assert_int_equal(rest->findings->len, whole->findings->len);
    outcome_free(whole);
    outcome_free(cut);
    outcome_free(rest);
    g_bytes_unref(on.resumed);
    checkpoint_free(options.checkpoint);
    script_free(script);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_need_one_state_of_each_rotation),
        cmocka_unit_test(faults_are_found_on_all_devices),
        cmocka_unit_test(meshes_rotate_along_each_axis),
        cmocka_unit_test(devices_of_two_kinds_rotate_by_two),
        cmocka_unit_test(programs_whose_devices_differ_are_refused_with_the_place),
        cmocka_unit_test(a_search_goes_on_where_it_was_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
