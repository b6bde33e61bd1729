/* test_sane.c - canaries: an invariant that is broken on purpose is noticed, by its module's check and by the next operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include "../../checker/enumerate/component.h"
#include "../../checker/enumerate/findings.h"
#include "../../checker/enumerate/space_setup.h"
#include "../../checker/enumerate/transition.h"
#include "../../model/heap.h"
#include "../../model/machine.h"
#include "../support/fails.h"
#include "../support/shapes.h"

/* ---- the machine ---- */

static void push(void *store) { store_push(store, 1); }
static void check_store(void *store) { store_assert_sane(store); }

static void a_store_that_is_not_zero_beyond_its_items_is_noticed(void **state)
{
    (void)state;
    Store store;
    store_init(&store, sizeof(uint32_t), 100);
    *(uint32_t *)store_push(&store, 3) = 7;
    assert_false(fails(push, &store));
    store.count = 0;
    assert_true(fails(check_store, &store));
    assert_true(fails(push, &store));
    store.count = 3;
    store.reserved_bytes = 8;
    assert_true(fails(check_store, &store));
    store.reserved_bytes = 4096;
    store_clear(&store);
}

static void check_region(void *region) { region_assert_sane(region); }

static void a_region_that_has_another_form_is_noticed(void **state)
{
    (void)state;
    Region box;
    region_box(&box, 8, 4, 2, (int64_t[]){2, 3}, (int64_t[]){100, 8});
    assert_false(fails(check_region, &box));
    Region touching = box, longer = box;
    touching.dim[1].stride = touching.run_bytes;
    longer.hi++;
    assert_true(fails(check_region, &touching));
    assert_true(fails(check_region, &longer));
    size_t bytes;
    g_autofree Region *ragged = region_from_runs((RegionDim[]){{0, 4}, {8, 4}, {20, 4}}, 3, &bytes);
    assert_false(fails(check_region, ragged));
    ragged->dim[1].count = 4;
    assert_true(fails(check_region, ragged));
}

static void check_program(void *program) { program_assert_sane(program); }

static void declare(void *program)
{
    program_add_decl(program, &(DeclSpec){.space = SPACE_HBM, .dtype = DTYPE_U8, .ndim = 1, .size = {4}});
}

typedef struct Addition { Machine *machine; uint32_t semaphore; int64_t inc; } Addition;

static void add(void *counter)
{
    const Addition *to = counter;
    machine_add(to->machine, to->semaphore, to->inc);
}

static void check_machine(void *machine) { machine_assert_sane(machine); }

static void counts_below_nothing_are_noticed(void **state)
{
    (void)state;
    Script *script = script_new(2, 1, NULL);
    uint32_t semaphores = script_semaphore(script, SEMAPHORE_REGULAR, 1, "s"), flags = script_semaphore(script, SEMAPHORE_FLAG, 1, "f");
    Machine *machine = machine_new(script->program);
    uint32_t semaphore = script_semaphore_id(script, semaphores, 1, 0), flag = script_semaphore_id(script, flags, 0, 0);
    machine_add(machine, semaphore, 1);
    assert_false(fails(add, &(Addition){machine, semaphore, -1}));
    assert_true(fails(add, &(Addition){machine, semaphore, -2}));
    assert_false(fails(add, &(Addition){machine, flag, INT32_MIN}));
    assert_true(fails(add, &(Addition){machine, flag, (int64_t)INT32_MIN - 1}));
    machine_free(machine);
    script_free(script);
}

static void contents_of_what_is_opaque_are_noticed(void **state)
{
    (void)state;
    Program *program = script_new(1, 1, NULL)->program;
    declare(program);
    Machine *machine = machine_new(program);
    assert_non_null(machine_contents(machine, 0));
    assert_false(fails(check_machine, machine));
    program_decl(program, 0)->opaque = true;
    assert_true(fails(check_machine, machine));
}

static void a_declaration_whose_objects_are_another_s_is_noticed(void **state)
{
    (void)state;
    Program *program = script_new(2, 1, NULL)->program;
    declare(program);
    assert_false(fails(declare, program));
    program->objects--;
    assert_true(fails(check_program, program));
    assert_true(fails(declare, program));
    program_free(program);
}

static void *allocate(size_t bytes) { return ((void *(*)(size_t))heap_function("malloc"))(bytes); }
static void release(void *block) { ((void (*)(void *))heap_function("free"))(block); }

static void allocate_a_little(void *data)
{
    (void)data;
    allocate(16);
}

/* Under 256 KiB blocks share pages, and what is left of a larger one's last page is nobody's. */
static void free_the_larger_of_two(void *data)
{
    (void)data;
    void *large = allocate((1 << 18) + 1);
    int *small = allocate(sizeof *small);
    *small = 7;
    release(large);
    g_assert(*small == 7);
}

static void blocks_that_the_heap_has_lost_are_noticed(void **state)
{
    (void)state;
    assert_false(fails(free_the_larger_of_two, NULL));
    char *block = allocate(16);
    assert_false(fails(allocate_a_little, NULL));
    block[40] = 1;                              /* beyond its end */
    assert_true(fails(allocate_a_little, NULL));
    block[40] = 0;
    HeapBlock *own = NULL;
    heap_own = &own;
    void *owned = allocate(16);
    assert_false(fails(allocate_a_little, NULL));
    HeapBlock *lost = own;
    own = NULL;
    assert_true(fails(allocate_a_little, NULL));
    own = lost;
    release(owned);
    heap_own = NULL;
    release(block);
}

/* ---- tables and queues of an enumeration ---- */

enum { KEYS = 40, BITS = 6 };

static Table table_of(KeyShape shape)
{
    Table table;
    assert_true(table_init(&table, shape, BITS));
    for (uint64_t key[2] = {1, 0}; key[0] <= KEYS; key[0]++)
        assert_true(table_add(&table, key));
    return table;
}

static void check_table(void *table) { table_assert_sane(table); }
static void grow_table(void *table) { table_grow(table); }

static uint64_t first_used(const Table *table)
{
    uint64_t slot = 0;
    while ((table->compact ? table->line[slot] : table->slot[slot * table->shape.words]) == 0)
        slot++;
    return slot;
}

static void a_table_that_lost_a_key_is_noticed(void **state)
{
    (void)state;
    const KeyShape shapes[] = {{.words = 2, .bits = 64}, {.words = 1, .bits = 64}, {.words = 1, .bits = 20}};
    for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++) {
        Table table = table_of(shapes[i]);
        assert_int_equal(table.compact, shapes[i].bits == 20);
        assert_false(fails(check_table, &table));
        assert_false(fails(grow_table, &table));
        if (table.compact)
            table.line[first_used(&table)] = 0;
        else
            table.slot[first_used(&table) * table.shape.words] = 0;
        assert_true(fails(check_table, &table));
        assert_true(fails(grow_table, &table));
        table_clear(&table);
    }
}

/* A key where no search for it comes by: where the tables of two workers were taken for each other. */
static void a_table_with_a_key_in_a_wrong_place_is_noticed(void **state)
{
    (void)state;
    Table table = table_of((KeyShape){.words = 2, .bits = 64});
    uint64_t from = first_used(&table), to = (from + (1u << BITS) - 1) % (1u << BITS);
    assert_int_equal(table.slot[to * 2], 0);
    table.slot[to * 2] = table.slot[from * 2];
    table.slot[from * 2] = 0;
    assert_true(fails(check_table, &table));
    table_clear(&table);
}

static void grow_queue(void *queue) { queue_grow(queue); }

static void a_queue_that_gave_back_what_is_to_come_is_noticed(void **state)
{
    (void)state;
    Queue queue;
    queue_init(&queue, 1, false);
    assert_false(fails(grow_queue, &queue));
    queue.freed = 512;
    assert_true(fails(grow_queue, &queue));
}

static void check_layout(void *layout) { layout_assert_sane(layout); }

static void a_layout_whose_fields_overlap_is_noticed(void **state)
{
    (void)state;
    Layout layout;
    assert_true(layout_init(&layout, 12));
    assert_false(fails(check_layout, &layout));
    layout.field[7].shift--;
    assert_true(fails(check_layout, &layout));
    layout_clear(&layout);
}

static void add_to_set(void *sets) { idsets_with(sets, idsets_with(sets, 0, 1), 2); }

static void a_set_out_of_order_is_noticed(void **state)
{
    (void)state;
    const uint32_t items[2] = {7, 3};
    Reservation reservation;
    IdSets sets;
    reservation_open(&reservation);
    idsets_init(&sets, &reservation);
    assert_false(fails(add_to_set, &sets));
    intern_add(&sets.keys, items, sizeof items);
    assert_true(fails(add_to_set, &sets));
    reservation_close(&reservation);
}

static void cut_store(void *reservation)
{
    Store store;
    reservation_store(reservation, &store, 1, 1 << 20);
}

static void stores_that_share_memory_are_noticed(void **state)
{
    (void)state;
    Reservation reservation;
    Store store;
    reservation_open(&reservation);
    reservation_store(&reservation, &store, 1, 1 << 20);
    assert_false(fails(cut_store, &reservation));
    store.reserved_bytes *= 2;
    assert_true(fails(cut_store, &reservation));
    reservation_close(&reservation);
}

/* ---- a state space of three devices that pass on what they have ---- */

typedef struct Enumerated {
    Script *script;
    EnumerateOptions options;
    StateSpace space;
    Findings findings;
} Enumerated;

static int open_space(void **state)
{
    Enumerated *three = g_new0(Enumerated, 1);
    three->script = shape_all_gather(3, NULL, true);
    space_setup(&three->space, script_source(three->script), &three->options, false);
    *state = three;
    return 0;
}

static int close_space(void **state)
{
    Enumerated *three = *state;
    space_clear(&three->space);
    script_free(three->script);
    g_free(three);
    return 0;
}

static void check_components(void *space) { components_assert_sane(space); }

/* The first transition of core 0 from the start, which makes a component. */
static void take_transition(void *space)
{
    uint32_t id[3] = {1, 1, 1}, after[3];
    transition_take(space, id, 0, space_component(space, 0, 1)->transitions, after);
}

static void a_count_that_no_step_explains_is_noticed(void **state)
{
    StateSpace *space = &((Enumerated *)*state)->space;
    assert_false(fails(check_components, space));
    assert_false(fails(take_transition, space));
    STORE(int64_t, &space->core[0].taken, space->core[0].columns + 1)++;
    assert_true(fails(check_components, space));
    assert_true(fails(take_transition, space));
}

static void a_row_that_lost_a_transition_is_noticed(void **state)
{
    StateSpace *space = &((Enumerated *)*state)->space;
    take_transition(space);
    assert_false(fails(check_components, space));
    space_component(space, 0, 1)->transition_count--;
    assert_true(fails(check_components, space));
}

static void check_accesses(void *accesses) { accesses_assert_sane(accesses); }

static void rivals_without_a_bit_are_noticed(void **state)
{
    Accesses *accesses = &((Enumerated *)*state)->space.accesses;
    uint32_t store = accesses_add(accesses, 0, 0, 1, true);
    accesses_add(accesses, 1, 0, 1, false);
    assert_false(fails(check_accesses, accesses));
    STORE(Access, &accesses->all, store).bit = NONE;
    assert_true(fails(check_accesses, accesses));
}

static void check_frontier(void *frontier) { frontier_assert_sane(frontier); }

static void a_state_that_is_not_its_worker_s_is_noticed(void **state)
{
    Enumerated *three = *state;
    Frontier frontier = {.workers = 0};
    uint64_t key[LAYOUT_WORDS_MAX];
    three->options.workers = 2;
    frontier_open(&frontier, &three->space);
    layout_pack(&three->space.layout, (const uint32_t[]){1, 1, 1}, key);
    unsigned owner = frontier_owner(&frontier, &three->space.layout, key);
    for (unsigned i = 0; i < 2; i++) {
        Worker *worker = &frontier.worker[i];
        assert_true(table_init(&worker->table, frontier_shape(&frontier, &three->space.layout), BITS));
        worker->table.first_bits = (uint64_t)i << 63;
        queue_init(&worker->queue, three->space.layout.words, false);
        assert_true(queue_grow(&worker->queue) && table_add(&worker->table, key));
    }
    frontier.worker[owner].queue.key[frontier.worker[owner].queue.tail++] = key[0];
    assert_false(fails(check_frontier, &frontier));
    frontier.worker[1 - owner].queue.key[frontier.worker[1 - owner].queue.tail++] = key[0];
    assert_true(fails(check_frontier, &frontier));
    frontier_close(&frontier);
}

typedef struct Found { const StateSpace *space; const Findings *findings; } Found;

static void check_findings(void *data)
{
    const Found *pair = data;
    findings_assert_sane(pair->space, pair->findings);
}

static void a_sighting_that_was_not_counted_is_noticed(void **state)
{
    Enumerated *three = *state;
    const uint32_t start[3] = {1, 1, 1};
    Findings *findings = &three->findings;
    findings_open(findings, &three->space, false);
    findings->state = start;
    findings_add(&three->space, findings, &(Sighting){.id = FAULT_DEADLOCK, .event = {NONE, NONE}, .object = NONE, .transition = NONE});
    assert_false(fails(check_findings, &(Found){&three->space, findings}));
    findings->of_fault[FAULT_DEADLOCK]--;
    assert_true(fails(check_findings, &(Found){&three->space, findings}));
    outcome_free(findings->outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_that_is_not_zero_beyond_its_items_is_noticed),
        cmocka_unit_test(a_region_that_has_another_form_is_noticed),
        cmocka_unit_test(counts_below_nothing_are_noticed),
        cmocka_unit_test(contents_of_what_is_opaque_are_noticed),
        cmocka_unit_test(a_declaration_whose_objects_are_another_s_is_noticed),
        cmocka_unit_test(blocks_that_the_heap_has_lost_are_noticed),
        cmocka_unit_test(a_table_that_lost_a_key_is_noticed),
        cmocka_unit_test(a_table_with_a_key_in_a_wrong_place_is_noticed),
        cmocka_unit_test(a_queue_that_gave_back_what_is_to_come_is_noticed),
        cmocka_unit_test(a_layout_whose_fields_overlap_is_noticed),
        cmocka_unit_test(a_set_out_of_order_is_noticed),
        cmocka_unit_test(stores_that_share_memory_are_noticed),
        cmocka_unit_test_setup_teardown(a_count_that_no_step_explains_is_noticed, open_space, close_space),
        cmocka_unit_test_setup_teardown(a_row_that_lost_a_transition_is_noticed, open_space, close_space),
        cmocka_unit_test_setup_teardown(rivals_without_a_bit_are_noticed, open_space, close_space),
        cmocka_unit_test_setup_teardown(a_state_that_is_not_its_worker_s_is_noticed, open_space, close_space),
        cmocka_unit_test_setup_teardown(a_sighting_that_was_not_counted_is_noticed, open_space, close_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
