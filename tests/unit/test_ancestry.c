/* test_ancestry.c - an unwritten value is traced back over loads, stores and copies to the element that was never written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/explain/ancestry.h"
#include "../support/script.h"

/* Runs a schedule to its end; the ancestry of the first raised fault. NULL: none. g_free. */
static char *way_of(Script *script)
{
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    execution_begin(script->execution, &(ExecutionOptions){ 0 });
    for (execution_enabled(script->execution, moves); moves->len > 0; execution_enabled(script->execution, moves))
        execution_do(script->execution, g_array_index(moves, Move, 0));
    execution_end(script->execution);
    assert_int_equal(script->record->raised.count, 1);
    const Raised *raised = &STORE(Raised, &script->record->raised, 0);
    assert_int_equal(raised->fault, FAULT_UNINITIALISED);
    Finding *finding = finding_new(FAULT_UNINITIALISED);
    finding->places = 1;
    finding->place[0] = (Place){ .core = raised->core, .position = raised->position, .copy = NONE, .site = raised->site };
    char *way = ancestry_of_unwritten(script->execution, finding);
    finding_free(finding);
    return way;
}

SCRIPT_BODY(takes_what_was_stored)
{
    Tile tile;
    core_load(core, script_line(core, 1), script_ref(script_now->scratch), NULL, &tile);
    core_store(core, script_line(core, 2), script_ref(script_now->buffer), NULL, &tile);
    core_load(core, script_line(core, 3), script_ref(script_now->buffer), NULL, &tile);
    core_tile_int(core, script_line(core, 4), &tile, 0, "value");
}

static void a_store_is_followed_to_the_load_before_it(void **state)
{
    (void)state;
    Script *script = script_of(1, 1, takes_what_was_stored);
    script_prove(script);
    g_autofree char *way = way_of(script);
    assert_string_equal(way, "Where it comes from: device 0 read it from buffer on device 0, loaded at test:3; device 0 at test:2 wrote "
                             "buffer on device 0 from scratch on device 0, loaded at test:1; nothing had written there.");
    script_free(script);
}

SCRIPT_BODY(takes_what_was_copied)
{
    Tile tile;
    CopyDesc copy = { .source = script_ref(script_now->scratch), .target = script_ref(script_now->buffer), .send = { NONE, NONE, NONE },
                      .receive = script_ref(script_now->dma), .to = SCRIPT_OWN, .core = NONE };
    core_copy_start(core, script_line(core, 1), &copy);
    core_copy_wait(core, script_line(core, 2), &copy, COPY_WAIT_RECEIVE, false);
    core_load(core, script_line(core, 3), script_ref(script_now->buffer), NULL, &tile);
    core_tile_int(core, script_line(core, 4), &tile, 1, "value");
}

static void a_copy_is_followed_to_its_source(void **state)
{
    (void)state;
    Script *script = script_of(1, 1, takes_what_was_copied);
    script_prove(script);
    g_autofree char *way = way_of(script);
    assert_string_equal(way, "Where it comes from: device 0 read it from buffer on device 0, loaded at test:3; copy 0 of device 0 "
                             "at test:1 wrote buffer on device 0 from scratch on device 0; nothing had written there.");
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_is_followed_to_the_load_before_it),
        cmocka_unit_test(a_copy_is_followed_to_its_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
