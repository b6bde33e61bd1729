/* state_path_forward.c - searches a schedule from the start to a state, confined to the state's past.
 *
 * Each core stays in the components from which edges lead to its part of the target. A transition within this past is taken greedily; if
 * a single core waits on each semaphore, that is never wrong, since counts only enable and the transitions to take are fixed. Otherwise
 * states from which the target was not reached are recorded, and others tried.
 */
#include "state_path_forward.h"
#include <string.h>
#include "successor.h"
#include "table.h"
#include "transition.h"

enum { TRIED_MAX = 1 << 24 };

typedef struct Forward {
    StateSpace *space;
    uint8_t **past;                             /* by core and component: may the core be there? */
    uint32_t *known;                            /* by core: the number of its components at the start of the search */
    const uint32_t *target;
    Table tried;
    GArray *ids, *moves;                        /* of the path so far: layout.fields numbers a state; Move */
    GArray *cursor;                             /* uint32_t: the number of transitions tried in each state */
    uint32_t visited;                           /* scratch of next_state: transitions seen */
    bool found;
} Forward;

static void mark_past(Forward *forward, uint32_t core)
{
    const SpaceCore *self = &forward->space->core[core];
    uint8_t *past = forward->past[core] = g_malloc0(self->components.count);
    forward->known[core] = (uint32_t)self->components.count;
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_array_append_val(open, forward->target[core]);
    past[forward->target[core]] = 1;
    while (open->len > 0) {
        uint32_t id = g_array_index(open, uint32_t, open->len - 1);
        g_array_set_size(open, open->len - 1);
        for (uint32_t e = STORE(Component, &self->components, id).edges; e;) {
            Edge edge = STORE(Edge, &self->edges, e - 1);
            if (!past[edge.from]) {
                past[edge.from] = 1;
                g_array_append_val(open, edge.from);
            }
            e = edge.older;
        }
    }
}

static bool is_past(const Forward *forward, const uint32_t *id)
{
    for (uint32_t core = 0; core < forward->space->cores; core++)
        if (id[core] >= forward->known[core] || !forward->past[core][id[core]])
            return false;
    return true;
}

/* Was the state not tried before? */
static bool is_fresh(Forward *forward, const uint32_t *id)
{
    const Layout *layout = &forward->space->layout;
    uint64_t key[LAYOUT_WORDS_MAX];
    for (unsigned f = 0; f < layout->fields; f++)
        if (!layout_fits(layout, f, id[f]))
            return false;
    layout_pack(layout, id, key);
    if (forward->tried.count >= forward->tried.grow_at && !table_grow(&forward->tried))
        return false;
    return table_add(&forward->tried, key);
}

static void push(Forward *forward, const uint32_t *id)
{
    uint32_t none = 0;
    g_array_append_vals(forward->ids, id, forward->space->layout.fields);
    g_array_append_val(forward->cursor, none);
}

static bool try_transition(void *data, uint32_t core, uint32_t transition, const uint32_t *after)
{
    Forward *forward = data;
    StateSpace *space = forward->space;
    unsigned fields = space->layout.fields;
    uint32_t *tried = &g_array_index(forward->cursor, uint32_t, forward->cursor->len - 1);
    if (forward->visited++ < *tried)
        return true;
    ++*tried;
    uint32_t from = g_array_index(forward->ids, uint32_t, forward->ids->len - fields + core);
    const Transition *taken = space_transition(space, core, transition);
    if (transition_ends_loop(space, core, taken, from, after[core]) || !is_past(forward, after) || !is_fresh(forward, after))
        return true;
    Move move = transition_move(space, core, from, taken);
    g_array_append_val(forward->moves, move);
    push(forward, after);
    return false;
}

/* One step on from the last state; if there is none, drops that state. */
static void advance(Forward *forward, uint32_t *id)
{
    unsigned fields = forward->space->layout.fields;
    guint before = forward->ids->len;
    memcpy(id, &g_array_index(forward->ids, uint32_t, before - fields), fields * sizeof *id);
    forward->found = memcmp(id, forward->target, fields * sizeof *id) == 0;
    if (forward->found)
        return;
    forward->visited = 0;
    successor_each(forward->space, id, try_transition, forward);
    if (forward->ids->len > before)
        return;
    g_array_set_size(forward->ids, before - fields);
    g_array_set_size(forward->cursor, forward->cursor->len - 1);
    if (forward->moves->len > 0)
        g_array_set_size(forward->moves, forward->moves->len - 1);
}

GArray *state_path_find_forward(StateSpace *space, const uint32_t *target)
{
    Forward forward = {.space = space, .target = target, .past = g_new0(uint8_t *, space->cores),
                       .known = g_new0(uint32_t, space->cores),
                       .ids = g_array_new(FALSE, FALSE, sizeof(uint32_t)), .moves = g_array_new(FALSE, FALSE, sizeof(Move)),
                       .cursor = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    g_autofree uint32_t *id = g_new(uint32_t, space->layout.fields);
    for (uint32_t core = 0; core < space->cores; core++)
        mark_past(&forward, core);
    for (unsigned f = 0; f < space->layout.fields; f++)
        id[f] = 1;
    if (table_init(&forward.tried, (KeyShape){.words = space->layout.words, .bits = space->layout.bits}, 8) && is_fresh(&forward, id))
        push(&forward, id);
    while (forward.ids->len > 0 && !forward.found && forward.tried.count < TRIED_MAX)
        advance(&forward, id);
    for (uint32_t core = 0; core < space->cores; core++)
        g_free(forward.past[core]);
    g_free(forward.past);
    g_free(forward.known);
    table_clear(&forward.tried);
    g_array_free(forward.ids, TRUE);
    g_array_free(forward.cursor, TRUE);
    if (!forward.found) {
        g_array_free(forward.moves, TRUE);
        return NULL;
    }
    return forward.moves;
}
