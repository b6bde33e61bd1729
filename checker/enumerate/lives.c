/* lives.c - lives interned by declaration and unit, asked about in a state. */
#include "lives.h"

struct Lives { Intern keys; Store all; };

Lives *lives_new(Reservation *reservation)
{
    Lives *lives = g_new0(Lives, 1);
    reservation_intern(reservation, &lives->keys, 1u << 24, (size_t)1 << 28);
    reservation_store(reservation, &lives->all, sizeof(Span), 1u << 24);
    return lives;
}

const Span *lives_get(const Walk *walk, uint32_t life)
{
    return &STORE(Span, &walk->lives->all, life);
}

static uint32_t add(Walk *walk, uint32_t decl_id, uint32_t unit)
{
    Lives *lives = walk->lives;
    uint32_t key[2] = {decl_id, unit}, id = intern_add(&lives->keys, key, sizeof key);
    if (id < lives->all.count)
        return id;
    const Program *program = walk->program;
    const Decl *decl = program_decl(program, decl_id);
    bool shared = decl->space == SPACE_HBM || decl->space == SPACE_ANY;
    Span life = {.decl = decl_id, .unit = unit, .kind = program->bare ? LIFE_ALWAYS : decl->life, .first = 1};
    life.device = shared ? unit : unit / program->cores_per_device;
    life.core = shared ? NONE : unit;
    if (life.kind == LIFE_LAUNCHES && !program_decl_launches(program, decl_id, life.device, &life.first, &life.last))
        life.first = 1, life.last = 0;
    *(Span *)store_push(&lives->all, 1) = life;
    return id;
}

uint32_t lives_of_object(Walk *walk, uint32_t object)
{
    uint32_t decl = program_object_decl(walk->program, object);
    return add(walk, decl, object - program_decl(walk->program, decl)->first_object);
}

uint32_t lives_of_semaphore(Walk *walk, uint32_t semaphore)
{
    return add(walk, program_semaphore_decl(walk->program, semaphore), program_semaphore_core(walk->program, semaphore));
}

static bool marked(const Walk *walk, const uint32_t *id, uint32_t core, uint32_t mark)
{
    return idsets_has(&walk->sets, walk_node(walk, core, id[core])->marks, mark);
}

static int launches_now(const Walk *walk, const uint32_t *id, const Span *life, uint32_t by)
{
    uint32_t cores = walk->program->cores_per_device;
    uint32_t witness = by / cores == life->device ? by : life->device * cores;      /* entries and exits are one event for all cores */
    const Node *node = walk_node(walk, witness, id[witness]);
    if (life->first > life->last)
        return -1;
    return node->exited > life->last ? 1 : node->entered > life->first ? 0 : -1;
}

bool lives_are_shared(const Walk *walk, uint32_t decl)
{
    Space space = (Space)program_decl(walk->program, decl)->space;
    return (space == SPACE_HBM || space == SPACE_ANY) && walk->program->cores_per_device > 1;
}

static bool some_other_opens(const Walk *walk, uint32_t core, uint32_t decl)
{
    uint32_t cores = walk->program->cores_per_device, first = core / cores * cores;
    for (uint32_t other = first; other < first + cores; other++)
        if (other != core && tree_opens(&walk->core[other].tree, decl))
            return true;
    return false;
}

static bool may_finish_without(const Walk *walk, const Tree *tree, uint32_t decl)
{
    for (uint32_t node = 0; node < tree->nodes.count; node++)
        if (tree_node(tree, node)->end == NODE_FINISHED
            && !idsets_has(&walk->sets, tree_node(tree, node)->marks, TREE_OPENED(decl)))
            return true;
    return false;
}

bool lives_hang_on_looks(const Walk *walk)
{
    for (uint32_t core = 0; core < walk->cores; core++) {
        const Tree *tree = &walk->core[core].tree;
        for (uint32_t decl = 0; decl < tree->opens.count; decl++)
            if (tree_opens(tree, decl) && lives_are_shared(walk, decl) && some_other_opens(walk, core, decl)
                && may_finish_without(walk, tree, decl))
                return true;
    }
    return false;
}

/* The scope of a device: open from its first core's opening to the last one's closing, of those that ever open it in some run. */
static int shared_scope_now(const Walk *walk, const uint32_t *id, const Span *life)
{
    uint32_t first = life->device * walk->program->cores_per_device, opened = 0, closed = 0, members = 0;
    for (uint32_t core = first; core < first + walk->program->cores_per_device; core++) {
        if (!tree_opens(&walk->core[core].tree, life->decl))
            continue;
        members++;
        opened += marked(walk, id, core, TREE_OPENED(life->decl));
        closed += marked(walk, id, core, TREE_CLOSED(life->decl));
    }
    return members && closed == members ? 1 : opened ? 0 : -1;
}

static int scope_now(const Walk *walk, const uint32_t *id, const Span *life, uint32_t by)
{
    bool shared = life->core == NONE;
    int now;
    if (shared)
        now = shared_scope_now(walk, id, life);
    else
        now = marked(walk, id, life->core, TREE_CLOSED(life->decl)) ? 1 : marked(walk, id, life->core, TREE_OPENED(life->decl)) ? 0 : -1;
    bool own = shared ? by / walk->program->cores_per_device == life->device : by == life->core;
    if (now >= 0 || own || walk->program->knobs.scopes != SCOPES_STATIC)
        return now;
    uint32_t launch = program_decl(walk->program, life->decl)->launch, host = life->device * walk->program->cores_per_device;
    const Node *node = walk_node(walk, host, id[host]);
    return node->exited > launch ? 1 : node->entered > launch ? 0 : -1;         /* never opened: the exit is its only end */
}

bool lives_never_opened(const Walk *walk, const uint32_t *id, uint32_t life_id)
{
    const Span *life = lives_get(walk, life_id);
    return walk->program->knobs.scopes == SCOPES_STATIC && life->kind == LIFE_SCOPE && life->core != NONE
        && !marked(walk, id, life->core, TREE_OPENED(life->decl));
}

int lives_now(const Walk *walk, const uint32_t *id, uint32_t life_id, uint32_t by)
{
    const Span *life = lives_get(walk, life_id);
    switch ((Life)life->kind) {
    case LIFE_ALWAYS:
        return 0;
    case LIFE_LAUNCHES:
        return launches_now(walk, id, life, by);
    case LIFE_SCOPE:
        return scope_now(walk, id, life, by);
    }
    g_assert_not_reached();
}

bool lives_depend_on_own_core(const Walk *walk, uint32_t life_id, uint32_t by)
{
    const Span *life = lives_get(walk, life_id);
    if (life->kind == LIFE_ALWAYS)
        return true;
    return life->kind == LIFE_LAUNCHES ? by / walk->program->cores_per_device == life->device : life->core == by;
}

bool lives_end_at(const Walk *walk, uint32_t life_id, uint32_t device, uint32_t launch)
{
    const Span *life = lives_get(walk, life_id);
    if (life->device != device)
        return false;
    return life->kind == LIFE_LAUNCHES ? life->first <= life->last && life->last == launch
                                       : life->kind == LIFE_SCOPE && program_decl(walk->program, life->decl)->launch == launch;
}
