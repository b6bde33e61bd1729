/* space_setup.c - makes and releases the parts of a space, in order. */
#include "space_setup.h"
#include "component.h"
#include "contents.h"
#include "lives.h"
#include "memory.h"
#include "state_counter.h"
#include "symmetry.h"

static void setup_core(StateSpace *space, uint32_t core)
{
    component_init(space, core);
    Tree *tree = &space->core[core].tree;
    *tree = (Tree){.source = space->source, .contents = space->contents, .rule = POLL_AFTER_LOOK, .tile = contents_tile,
                   .owner = space->pool, .hasty = space->options->canary == ENUMERATE_CANARY_FOLD_EARLY};
    reservation_store(&space->reservation, &tree->nodes, sizeof(TreeNode), space->components_max);
    reservation_store(&space->reservation, &tree->steps, sizeof(UnrollStep), space->components_max);
    pasts_init(&space->core[core].pasts, &space->reservation, space->components_max);
    tree_begin(tree, core);
    state_counter_scan(space, core);
}

void space_setup(StateSpace *space, UnrollSource *source, const EnumerateOptions *options, bool contents)
{
    space_open(space, source, options, contents);
    space->lives = lives_new(&space->reservation);
    if (space->contents) {
        space->pool = contents_new(space->program, &space->reservation);
        space->memory = memory_new(space->program->devices, &space->reservation);
    }
    for (uint32_t core = 0; core < space->cores; core++)
        setup_core(space, core);
    layout_init(&space->layout, space->cores);  /* new components check whether they fit it */
    for (uint32_t core = 0; core < space->cores; core++)
        component_start(space, core);
}

void space_clear(StateSpace *space)
{
    layout_clear(&space->layout);
    symmetry_free(space->symmetry);
    space_close(space);
    g_free(space->lives);
    memory_free(space->memory);
    contents_free(space->pool);
}
