/* test_edit.c - changes to a program's steps: each kind has its effect on the record at its place, and both searches agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/check/check.h"
#include "../../kernels/pallas/module.h"

enum { N = 3 };

static CheckResult *check_with(const char *program, const Edits *edits, Search search)
{
    static CheckSpec spec;
    spec = (CheckSpec){ .open = pl_module_open, .program = program, .cores = 1, .edits = edits, .search = search };
    mesh_line(&spec.mesh, N);
    return check_run(&spec);
}

static CheckResult *changed(const char *program, const Edit *edit, unsigned count)
{
    return check_with(program, &(Edits){ .edit = edit, .count = count }, SEARCH_AUTO);
}

static const char *semaphore_name(const CheckResult *result, const Step *step)
{
    const Program *program = result->program;
    return program_text(program, program_decl(program, program_semaphore_decl(program, step->object))->name);
}

/* Steps of that kind on that core; of signals and waits only those on that semaphore. */
static unsigned count_steps(const CheckResult *result, uint32_t core, StepKind kind, const char *semaphore)
{
    unsigned count = 0;
    for (size_t i = 0; i < result->record->steps.count; i++) {
        const Step *step = &STORE(Step, &result->record->steps, i);
        count += step->core == core && step->kind == kind && (semaphore == NULL || strcmp(semaphore_name(result, step), semaphore) == 0);
    }
    return count;
}

/* The n-th step of a core from the beginning, or from the end for negative n. */
static const Step *step_of(const CheckResult *result, uint32_t core, int n)
{
    const Step *found = NULL;
    for (size_t i = 0; i < result->record->steps.count; i++) {
        size_t at = n >= 0 ? i : result->record->steps.count - 1 - i;
        const Step *step = &STORE(Step, &result->record->steps, at);
        if (step->core == core && (n >= 0 ? n-- == 0 : ++n == 0))
            return step;
    }
    return found;
}

static void a_step_is_left_out_on_the_cores_and_at_the_occurrences_named(void **state)
{
    (void)state;
    const bool only_one[N] = { false, true, false };
    const Edit edit = { .kind = EDIT_DROP,
                        .where = { .step = STEP_WAIT, .semaphore = "send_sem", .core = only_one, .skip = 1, .times = 1 } };
    CheckResult *whole = changed("all_gather", NULL, 0), *result = changed("all_gather", &edit, 1);
    assert_int_equal(whole->verdict, VERDICT_VERIFIED);
    assert_int_equal(result->verdict, VERDICT_FAULTY);          /* its count is left over */
    for (uint32_t core = 0; core < N; core++) {
        assert_int_equal(count_steps(whole, core, STEP_WAIT, "send_sem"), N - 1);
        assert_int_equal(count_steps(result, core, STEP_WAIT, "send_sem"), core == 1 ? N - 2 : N - 1);
        assert_int_equal(count_steps(result, core, STEP_WAIT, "recv_sems"), N - 1);
    }
    check_result_free(whole);
    check_result_free(result);
}

static void a_copy_that_is_left_out_takes_no_number(void **state)
{
    (void)state;
    const Edit edit = { .kind = EDIT_DROP, .where = { .step = STEP_COPY_START, .semaphore = "recv_sems", .times = 1 } };
    CheckResult *result = changed("all_gather", &edit, 1);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    for (uint32_t core = 0; core < N; core++)
        assert_int_equal(count_steps(result, core, STEP_COPY_START, NULL), 1);          /* then all wait for the first pass */
    check_result_free(result);
}

static void steps_are_put_in_before_and_behind(void **state)
{
    (void)state;
    static const uint32_t right[N] = { 1, 2, 0 };
    const Edit edit[] = {
        { .kind = EDIT_AFTER, .where.step = STEP_ENTER, .step = STEP_SIGNAL, .value = 2, .target = right },
        { .kind = EDIT_BEFORE, .where.step = STEP_EXIT, .step = STEP_WAIT, .value = 2 },
    };
    const EditFresh fresh = { .name = "fresh", .kind = SEMAPHORE_REGULAR, .elements = 1 };
    const Edits edits = { edit, 2, &fresh, 1 };
    for (Search search = SEARCH_PROVE; search <= SEARCH_ENUMERATE; search++) {
        CheckResult *result = check_with("token_ring", &edits, search);
        assert_int_equal(result->verdict, VERDICT_VERIFIED);
        for (uint32_t core = 0; core < N; core++) {
            const Step *signal = step_of(result, core, 1), *wait = step_of(result, core, -2);
            assert_int_equal(signal->kind, STEP_SIGNAL);
            assert_string_equal(semaphore_name(result, signal), "fresh");
            assert_int_equal(program_semaphore_core(result->program, signal->object), right[core]);
            assert_int_equal(wait->kind, STEP_WAIT);
            assert_string_equal(semaphore_name(result, wait), "fresh");
            assert_int_equal(wait->value, 2);
        }
        check_result_free(result);
    }
}

/* The program is right again, by waits that stand elsewhere. */
static void a_copy_is_waited_for_where_it_is_started(void **state)
{
    (void)state;
    Edit edit[] = { { .kind = EDIT_DROP, .where = { .step = STEP_WAIT, .semaphore = "recv_sems" } },
                    { .kind = EDIT_DROP, .where = { .step = STEP_WAIT, .semaphore = "send_sem" } },
                    { .kind = EDIT_WAIT_RECEIVE, .where = { .step = STEP_COPY_START, .semaphore = "recv_sems" } },
                    { .kind = EDIT_WAIT_SEND, .where.step = STEP_COPY_START } };
    for (unsigned count = 2; count <= G_N_ELEMENTS(edit); count++) {
        CheckResult *result = changed("all_gather", edit, count);
        assert_int_equal(result->verdict, count == G_N_ELEMENTS(edit) ? VERDICT_VERIFIED : VERDICT_FAULTY);
        check_result_free(result);
    }
}

static void a_count_is_altered(void **state)
{
    (void)state;
    const Edit twice = { .kind = EDIT_COUNT, .where = { .step = STEP_WAIT, .semaphore = "token" }, .times = 2 };
    CheckResult *result = changed("one_signal_too_many", &twice, 1);
    assert_int_equal(result->verdict, VERDICT_FAULTY);          /* device 0 waits for two, and gets one */
    check_result_free(result);
    const bool others[N] = { false, true, true };
    const Edit all[] = { twice, { .kind = EDIT_COUNT, .where = { .step = STEP_SIGNAL, .core = others }, .times = 1, .value = 1 } };
    result = changed("one_signal_too_many", all, 2);
    assert_int_equal(result->verdict, VERDICT_VERIFIED);
    check_result_free(result);
    const Edit none = { .kind = EDIT_COUNT, .where.step = STEP_SIGNAL, .value = 0 };
    result = changed("token_ring", &none, 1);
    assert_int_equal(count_steps(result, 0, STEP_SIGNAL, NULL), 0);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    check_result_free(result);
}

static void a_semaphore_becomes_one_an_occurrence(void **state)
{
    (void)state;
    const EditFresh fresh = { .name = "recv_sem", .beside = "recv_sem", .kind = SEMAPHORE_DMA, .elements = N - 1 };
    Edit edit[] = { { .kind = EDIT_SEMAPHORE, .where = { .step = STEP_COPY_START, .semaphore = "recv_sem" } },
                    { .kind = EDIT_SEMAPHORE, .where = { .step = STEP_WAIT, .semaphore = "recv_sem" } } };
    const Edits edits = { edit, 2, &fresh, 1 };
    for (unsigned round = 0; round < 2; round++) {
        edit[0].semaphore.element = edit[1].semaphore.element = round ? EDIT_BY_OCCURRENCE : 0;
        for (Search search = SEARCH_PROVE; search <= SEARCH_ENUMERATE; search++) {
            CheckResult *result = check_with("all_gather_shared_semaphore", &edits, search);
            if (result->verdict != (round ? VERDICT_VERIFIED : VERDICT_FAULTY))
                fail_msg("%s by %s: %s", verdict_name(result->verdict), search_name(search), result->error ? result->error : "");
            check_result_free(result);
        }
    }
    edit[0].semaphore.per = edit[1].semaphore.per = N - 1;      /* all from the first element again */
    CheckResult *result = check_with("all_gather_shared_semaphore", &edits, SEARCH_AUTO);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    check_result_free(result);
}

static void an_entry_barrier_comes_and_goes(void **state)
{
    (void)state;
    const Edit without = { .kind = EDIT_ENTRY_BARRIER, .value = 0 }, with = { .kind = EDIT_ENTRY_BARRIER, .value = 1 };
    CheckResult *result = changed("all_gather", &without, 1);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    check_result_free(result);
    result = changed("right_permute_no_barrier", &with, 1);
    assert_int_equal(result->verdict, VERDICT_VERIFIED);
    check_result_free(result);
}

static void a_change_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    const Edit wrong[] = {
        { .kind = EDIT_SEMAPHORE, .where.step = STEP_WAIT, .semaphore.name = "no such semaphore" },
        { .kind = EDIT_SEMAPHORE, .where.step = STEP_WAIT, .semaphore = { .name = "recv_sems", .element = N } },
        { .kind = EDIT_SEMAPHORE, .where.step = STEP_WAIT, .semaphore.fresh = 1 },
        { .kind = EDIT_DROP, .where.step = STEP_LOAD },
        { .kind = EDIT_DROP, .where.step = STEP_ENTER },
        { .kind = EDIT_COUNT, .where.step = STEP_COPY_START },
        { .kind = EDIT_ENTRY_BARRIER, .where.launch = 9 },
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        CheckResult *result = changed("all_gather", &wrong[i], 1);
        assert_int_equal(result->verdict, VERDICT_ERROR);
        check_result_free(result);
    }
    Edit many[CORE_EDITS_MAX + 1];
    for (unsigned i = 0; i < G_N_ELEMENTS(many); i++)
        many[i] = (Edit){ .kind = EDIT_DROP, .where.step = STEP_SIGNAL };
    CheckResult *result = changed("all_gather", many, G_N_ELEMENTS(many));
    assert_int_equal(result->verdict, VERDICT_ERROR);
    check_result_free(result);
}

static void a_semaphore_of_another_kind_is_refused(void **state)
{
    (void)state;
    const Edit edit = { .kind = EDIT_SEMAPHORE, .where = { .step = STEP_WAIT, .semaphore = "recv_sems" } };
    const EditFresh fresh = { .name = "fresh", .kind = SEMAPHORE_REGULAR, .elements = 1 };
    CheckResult *result = check_with("all_gather", &(Edits){ &edit, 1, &fresh, 1 }, SEARCH_AUTO);
    assert_int_equal(result->verdict, VERDICT_ERROR);
    assert_non_null(strstr(result->error, "of another kind"));
    check_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_left_out_on_the_cores_and_at_the_occurrences_named),
        cmocka_unit_test(a_copy_that_is_left_out_takes_no_number),
        cmocka_unit_test(steps_are_put_in_before_and_behind),
        cmocka_unit_test(a_copy_is_waited_for_where_it_is_started),
        cmocka_unit_test(a_count_is_altered),
        cmocka_unit_test(a_semaphore_becomes_one_an_occurrence),
        cmocka_unit_test(an_entry_barrier_comes_and_goes),
        cmocka_unit_test(a_change_that_does_not_fit_is_an_error),
        cmocka_unit_test(a_semaphore_of_another_kind_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
