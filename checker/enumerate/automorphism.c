/* automorphism.c - compares steps first, which define the renamings; then nodes and rows of components, which must be equal under them. */
#include "automorphism.h"
#include "state_counter.h"
#include <string.h>
#include "lives.h"

typedef struct Renaming { GArray *to, *from; } Renaming;        /* by id: its image, plus 1, and the inverse */

typedef struct Extent { uint32_t object, region; } Extent;

typedef struct Compared { uint32_t steps, nodes, components, columns; } Compared;

struct Automorphism {
    uint32_t *image;
    uint32_t cores;
    Compared *compared;                         /* by core: how much of it was compared */
    Renaming semaphores, extents;
    GHashTable *extent_ids;                     /* Extent -> id plus 1; looked up only */
    GArray *extent;                             /* by id */
};

typedef struct Pair { Automorphism *automorphism; StateSpace *space; uint32_t core, image; } Pair;      /* a core and its image */

static Renaming renaming_new(void)
{
    return (Renaming){.to = g_array_new(FALSE, TRUE, sizeof(uint32_t)), .from = g_array_new(FALSE, TRUE, sizeof(uint32_t))};
}

static void renaming_free(Renaming *renaming)
{
    g_array_unref(renaming->to);
    g_array_unref(renaming->from);
}

static uint32_t *entry(GArray *of, uint32_t id)
{
    if (id >= of->len)
        g_array_set_size(of, id + 1);
    return &g_array_index(of, uint32_t, id);
}

/* False: one of the two already has another image or preimage. */
static bool rename(Renaming *renaming, uint32_t id, uint32_t image, bool *fresh)
{
    uint32_t *to = entry(renaming->to, id), *from = entry(renaming->from, image);
    *fresh = *to == 0 && *from == 0;
    if (*fresh)
        *to = image + 1, *from = id + 1;
    return *to == image + 1 && *from == id + 1;
}

Automorphism *automorphism_new(const StateSpace *space, uint32_t *image)
{
    Automorphism *automorphism = g_new0(Automorphism, 1);
    automorphism->image = image, automorphism->cores = space->cores;
    automorphism->compared = g_new0(Compared, space->cores);
    for (uint32_t core = 0; core < space->cores; core++)
        automorphism->compared[core].components = 1;    /* ids begin at 1 */
    automorphism->semaphores = renaming_new(), automorphism->extents = renaming_new();
    automorphism->extent_ids = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    automorphism->extent = g_array_new(FALSE, FALSE, sizeof(Extent));
    return automorphism;
}

void automorphism_free(Automorphism *automorphism)
{
    renaming_free(&automorphism->semaphores);
    renaming_free(&automorphism->extents);
    g_hash_table_unref(automorphism->extent_ids);
    g_array_unref(automorphism->extent);
    g_free(automorphism->compared);
    g_free(automorphism->image);
    g_free(automorphism);
}

const uint32_t *automorphism_image(const Automorphism *automorphism)
{
    return automorphism->image;
}

/* ---- renamings ---- */

static uint32_t image_of_device(const Pair *p, uint32_t device)
{
    uint32_t cores = p->space->program->cores_per_device;
    return p->automorphism->image[device * cores] / cores;
}

static bool same_life(const Pair *p, uint32_t life_id, uint32_t image_id)
{
    const Span *life = lives_get(p->space, life_id), *image = lives_get(p->space, image_id);
    return life->decl == image->decl && life->kind == image->kind && life->first == image->first && life->last == image->last
        && image_of_device(p, life->device) == image->device
        && (life->core == NONE ? image->core == NONE : p->automorphism->image[life->core] == image->core);
}

static bool same_semaphore(const Pair *p, uint32_t semaphore, uint32_t image)
{
    if (semaphore == NONE || image == NONE)
        return semaphore == image;
    const Program *program = p->space->program;
    bool fresh;
    if (!rename(&p->automorphism->semaphores, semaphore, image, &fresh))
        return false;
    return !fresh || (program_semaphore_decl(program, semaphore) == program_semaphore_decl(program, image)
                      && p->automorphism->image[program_semaphore_core(program, semaphore)] == program_semaphore_core(program, image)
                      && same_life(p, lives_of_semaphore(p->space, semaphore), lives_of_semaphore(p->space, image)));
}

static uint32_t extent_id(Automorphism *automorphism, Extent extent)
{
    int64_t key = (int64_t)((uint64_t)extent.object << 32 | extent.region);
    uint32_t id = GPOINTER_TO_UINT(g_hash_table_lookup(automorphism->extent_ids, &key));
    if (id == 0) {
        g_array_append_val(automorphism->extent, extent);
        id = automorphism->extent->len;
        g_hash_table_insert(automorphism->extent_ids, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(id));
    }
    return id - 1;
}

static bool overlap(const Program *program, Extent a, Extent b)
{
    return a.object == b.object
        && region_overlaps(program_get_region(program, a.region), program_get_region(program, b.region));
}

/* Do the bytes overlap the known ones exactly as their images do? */
static bool keeps_overlaps(const Pair *p, Extent extent, Extent image)
{
    const Automorphism *automorphism = p->automorphism;
    if (p->space->options->canary == ENUMERATE_CANARY_ANY_OVERLAP)
        return true;
    for (uint32_t id = 0; id < automorphism->extents.to->len; id++) {
        uint32_t to = g_array_index(automorphism->extents.to, uint32_t, id);
        if (to != 0 && overlap(p->space->program, extent, g_array_index(automorphism->extent, Extent, id))
                != overlap(p->space->program, image, g_array_index(automorphism->extent, Extent, to - 1)))
            return false;
    }
    return true;
}

static bool same_bytes(const Pair *p, Extent extent, Extent image)
{
    bool fresh;
    if (p->space->options->canary == ENUMERATE_CANARY_ANY_BYTES)
        return true;
    if (!rename(&p->automorphism->extents, extent_id(p->automorphism, extent), extent_id(p->automorphism, image), &fresh))
        return false;
    return !fresh || (same_life(p, lives_of_object(p->space, extent.object), lives_of_object(p->space, image.object))
                      && keeps_overlaps(p, extent, image));
}

/* ---- steps ---- */

static bool same_devices(const Pair *p, uint32_t launch)
{
    const Program *program = p->space->program;
    for (uint32_t device = 0; device < program->devices; device++)
        if (program_launch_on_device(program, launch, device) != program_launch_on_device(program, launch, image_of_device(p, device)))
            return false;
    return true;
}

static bool same_copy(const Pair *p, const Copy *copy, const Copy *image)
{
    return copy->ordinal == image->ordinal && copy->position == image->position && copy->send_count == image->send_count
        && copy->receive_count == image->receive_count && copy->bytes == image->bytes && copy->remote == image->remote
        && image_of_device(p, copy->target_device) == image->target_device
        && same_semaphore(p, copy->send_semaphore, image->send_semaphore)
        && same_semaphore(p, copy->receive_semaphore, image->receive_semaphore)
        && same_bytes(p, (Extent){copy->source, copy->source_region}, (Extent){image->source, image->source_region})
        && same_bytes(p, (Extent){copy->target, copy->target_region}, (Extent){image->target, image->target_region});
}

static bool same_object(const Pair *p, const UnrollStep *one, const UnrollStep *image)
{
    const Step *step = &one->step, *other = &image->step;
    if (step_on_memory(step->kind))
        return same_bytes(p, (Extent){step->object, step->value}, (Extent){other->object, other->value});
    if (step_has(step->kind, STEP_ON_SEMAPHORE))
        return step->value == other->value && same_semaphore(p, step->object, other->object);
    if (step_has(step->kind, STEP_ON_FLAG))
        return false;                           /* overwritten values are not renamed */
    if (step->kind == STEP_COPY_START)
        return step->object == other->object && (step->object == NONE || same_copy(p, &one->copy, &image->copy));
    if (step->kind == STEP_STOP)
        return true;
    return step->object == other->object && (step->kind != STEP_ENTER || same_devices(p, step->object));
}

static bool same_faults(const UnrollFault *one, const UnrollFault *image)
{
    for (; one != NULL && image != NULL && one->fault == image->fault; one = one->next)
        image = image->next;
    return one == NULL && image == NULL;
}

static bool same_step(const Pair *p, const UnrollStep *one, const UnrollStep *image)
{
    return one->step.kind == image->step.kind && one->step.flags == image->step.flags && one->step.launch == image->step.launch
        && one->step.extra == image->step.extra && one->fault == image->fault && same_faults(one->raised, image->raised)
        && same_object(p, one, image);
}

/* ---- nodes and components ---- */

static bool same_node(const TreeNode *one, const TreeNode *image)
{
    return one->parent == image->parent && one->unrolled == image->unrolled && one->child == image->child && one->sibling == image->sibling
        && one->seen == image->seen && one->position == image->position && one->end == image->end && one->observes == image->observes
        && one->observed == image->observed && one->loops == image->loops && one->same == image->same;
}

static bool same_join(const Pair *p, uint32_t one, uint32_t image)
{
    const Join *join = intern_get(&p->space->joins, one, NULL), *other = intern_get(&p->space->joins, image, NULL);
    bool all = join->last - join->first == p->space->cores;
    return join->kind == other->kind && join->object == other->object && join->last - join->first == other->last - other->first
        && (all || p->automorphism->image[join->first] == other->first);
}

static uint32_t semaphore_of(const Pair *p, uint32_t counter)
{
    return state_counter_get(p->space, counter)->semaphore;
}

/* The first member takes a join for all, so the needs of members differ. */
static bool same_transition(const Pair *p, const Transition *one, const Transition *image)
{
    if (one->kind != image->kind || one->step != image->step || one->pending != image->pending || one->next != image->next)
        return false;
    if (one->kind == TRANSITION_JOIN)
        return same_join(p, one->counter, image->counter);
    bool counts = one->kind == TRANSITION_GUARDED || one->kind == TRANSITION_COUNT;
    return one->need == image->need && (!counts || same_semaphore(p, semaphore_of(p, one->counter), semaphore_of(p, image->counter)));
}

static bool same_watch(const Watch *one, const Component *of_one, const Watch *image, const Component *of_image)
{
    bool by_value = one->kind == WATCH_EXIT || one->kind == WATCH_FREE;
    return one->kind == image->kind && one->is_semaphore == image->is_semaphore
        && (one->transition == NONE ? image->transition == NONE
            : one->transition - of_one->transitions == image->transition - of_image->transitions)
        && (one->kind != WATCH_LIMIT || one->value == image->value) && (!by_value || one->what == image->what);
}

static bool same_component(const Pair *p, uint32_t id)
{
    StateSpace *space = p->space;
    const SpaceCore *self = space_core(space, p->core), *other = space_core(space, p->image);
    const Component *one = space_component(space, p->core, id), *image = space_component(space, p->image, id);
    bool same = one->node == image->node && one->transition_count == image->transition_count && one->next_count == image->next_count
        && one->watch_count == image->watch_count && one->pendings == image->pendings && self->columns == other->columns
        && memcmp(space_pendings(space, p->core, id), space_pendings(space, p->image, id), one->pendings * sizeof(PendingCopy)) == 0
        && memcmp(&STORE(int64_t, &self->taken, (size_t)id * self->columns),
                  &STORE(int64_t, &other->taken, (size_t)id * self->columns), self->columns * sizeof(int64_t)) == 0;
    for (uint32_t t = 0; same && t < one->transition_count; t++)
        same = same_transition(p, &STORE(Transition, &self->transitions, one->transitions + t),
                               &STORE(Transition, &other->transitions, image->transitions + t));
    for (uint32_t w = 0; same && w < one->watch_count; w++)
        same = same_watch(&STORE(Watch, &self->watches, one->watches + w), one, &STORE(Watch, &other->watches, image->watches + w), image);
    return same;
}

/* The same column of the two rows counts on a semaphore and its image. */
static bool same_columns(const Pair *p)
{
    const Store *columns = &space_core(p->space, p->core)->column_of, *others = &space_core(p->space, p->image)->column_of;
    for (uint32_t counter = 0; counter < columns->count; counter++) {
        if (STORE(uint32_t, columns, counter) == 0)
            continue;
        const GArray *to = p->automorphism->semaphores.to;
        uint32_t semaphore = semaphore_of(p, counter), image = semaphore < to->len ? g_array_index(to, uint32_t, semaphore) : 0;
        uint32_t known = image && image - 1 < p->space->counter_of.count ? STORE(uint32_t, &p->space->counter_of, image - 1) : 0;
        if (known == 0 || known - 1 >= others->count || STORE(uint32_t, others, known - 1) != STORE(uint32_t, columns, counter))
            return false;
    }
    return true;
}

/* ---- additions since the last call ---- */

static char *differ(const Pair *p, uint32_t step, uint32_t image_step)
{
    const Program *program = p->space->program;
    const uint32_t core[2] = {p->core, p->image}, at[2] = {step, image_step};
    char *text[2];
    for (unsigned i = 0; i < 2; i++) {
        const Tree *tree = &space_core(p->space, core[i])->tree;
        const Step *done = at[i] < tree->steps.count ? &tree_step(tree, at[i])->step : NULL;
        g_autofree char *where = done ? program_describe_site(program, done->site) : NULL;
        text[i] = done ? g_strdup_printf("the %s at %s", step_kind_name((StepKind)done->kind), where) : g_strdup("nothing more");
    }
    g_autofree char *image = program_describe_device(program, p->image / program->cores_per_device);
    g_autofree char *device = program_describe_device(program, p->core / program->cores_per_device);
    char *all = g_strdup_printf("%s does not do what %s does, shifted: %s against %s", image, device, text[1], text[0]);
    g_free(text[0]);
    g_free(text[1]);
    return all;
}

static char *compare_steps(const Pair *p, Compared *compared)
{
    const Tree *tree = &space_core(p->space, p->core)->tree, *image = &space_core(p->space, p->image)->tree;
    for (uint32_t *at = &compared->steps; *at < MAX(tree->steps.count, image->steps.count); ++*at)
        if (*at >= tree->steps.count || *at >= image->steps.count || !same_step(p, tree_step(tree, *at), tree_step(image, *at)))
            return differ(p, *at, *at);
    return NULL;
}

/* Changes of old nodes follow from the new ones. */
static char *compare_nodes(const Pair *p, Compared *compared)
{
    const SpaceCore *self = space_core(p->space, p->core), *other = space_core(p->space, p->image);
    const Tree *tree = &self->tree, *image = &other->tree;
    if (tree->nodes.count != image->nodes.count)
        return differ(p, NONE, NONE);
    for (uint32_t *node = &compared->nodes; *node < tree->nodes.count; ++*node)
        if (!same_node(tree_node(tree, *node), tree_node(image, *node))
            || memcmp(pasts_of(&self->pasts, *node), pasts_of(&other->pasts, *node), sizeof(Past)) != 0)
            return differ(p, tree_node(tree, *node)->unrolled, tree_node(image, *node)->unrolled);
    return NULL;
}

static char *compare_components(const Pair *p, Compared *compared)
{
    const SpaceCore *self = space_core(p->space, p->core), *other = space_core(p->space, p->image);
    if (self->components.count != other->components.count || (compared->columns != self->columns && !same_columns(p)))
        return differ(p, NONE, NONE);
    compared->columns = self->columns;
    for (uint32_t *id = &compared->components; *id < self->components.count; ++*id)
        if (!same_component(p, *id))
            return differ(p, space_node(p->space, p->core, *id)->unrolled, space_node(p->space, p->image, *id)->unrolled);
    return NULL;
}

bool automorphism_check(Automorphism *automorphism, StateSpace *space, char **why)
{
    static char *(*const COMPARE[])(const Pair *, Compared *) = {compare_steps, compare_nodes, compare_components};
    for (size_t i = 0; i < G_N_ELEMENTS(COMPARE); i++)
        for (uint32_t core = 0; core < automorphism->cores; core++) {
            const Pair pair = {.automorphism = automorphism, .space = space, .core = core, .image = automorphism->image[core]};
            char *differs = COMPARE[i](&pair, &automorphism->compared[core]);
            if (differs != NULL) {
                *why = differs;
                return false;
            }
        }
    return true;
}
