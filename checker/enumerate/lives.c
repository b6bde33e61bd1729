/* lives.c - lives interned by declaration and unit, evaluated in a state. */
#include "lives.h"

struct Lives { Intern keys; Store all; };

Lives *lives_new(Reservation *reservation)
{
    Lives *lives = g_new0(Lives, 1);
    reservation_intern(reservation, &lives->keys, 1u << 24, (size_t)1 << 28);
    reservation_store(reservation, &lives->all, sizeof(Span), 1u << 24);
    return lives;
}

const Span *lives_get(const StateSpace *space, uint32_t life)
{
    return &STORE(Span, &space->lives->all, life);
}

static uint32_t add(StateSpace *space, uint32_t decl_id, uint32_t unit)
{
    Lives *lives = space->lives;
    uint32_t key[2] = {decl_id, unit}, id = intern_add(&lives->keys, key, sizeof key);
    if (id < lives->all.count)
        return id;
    const Program *program = space->program;
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

uint32_t lives_of_object(StateSpace *space, uint32_t object)
{
    uint32_t decl = program_object_decl(space->program, object);
    return add(space, decl, object - program_decl(space->program, decl)->first_object);
}

uint32_t lives_of_semaphore(StateSpace *space, uint32_t semaphore)
{
    return add(space, program_semaphore_decl(space->program, semaphore), program_semaphore_core(space->program, semaphore));
}

static bool marked(const StateSpace *space, const uint32_t *id, uint32_t core, uint32_t mark)
{
    return idsets_has(&space->sets, space_past(space, core, id[core])->marks, mark);
}

static int launches_now(const StateSpace *space, const uint32_t *id, const Span *life, uint32_t by)
{
    uint32_t cores = space->program->cores_per_device;
    uint32_t witness = by / cores == life->device ? by : life->device * cores;      /* entries and exits are one event for all cores */
    const Past *past = space_past(space, witness, id[witness]);
    if (life->first > life->last)
        return -1;
    return past->exited > life->last ? 1 : past->entered > life->first ? 0 : -1;
}

bool lives_are_shared(const StateSpace *space, uint32_t decl)
{
    Space memory = (Space)program_decl(space->program, decl)->space;
    return (memory == SPACE_HBM || memory == SPACE_ANY) && space->program->cores_per_device > 1;
}

static bool some_other_opens(const StateSpace *space, uint32_t core, uint32_t decl)
{
    uint32_t cores = space->program->cores_per_device, first = core / cores * cores;
    for (uint32_t other = first; other < first + cores; other++)
        if (other != core && pasts_opens(&space->core[other].pasts, decl))
            return true;
    return false;
}

static bool may_finish_without(const StateSpace *space, const SpaceCore *core, uint32_t decl)
{
    for (uint32_t node = 0; node < core->pasts.all.count; node++)
        if (tree_node(&core->tree, node)->end == TREE_FINISHED
            && !idsets_has(&space->sets, pasts_of(&core->pasts, node)->marks, PAST_OPENED(decl)))
            return true;
    return false;
}

bool lives_hang_on_looks(const StateSpace *space)
{
    for (uint32_t core = 0; core < space->cores; core++) {
        const SpaceCore *self = space_core(space, core);
        for (uint32_t decl = 0; decl < self->pasts.opens.count; decl++)
            if (pasts_opens(&self->pasts, decl) && lives_are_shared(space, decl) && some_other_opens(space, core, decl)
                && may_finish_without(space, self, decl))
                return true;
    }
    return false;
}

/* The scope of a device: open from its first core's opening to the last one's closing, of those that ever open it in some run. */
static int shared_scope_now(const StateSpace *space, const uint32_t *id, const Span *life)
{
    uint32_t first = life->device * space->program->cores_per_device, opened = 0, closed = 0, members = 0;
    for (uint32_t core = first; core < first + space->program->cores_per_device; core++) {
        if (!pasts_opens(&space->core[core].pasts, life->decl))
            continue;
        members++;
        opened += marked(space, id, core, PAST_OPENED(life->decl));
        closed += marked(space, id, core, PAST_CLOSED(life->decl));
    }
    return members && closed == members ? 1 : opened ? 0 : -1;
}

static int scope_now(const StateSpace *space, const uint32_t *id, const Span *life, uint32_t by)
{
    bool shared = life->core == NONE;
    int now;
    if (shared)
        now = shared_scope_now(space, id, life);
    else
        now = marked(space, id, life->core, PAST_CLOSED(life->decl)) ? 1 : marked(space, id, life->core, PAST_OPENED(life->decl)) ? 0 : -1;
    bool own = shared ? by / space->program->cores_per_device == life->device : by == life->core;
    if (now >= 0 || own || space->program->knobs.scopes != SCOPES_STATIC)
        return now;
    uint32_t launch = program_decl(space->program, life->decl)->launch, host = life->device * space->program->cores_per_device;
    const Past *past = space_past(space, host, id[host]);
    return past->exited > launch ? 1 : past->entered > launch ? 0 : -1;         /* never opened: the exit is its only end */
}

bool lives_never_opened(const StateSpace *space, const uint32_t *id, uint32_t life_id)
{
    const Span *life = lives_get(space, life_id);
    return space->program->knobs.scopes == SCOPES_STATIC && life->kind == LIFE_SCOPE && life->core != NONE
        && !marked(space, id, life->core, PAST_OPENED(life->decl));
}

int lives_now(const StateSpace *space, const uint32_t *id, uint32_t life_id, uint32_t by)
{
    const Span *life = lives_get(space, life_id);
    switch ((Life)life->kind) {
    case LIFE_ALWAYS:
        return 0;
    case LIFE_LAUNCHES:
        return launches_now(space, id, life, by);
    case LIFE_SCOPE:
        return scope_now(space, id, life, by);
    }
    g_assert_not_reached();
}

bool lives_depend_on_own_core(const StateSpace *space, uint32_t life_id, uint32_t by)
{
    const Span *life = lives_get(space, life_id);
    if (life->kind == LIFE_ALWAYS)
        return true;
    return life->kind == LIFE_LAUNCHES ? by / space->program->cores_per_device == life->device : life->core == by;
}

bool lives_end_at(const StateSpace *space, uint32_t life_id, uint32_t device, uint32_t launch)
{
    const Span *life = lives_get(space, life_id);
    if (life->device != device)
        return false;
    return life->kind == LIFE_LAUNCHES ? life->first <= life->last && life->last == launch
                                       : life->kind == LIFE_SCOPE && program_decl(space->program, life->decl)->launch == launch;
}
