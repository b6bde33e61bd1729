/* shared.c - facts about the program grow with the tree; nodes are an array whose free slots are reused. */
#include "shared.h"

#define STEPS_MAX ((size_t)1 << 28)

static const Tile *find_tile(void *owner, int64_t seen)
{
    const Shared *shared = owner;
    return tiles_get(shared->tiles, seen);
}

static void note_step(Usage *usage, const UnrollStep *step)
{
    usage_note(usage, &step->step, step->step.kind == STEP_COPY_START && step->step.object != NONE ? &step->copy : NULL);
    usage->raises |= step->raised != NULL;
}

static void note_branch(void *owner, uint32_t first)
{
    Shared *shared = owner;
    const Tree *tree = &shared->unrolled;
    numbers_add(&shared->numbers, tree);
    for (uint32_t node = first; node < tree->nodes.count; node++) {
        const TreeNode *at = tree_node(tree, node);
        if (at->end == TREE_GOES_ON)
            note_step(&shared->usage, tree_unrolled(tree, node));
        if (at->same != node)
            usage_note_poll(&shared->usage, tree_node(tree, at->same)->step.site);
    }
}

void shared_init(Shared *shared, UnrollSource *source, const ClassesOptions *options)
{
    *shared = (Shared){ .options = options, .program = source->program, .tiles = tiles_new() };
    if (options->limits.seconds > 0)
        shared->deadline = g_get_monotonic_time() + (gint64)(options->limits.seconds * 1e6);
    shared->nodes = g_array_new(FALSE, FALSE, sizeof(Node));
    g_mutex_init(&shared->lock);
    usage_init(&shared->usage, shared->program);
    numbers_init(&shared->numbers);
    Tree *tree = &shared->unrolled;
    *tree = (Tree){ .source = source, .lock = &shared->lock, .contents = options->contents, .rule = POLL_AT_LOOK, .tile = find_tile,
                    .grown = note_branch, .owner = shared };
    store_init_own(&tree->nodes, sizeof(TreeNode), STEPS_MAX);
    store_init_own(&tree->steps, sizeof(UnrollStep), STEPS_MAX);
    shared->start = g_new0(uint32_t, shared->program->cores);
    for (uint32_t core = 0; core < shared->program->cores; core++)
        shared->start[core] = tree_begin(tree, core);
}

void shared_clear(Shared *shared)
{
    g_array_unref(shared->nodes);
    g_free(shared->start);
    store_clear(&shared->unrolled.nodes);
    store_clear(&shared->unrolled.steps);
    numbers_clear(&shared->numbers);
    usage_clear(&shared->usage);
    g_mutex_clear(&shared->lock);
    tiles_free(shared->tiles);
}

const char *shared_keep_text(Shared *shared, const char *text)
{
    g_mutex_lock(&shared->lock);
    const char *kept = program_text(shared->program, program_string(shared->program, text));
    g_mutex_unlock(&shared->lock);
    return kept;
}

void shared_free_node(Node *node)
{
    g_array_unref(node->sleep);
    g_array_unref(node->open);
    node->sleep = NULL;
}

uint32_t shared_add_node(Shared *shared, const Node *node)
{
    for (guint i = 0; i < shared->nodes->len; i++)
        if (shared_node(shared, i)->sleep == NULL) {
            *shared_node(shared, i) = *node;
            return i;
        }
    g_array_append_vals(shared->nodes, node, 1);
    return shared->nodes->len - 1;
}
