/* saved.c - one writer and one reader of each part, side by side; numbers are those of this machine: a checkpoint is no exchange format. */
#include "saved.h"
#include "../facts/fits.h"
#include "../facts/outcome.h"
#include <string.h>

static const uint64_t FORMAT = 0x636c617373657304;      /* "classes", 4 */

static void put(GByteArray *out, const void *data, size_t bytes)
{
    g_byte_array_append(out, data, (guint)bytes);
}

static void put_number(GByteArray *out, uint64_t number)
{
    put(out, &number, sizeof number);
}

static void put_block(GByteArray *out, const void *data, size_t bytes)
{
    put_number(out, bytes);
    put(out, data, bytes);
}

static void put_array(GByteArray *out, const GArray *array)
{
    put_block(out, array->data, (size_t)array->len * g_array_get_element_size((GArray *)array));
}

typedef struct Reader { const char *at, *end; bool bad; } Reader;

static const void *take(Reader *in, size_t bytes)
{
    in->bad |= bytes > (size_t)(in->end - in->at);      /* stays so */
    const char *data = in->at;
    if (!in->bad)
        in->at += bytes;
    return in->bad ? NULL : data;
}

static uint64_t take_number(Reader *in)
{
    uint64_t number = 0;
    const void *data = take(in, sizeof number);
    if (data != NULL)
        memcpy(&number, data, sizeof number);
    return number;
}

/* A number below `limit`, or NONE where that is allowed; else the reader goes bad. */
static uint32_t take_id(Reader *in, uint64_t limit, bool none)
{
    uint64_t number = take_number(in);
    in->bad |= number >= limit && !(none && number == NONE);
    return in->bad ? NONE : (uint32_t)number;
}

/* Above this nothing is ever counted. */
static uint64_t take_count(Reader *in)
{
    uint64_t number = take_number(in);
    in->bad |= number >> 60 != 0;
    return number;
}

static bool take_bool(Reader *in)
{
    uint64_t number = take_number(in);
    in->bad |= number > 1;
    return number == 1;
}

static const void *take_block(Reader *in, size_t *bytes)
{
    *bytes = take_number(in);
    return take(in, *bytes);
}

static GArray *take_array(Reader *in, guint item)
{
    size_t bytes;
    const void *data = take_block(in, &bytes);
    GArray *array = g_array_new(FALSE, FALSE, item);
    in->bad |= bytes % item != 0;
    if (!in->bad)
        g_array_append_vals(array, data, (guint)(bytes / item));
    return array;
}

/* Nodes that somebody asked for, as (parent, seen); the others followed from them. */
static bool was_asked_for(const Tree *tree, uint32_t id)
{
    const TreeNode *node = tree_node(tree, id);
    if (node->parent == NONE || node->observed)
        return node->parent != NONE;
    return node->seen == TREE_FAILED && tree_node(tree, node->parent)->step.kind == STEP_EXPECT_COUNT;
}

static void put_known(GByteArray *out, const Units *units)
{
    const Tree *tree = &units->shared.unrolled;
    const Usage *usage = &units->shared.usage;
    const Intern *tiles = tiles_keys(units->shared.tiles);
    put_number(out, intern_count(tiles));
    for (uint32_t i = 0; i < intern_count(tiles); i++) {
        size_t bytes;
        const void *key = intern_get(tiles, i, &bytes);
        put_block(out, key, bytes);
    }
    put_number(out, tree->nodes.count);
    for (uint32_t id = 0; id < tree->nodes.count; id++)
        if (was_asked_for(tree, id)) {
            put_number(out, id);
            put_number(out, tree_node(tree, id)->parent);
            put_number(out, (uint64_t)tree_node(tree, id)->seen);
        }
    put_number(out, NONE);
    put_block(out, usage->polling.base, usage->polling.count);
    put_block(out, usage->uses.base, usage->uses.count * sizeof(Use));
}

/* What an observation at that node may have seen: a tile that there is, a count, or that what was expected failed. */
static bool may_see(const Tree *tree, uint32_t node, int64_t seen, uint64_t tiles)
{
    StepKind kind = tree_node(tree, node)->step.kind;
    if (kind == STEP_LOAD || kind == STEP_SWAP)
        return seen >= 0 && (uint64_t)seen < tiles;
    return kind != STEP_EXPECT_COUNT || seen == TREE_FAILED;
}

static void take_known(Reader *in, Units *units)
{
    Tree *tree = &units->shared.unrolled;
    Usage *usage = &units->shared.usage;
    uint64_t tiles = take_number(in);
    for (uint64_t i = 0; i < tiles && !in->bad; i++) {
        size_t bytes;
        const void *key = take_block(in, &bytes);
        in->bad |= key == NULL || (i == 0 ? bytes != 0 : !tile_is_packed(key, bytes));
        if (!in->bad)
            tiles_add_key(units->shared.tiles, key, bytes);
        in->bad |= !in->bad && intern_count(tiles_keys(units->shared.tiles)) != i + 1;
    }
    uint64_t nodes = take_number(in), id;
    while (!in->bad && (id = take_number(in)) != NONE) {
        uint64_t parent = take_number(in), seen = take_number(in);
        in->bad |= parent >= tree->nodes.count || !tree_can_follow(tree, (uint32_t)parent) || id != tree->nodes.count
            || !may_see(tree, (uint32_t)parent, (int64_t)seen, tiles);
        if (!in->bad)
            tree_after(tree, (uint32_t)parent, (int64_t)seen);
    }
    in->bad |= nodes != tree->nodes.count;
    size_t bytes;
    const void *polling = take_block(in, &bytes);
    in->bad |= bytes != usage->polling.count;
    for (size_t i = 0; i < bytes && !in->bad; i++)
        in->bad = ((const uint8_t *)polling)[i] != POLLING_YES
            && (((const uint8_t *)polling)[i] != POLLING_NO || STORE(uint8_t, &usage->polling, i) != POLLING_NO);
    if (!in->bad)
        memcpy(usage->polling.base, polling, bytes);
    const Use *uses = take_block(in, &bytes);
    in->bad |= bytes != usage->uses.count * sizeof(Use);
    for (uint32_t s = 0; s < usage->uses.count && !in->bad; s++) {
        Use *use = usage_of(usage, s), saved;
        const unsigned char *raw = (const unsigned char *)(uses + s);
        in->bad = raw[offsetof(Use, contended)] > 1 || raw[offsetof(Use, ordered)] > 1 || raw[offsetof(Use, to_be_contended)] > 1
            || raw[offsetof(Use, to_be_ordered)] > 1;
        if (in->bad)
            break;
        memcpy(&saved, uses + s, sizeof saved);
        /* Nothing was left to be found out when this was written; and what the nodes say of themselves is known. */
        in->bad = saved.contended != saved.to_be_contended || saved.ordered != saved.to_be_ordered
            || use->to_be_contended > saved.contended || use->to_be_ordered > saved.ordered;
        use->contended = saved.contended, use->ordered = saved.ordered;
        use->to_be_contended = saved.to_be_contended, use->to_be_ordered = saved.to_be_ordered;
    }
    usage->grew = false;
}

static void put_tree(GByteArray *out, const WakePool *pool, const WakeTree *tree)
{
    put_number(out, wake_branches(pool, tree));
    for (uint32_t node = tree->first; node != 0; node = wake_get(pool, node)->beside) {
        put(out, &wake_get(pool, node)->step, sizeof(Sleeper));
        put_tree(out, pool, &wake_get(pool, node)->below);
    }
}

/* A step that there may be, on an object that the program has. */
static bool is_sleeper(const Units *units, const Sleeper *sleeper)
{
    return sleeper->agent < units->shared.program->cores + 4 * (uint64_t)numbers_copies(&units->shared.numbers)
        && sleeper->object < units->shared.program->semaphores && sleeper->manner <= MANNER_REST;
}

static GArray *take_sleepers(Reader *in, const Units *units)
{
    GArray *sleepers = take_array(in, sizeof(Sleeper));
    for (guint i = 0; i < sleepers->len; i++)
        in->bad |= !is_sleeper(units, &g_array_index(sleepers, Sleeper, i));
    return sleepers;
}

static WakeTree take_tree(Reader *in, const Units *units, WakePool *pool, unsigned depth)
{
    WakeTree tree = { 0, 0 };
    uint64_t branches = take_number(in);
    in->bad |= depth > EXPLORE_CHOICES_MAX;
    for (uint64_t i = 0; i < branches && !in->bad; i++) {
        const void *step = take(in, sizeof(Sleeper));
        Sleeper sleeper = { 0 };
        if (step != NULL)
            memcpy(&sleeper, step, sizeof sleeper);
        in->bad |= !is_sleeper(units, &sleeper);
        wake_append(pool, &tree, &sleeper, take_tree(in, units, pool, depth + 1));
    }
    return tree;
}

static void put_nodes(GByteArray *out, const Units *units)
{
    put_number(out, units->shared.nodes->len);
    for (guint i = 0; i < units->shared.nodes->len; i++) {
        const Node *node = shared_node(&units->shared, i);
        put_number(out, node->sleep != NULL);
        if (node->sleep == NULL)
            continue;
        put_number(out, node->parent);
        put_number(out, node->agent);
        put_number(out, node->depth);
        put_number(out, node->begun);
        put_number(out, node->classes);
        put_array(out, node->sleep);
        put_array(out, node->open);
        put_tree(out, &units->shared.pool, &node->tree);
    }
}

static void take_nodes(Reader *in, Units *units)
{
    uint64_t nodes = take_number(in);
    for (uint64_t i = 0; i < nodes && !in->bad; i++) {
        Node node = { 0 };
        if (take_bool(in)) {
            node.parent = take_id(in, nodes, true), node.agent = take_id(in, NONE, true), node.depth = take_id(in, NONE, false);
            node.begun = take_id(in, NONE, false), node.classes = take_count(in);
            node.sleep = take_sleepers(in, units), node.open = take_sleepers(in, units);
            node.tree = take_tree(in, units, &units->shared.pool, 0);
        }
        g_array_append_val(units->shared.nodes, node);
    }
}

static void put_explorer(GByteArray *out, const Explorer *x)
{
    put_array(out, x->nodes);
    put_number(out, x->classes);
    put_number(out, x->path.choices);
    for (uint32_t i = 0; i < x->path.choices; i++)
        put_number(out, x->path.choice[i].agent);
    put_block(out, x->sleep, x->sleepers * sizeof *x->sleep);
    for (uint32_t i = x->base; i < x->frames; i++) {
        const Frame *frame = &x->frame[i];
        put(out, frame, sizeof *frame);
        put_tree(out, &x->pool, &frame->tree);
    }
}

/* Frames of its own as they were written, without their trees; of the last one no choice is made yet. */
static void take_frames(Reader *in, const Units *units, Explorer *x, GArray *frames, uint64_t count)
{
    for (uint64_t i = 0; i < count && !in->bad; i++) {
        Frame frame = { 0 };
        const char *raw = take(in, sizeof frame);
        in->bad |= raw == NULL || (unsigned char)raw[offsetof(Frame, begun)] > 1;
        if (!in->bad)
            memcpy(&frame, raw, sizeof frame);
        frame.tree = take_tree(in, units, &x->pool, 0);
        g_array_append_val(frames, frame);
    }
}

static void take_explorer(Reader *in, Units *units)
{
    Explorer *x = units_add(units);
    g_autoptr(GArray) nodes = take_array(in, sizeof(uint32_t)), agents = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(Frame));
    uint64_t classes = take_count(in), choices = take_number(in);
    in->bad |= choices > EXPLORE_CHOICES_MAX || nodes->len > choices;
    for (uint64_t i = 0; i < choices && !in->bad; i++) {
        uint32_t agent = take_id(in, NONE, false);
        g_array_append_val(agents, agent);
    }
    g_autoptr(GArray) sleep = take_sleepers(in, units);
    if (!in->bad)
        take_frames(in, units, x, frames, choices + 1 - nodes->len);
    x->classes = classes;
    in->bad = in->bad || !units_are_chained(units, nodes, agents) || !explore_resume(x, nodes, agents, sleep, frames);
}

static void put_result(GByteArray *out, const Result *result)
{
    put_number(out, result->diverged);
    put_number(out, result->bytes != NULL);
    if (result->bytes != NULL)
        put_array(out, result->bytes);
}

static void take_result(Reader *in, Result *result)
{
    result->diverged = take_bool(in);
    if (take_bool(in))
        result->bytes = take_array(in, 1);
}

/* Of all buffers that are handed back. */
static uint64_t result_bytes(const Program *program)
{
    uint64_t bytes = 0;
    for (uint32_t object = 0; object < program->objects; object++) {
        const Decl *decl = program_decl(program, program_object_decl(program, object));
        int64_t item = program_decl_is_result(decl) ? (int64_t)dtype_size_bytes(decl->dtype) : 0;
        bytes += item > 0 ? (uint64_t)(decl->bytes + decl->bytes / item) : 0;   /* values, then marks: final_results.c */
    }
    return bytes;
}

static bool outcome_fits(const Outcome *outcome, const Program *program, const Result *result)
{
    bool diverges = false;
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        if (!finding_fits(program, finding) || finding->count == 0)
            return false;
        diverges |= finding->id == FAULT_DIVERGENCE;
    }
    return diverges == result->diverged && (outcome->limits->len == 0 || !outcome->complete);
}

static void put_totals(GByteArray *out, const Totals *totals)
{
    put_number(out, totals->runs);
    put_number(out, totals->redundant);
    put_number(out, totals->done);
    put_result(out, &totals->result);
    put_block(out, totals->ends.slot, totals->ends.size * sizeof *totals->ends.slot);
    put_block(out, totals->classes.slot, totals->classes.size * sizeof *totals->classes.slot);
    Store outcome;
    store_init(&outcome, 1, (size_t)1 << 34);
    outcome_save(totals->outcome, &outcome);
    put_block(out, outcome.base, outcome.count);
    store_clear(&outcome);
}

static void take_hashes(Reader *in, Hashes *hashes)
{
    g_autoptr(GArray) slots = take_array(in, sizeof(uint64_t));
    for (guint i = 0; i < slots->len; i++)
        if (g_array_index(slots, uint64_t, i) != 0)
            hashes_add(hashes, g_array_index(slots, uint64_t, i));
}

static void take_totals(Reader *in, const Units *units, Totals *totals)
{
    totals->runs = take_count(in), totals->redundant = take_count(in), totals->done = take_bool(in);
    take_result(in, &totals->result);
    take_hashes(in, &totals->ends);
    take_hashes(in, &totals->classes);
    size_t bytes;
    const void *data = take_block(in, &bytes);
    if (data == NULL)
        return;
    Store outcome;
    store_init(&outcome, 1, (size_t)1 << 34);
    memcpy(store_push(&outcome, bytes), data, bytes);
    outcome_free(totals->outcome);
    totals->outcome = outcome_load(&outcome);
    in->bad |= totals->outcome == NULL || !outcome_fits(totals->outcome, units->shared.program, &totals->result)
        || (totals->done && totals->outcome->findings->len == 0)
        || (totals->result.bytes != NULL && totals->result.bytes->len != result_bytes(units->shared.program));
    store_clear(&outcome);
}

void saved_write(const Units *units, Checkpoint *checkpoint)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    put_number(out, FORMAT);
    put_number(out, units->rounds);
    put_number(out, units->shared.program->sites_in_order);
    put_known(out, units);
    put_nodes(out, units);
    put_number(out, units->live->len);
    for (guint i = 0; i < units->live->len; i++)
        put_explorer(out, units->live->pdata[i]);
    put_totals(out, &units->totals);
    put_block(out, units->shapes.at, units->shapes.depths * sizeof(Shape));
    checkpoint_begin(checkpoint);
    checkpoint_put(checkpoint, out->data, out->len);
    checkpoint_commit(checkpoint);
}

bool saved_read(Units *units, GBytes *bytes)
{
    size_t size;
    const char *data = g_bytes_get_data(bytes, &size);
    Reader in = { data, data + size, false };
    in.bad = take_number(&in) != FORMAT;
    units->rounds = take_count(&in);
    uint32_t sites = take_id(&in, NONE, false);
    take_known(&in, units);
    in.bad |= sites > units->shared.program->sites.count || (sites == 0 && units->rounds > 0);
    units->shared.program->sites_in_order = sites;
    take_nodes(&in, units);
    uint64_t live = take_number(&in);
    for (uint64_t i = 0; i < live && !in.bad; i++)
        take_explorer(&in, units);
    take_totals(&in, units, &units->totals);
    size_t shapes;
    const void *shape = take_block(&in, &shapes);
    in.bad |= shapes > SHAPE_DEPTHS * sizeof(Shape) || shapes % sizeof(Shape) != 0;
    if (!in.bad && shapes > 0) {
        shapes_fit(&units->shapes, (uint32_t)(shapes / sizeof(Shape)));
        memcpy(units->shapes.at, shape, shapes);
    }
    return !in.bad && in.at == in.end && units_fit(units);
}
