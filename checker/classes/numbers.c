/* numbers.c - numbers each node when the tree gains it. */
#include "numbers.h"
#include "../../model/sane.h"
#include <string.h>

#define NODES_MAX ((size_t)1 << 28)
enum { COPIES_MAX = 1 << 24 };

typedef struct Done { uint32_t before; bool observed_data; Step step; Copy copy; } Done;        /* padding is zero */

void numbers_init(Numbers *numbers)
{
    store_init_own(&numbers->nodes, sizeof(Numbered), NODES_MAX);
    intern_init_own(&numbers->copies, COPIES_MAX, COPIES_MAX * 2 * sizeof(uint32_t));
    intern_init_own(&numbers->done, NODES_MAX, NODES_MAX * sizeof(Done));
}

void numbers_clear(Numbers *numbers)
{
    store_clear(&numbers->nodes);
    intern_clear(&numbers->copies);
    intern_clear(&numbers->done);
}

static bool starts_copy(const Step *step)
{
    return step->kind == STEP_COPY_START && step->object != NONE;
}

/* The steps up to the one that comes after `node`, as a record has them. */
static uint32_t steps_after(Numbers *numbers, const Tree *tree, uint32_t node)
{
    const UnrollStep *from = tree_unrolled(tree, node);
    Done done;
    memset(&done, 0, sizeof done);
    done.before = numbers_of(numbers, node)->steps, done.observed_data = from->observed_data, done.step = from->step;
    if (starts_copy(&from->step))
        done.copy = from->copy;
    return intern_add(&numbers->done, &done, sizeof done);
}

static uint32_t copy_at(Numbers *numbers, const Tree *tree, uint32_t node)
{
    const TreeNode *at = tree_node(tree, node);
    if (at->end != TREE_GOES_ON || !starts_copy(&at->step))
        return NONE;
    const uint32_t key[2] = { at->step.core, tree_unrolled(tree, node)->copy.ordinal };
    return intern_add(&numbers->copies, key, sizeof key);
}

void numbers_add(Numbers *numbers, const Tree *tree)
{
    while (numbers->nodes.count < tree->nodes.count) {
        uint32_t node = (uint32_t)numbers->nodes.count, parent = tree_node(tree, node)->parent;
        Numbered *numbered = store_push(&numbers->nodes, 1);
        numbered->steps = parent == NONE ? NONE : steps_after(numbers, tree, parent);
        numbered->copy = copy_at(numbers, tree, node);
    }
    SANE_NOW_AND_THEN(numbers->nodes.count, numbers_assert_sane(numbers));
}

/* A number that was given now, or before. */
static void assert_number_sane(uint32_t number, uint32_t *given)
{
    g_assert(number == NONE || number <= *given);
    *given += number == *given;
}

void numbers_assert_sane(const Numbers *numbers)
{
    uint32_t copies = 0, steps = 0;
    for (uint32_t node = 0; node < numbers->nodes.count; node++) {
        assert_number_sane(numbers_of(numbers, node)->copy, &copies);
        assert_number_sane(numbers_of(numbers, node)->steps, &steps);
    }
    g_assert(copies == numbers_copies(numbers) && steps == intern_count(&numbers->done));
}
