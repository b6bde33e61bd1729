/* test_sane_classes.c - canaries of the search over classes: an invariant broken on purpose is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include "../../checker/classes/units.h"
#include "../support/fails.h"
#include "../support/script.h"

/* ---- a search over classes: three cores write the same word twice ---- */

typedef struct OpenSearch {
    Script *script;
    ClassesOptions options;
    Units *units;
    Explorer *explorer;
} OpenSearch;

static int open_search(void **state)
{
    OpenSearch *search = g_new0(OpenSearch, 1);
    search->script = script_new(3, 1, NULL);
    uint32_t word = script_semaphore_id(search->script, script_semaphore(search->script, SEMAPHORE_FLAG, 1, "word"), 0, 0);
    for (uint32_t core = 0; core < 3; core++)
        for (uint32_t i = 1; i <= 2; i++)
            script_step(search->script, core, STEP_FLAG_STORE, word, i, 0);
    search->options.units = 2;
    search->units = units_new(script_source(search->script), &search->options);
    usage_adopt(&search->units->shared.usage);
    search->explorer = units_add(search->units);
    explore_begin(search->explorer);
    assert_false(explore_run(search->explorer, 1));
    *state = search;
    return 0;
}

static int close_search(void **state)
{
    OpenSearch *search = *state;
    units_free(search->units);
    script_free(search->script);
    g_free(search);
    return 0;
}

static void go_on(void *explorer) { explore_run(explorer, 10); }
static void check_explorer(void *explorer) { explore_assert_sane(explorer); }
static void check_world(void *world) { world_assert_sane(world); }
static void check_tree(void *tree) { tree_assert_sane(tree); }
static void check_path(void *path) { path_assert_sane(path); }
static void check_numbers(void *numbers) { numbers_assert_sane(numbers); }
static void check_units(void *units) { units_assert_sane(units); }

static void a_world_that_cannot_be_undone_is_noticed(void **state)
{
    World *world = ((OpenSearch *)*state)->explorer->world;
    assert_true(world->events > 0);
    assert_false(fails(check_world, world));
    world->event[0].before++;
    assert_true(fails(check_world, world));
    world->event[0].before--;
    world->event[0].bumped = false;
    assert_true(fails(check_world, world));
    world->event[0].bumped = true;
}

static void a_past_that_lost_a_step_is_noticed(void **state)
{
    Path *path = &((OpenSearch *)*state)->explorer->path;
    uint32_t last = path->choices - 1;
    assert_true(last > 1);
    assert_false(fails(check_path, path));
    path_past(path, last)[0] ^= 1;
    assert_true(fails(check_path, path));
    path_past(path, last)[0] ^= 1;
}

static void frames_and_sleepers_that_do_not_fit_are_noticed(void **state)
{
    Explorer *explorer = ((OpenSearch *)*state)->explorer;
    assert_false(fails(check_explorer, explorer));
    assert_false(fails(go_on, explorer));
    explorer->frames++;
    assert_true(fails(check_explorer, explorer));
    explorer->frames--;
    assert_true(explorer->sleepers > 0);
    explorer->sleep[explorer->sleepers - 1].object++;
    assert_true(fails(check_explorer, explorer));
    explorer->sleep[explorer->sleepers - 1].object--;
}

static void a_branch_of_another_node_is_noticed(void **state)
{
    Tree *tree = &((OpenSearch *)*state)->units->shared.unrolled;
    uint32_t child = tree_node(tree, 0)->child;
    assert_false(fails(check_tree, tree));
    tree_node(tree, child)->parent++;
    assert_true(fails(check_tree, tree));
    tree_node(tree, child)->parent--;
    tree_node(tree, child)->sibling = child + 1;       /* a store has one outcome */
    assert_true(fails(check_tree, tree));
    tree_node(tree, child)->sibling = NONE;
}

static void a_number_out_of_turn_is_noticed(void **state)
{
    Numbers *numbers = &((OpenSearch *)*state)->units->shared.numbers;
    assert_false(fails(check_numbers, numbers));
    STORE(Numbered, &numbers->nodes, 1).steps += 3;
    assert_true(fails(check_numbers, numbers));
    STORE(Numbered, &numbers->nodes, 1).steps -= 3;
}

typedef struct Branches { WakePool pool; WakeTree tree; } Branches;

static void check_branches(void *branches) { wake_assert_sane(&((Branches *)branches)->pool, &((Branches *)branches)->tree); }

static void a_branch_that_stands_behind_its_own_way_is_noticed(void **state)
{
    (void)state;
    Branches branches = {.tree = {0, 0}};
    wake_append(&branches.pool, &branches.tree, &(Sleeper){1, 0, MANNER_REST}, (WakeTree){0, 0});
    wake_append(&branches.pool, &branches.tree, &(Sleeper){2, 0, MANNER_REST}, (WakeTree){0, 0});
    assert_false(fails(check_branches, &branches));
    wake_get(&branches.pool, branches.tree.last)->step.object = 1;
    assert_true(fails(check_branches, &branches));
    wake_pool_clear(&branches.pool);
}

static void a_run_that_sleeps_at_its_node_is_noticed(void **state)
{
    OpenSearch *search = *state;
    Round round = units_plan_round(search->units);
    round.budget = 2;
    units_run_round(search->units, &round);
    assert_true(search->units->shared.nodes->len > 0);
    assert_false(fails(check_units, search->units));
    Node *node = shared_node(&search->units->shared, 0);
    const Sleeper open = g_array_index(node->open, Sleeper, 0);
    wake_append(&search->units->shared.pool, &node->tree, &open, (WakeTree){0, 0});
    assert_true(fails(check_units, search->units));
}

static void a_unit_that_forgot_a_sleeper_is_noticed(void **state)
{
    OpenSearch *search = *state;
    Round round = units_plan_round(search->units);
    round.budget = 2;
    units_run_round(search->units, &round);
    const Explorer *last = g_ptr_array_index(search->units->live, search->units->live->len - 1);
    assert_true(last->base > 0);
    Node *node = shared_node(&search->units->shared, g_array_index(last->nodes, uint32_t, last->base - 1));
    Sleeper other = g_array_index(node->sleep, Sleeper, 0);
    other.agent = 7, other.object++;            /* it commutes with all, so it should sleep there */
    g_array_insert_val(node->sleep, 0, other);
    assert_true(fails(check_units, search->units));
    g_array_remove_index(node->sleep, 0);
    assert_false(fails(check_units, search->units));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_world_that_cannot_be_undone_is_noticed, open_search, close_search),
        cmocka_unit_test_setup_teardown(a_past_that_lost_a_step_is_noticed, open_search, close_search),
        cmocka_unit_test_setup_teardown(frames_and_sleepers_that_do_not_fit_are_noticed, open_search, close_search),
        cmocka_unit_test_setup_teardown(a_branch_of_another_node_is_noticed, open_search, close_search),
        cmocka_unit_test_setup_teardown(a_number_out_of_turn_is_noticed, open_search, close_search),
        cmocka_unit_test(a_branch_that_stands_behind_its_own_way_is_noticed),
        cmocka_unit_test_setup_teardown(a_unit_that_forgot_a_sleeper_is_noticed, open_search, close_search),
        cmocka_unit_test_setup_teardown(a_run_that_sleeps_at_its_node_is_noticed, open_search, close_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
