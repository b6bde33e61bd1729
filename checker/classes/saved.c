/* saved.c - each part is named once, for writing and reading. */
#include "saved.h"
#include "../facts/codec.h"
#include "../facts/fits.h"
#include "../facts/outcome.h"
#include <string.h>

static const uint64_t KIND = 0x636c6173736573;  /* "classes" */

/* Below `limit`, or NONE where that is allowed. */
static uint32_t carry_id(Codec *codec, uint32_t id, uint64_t limit, bool none)
{
    uint64_t number = codec_number(codec, id);
    codec_check(codec, number < limit || (none && number == NONE));
    return codec->bad ? NONE : (uint32_t)number;
}

/* Above this nothing is ever counted. */
static uint64_t carry_count(Codec *codec, uint64_t count)
{
    count = codec_number(codec, count);
    codec_check(codec, count >> 60 == 0);
    return count;
}

/* Nodes that somebody asked for; the others followed from them. */
static bool was_asked_for(const Tree *tree, uint32_t id)
{
    const TreeNode *node = tree_node(tree, id);
    if (node->parent == NONE || node->observed)
        return node->parent != NONE;
    return node->seen == TREE_FAILED && tree_node(tree, node->parent)->step.kind == STEP_EXPECT_COUNT;
}

/* What an observation at that node may have seen: a tile that there is, a count, or that what was expected failed. */
static bool may_see(const Tree *tree, uint32_t node, int64_t seen, uint64_t tiles)
{
    StepKind kind = tree_node(tree, node)->step.kind;
    if (kind == STEP_LOAD || kind == STEP_SWAP)
        return seen >= 0 && (uint64_t)seen < tiles;
    return kind != STEP_EXPECT_COUNT || seen == TREE_FAILED;
}

static void carry_tiles(Codec *codec, const Units *units)
{
    const Intern *keys = tiles_keys(units->shared.tiles);
    uint64_t tiles = codec_count(codec, intern_count(keys));
    for (uint32_t i = 0; i < tiles && !codec->bad; i++) {
        size_t bytes = 0;
        const void *key = codec_reads(codec) ? NULL : intern_get(keys, i, &bytes);
        key = codec_block(codec, key, &bytes);
        codec_check(codec, key != NULL && (i == 0 ? bytes == 0 : tile_is_packed(key, bytes)));
        if (codec_reads(codec) && !codec->bad)
            tiles_add_key(units->shared.tiles, key, bytes);
        codec_check(codec, !codec->bad && intern_count(keys) == i + 1);
    }
}

/* id: of the node that answers it; NONE: no more */
typedef struct SavedQuestion { uint32_t id, parent; int64_t seen; } SavedQuestion;

static void carry_question(Codec *codec, SavedQuestion *question)
{
    CODEC_PLAIN(codec, question->id);
    CODEC_PLAIN(codec, question->parent);
    CODEC_PLAIN(codec, question->seen);
}

static void put_questions(Codec *codec, const Tree *tree)
{
    for (uint32_t id = 0; id < tree->nodes.count; id++)
        if (was_asked_for(tree, id))
            carry_question(codec, &(SavedQuestion){ id, tree_node(tree, id)->parent, tree_node(tree, id)->seen });
    carry_question(codec, &(SavedQuestion){ .id = NONE });
}

static void take_questions(Codec *codec, Units *units)
{
    Tree *tree = &units->shared.unrolled;
    const size_t tiles = intern_count(tiles_keys(units->shared.tiles));
    for (SavedQuestion asked; carry_question(codec, &asked), !codec->bad && asked.id != NONE;) {
        codec_check(codec, asked.parent < tree->nodes.count && tree_can_follow(tree, asked.parent) && asked.id == tree->nodes.count
                           && may_see(tree, asked.parent, asked.seen, tiles));
        if (!codec->bad)
            tree_after(tree, asked.parent, asked.seen);
    }
}

static bool polling_fits(const Usage *usage, const uint8_t *polling, size_t bytes)
{
    bool fits = bytes == usage->polling.count;
    for (size_t i = 0; i < bytes && fits; i++)
        fits = polling[i] == POLLING_YES || (polling[i] == POLLING_NO && STORE(uint8_t, &usage->polling, i) == POLLING_NO);
    return fits;
}

static void carry_polling(Codec *codec, Usage *usage)
{
    size_t bytes = usage->polling.count;
    const uint8_t *polling = codec_block(codec, usage->polling.base, &bytes);
    codec_check(codec, polling != NULL && polling_fits(usage, polling, bytes));
    if (codec_reads(codec) && !codec->bad)
        memcpy(usage->polling.base, polling, bytes);
}

/* Nothing was left to be found out when this was written; and what the nodes say of themselves is known. */
static void carry_use(Codec *codec, Use *use)
{
    Use saved = *use;
    codec_bool(codec, &saved.contended);
    codec_bool(codec, &saved.ordered);
    codec_bool(codec, &saved.to_be_contended);
    codec_bool(codec, &saved.to_be_ordered);
    codec_check(codec, saved.contended == saved.to_be_contended && saved.ordered == saved.to_be_ordered
                       && use->to_be_contended <= saved.contended && use->to_be_ordered <= saved.ordered);
    *use = saved;
}

static void carry_known(Codec *codec, Units *units)
{
    const Tree *tree = &units->shared.unrolled;
    Usage *usage = &units->shared.usage;
    carry_tiles(codec, units);
    uint64_t nodes = codec_number(codec, tree->nodes.count);
    if (codec_reads(codec))
        take_questions(codec, units);
    else
        put_questions(codec, tree);
    codec_check(codec, nodes == tree->nodes.count);
    carry_polling(codec, usage);
    uint64_t uses = codec_count(codec, usage->uses.count);
    codec_check(codec, uses == usage->uses.count);
    for (uint32_t s = 0; s < uses && !codec->bad; s++)
        carry_use(codec, usage_of(usage, s));
    if (codec_reads(codec))
        usage->grew = false;
}

/* A step that there may be, on an object that the program has. */
static bool is_sleeper(const Units *units, const Sleeper *sleeper)
{
    return sleeper->agent < units->shared.program->cores + 4 * (uint64_t)numbers_copies(&units->shared.numbers)
        && sleeper->object < units->shared.program->semaphores && sleeper->manner <= MANNER_REST;
}

static void carry_sleepers(Codec *codec, const Units *units, GArray **sleepers)
{
    codec_array(codec, sleepers, sizeof(Sleeper));
    for (guint i = 0; i < (*sleepers)->len; i++)
        codec_check(codec, is_sleeper(units, &g_array_index(*sleepers, Sleeper, i)));
}

static void carry_tree(Codec *codec, const Units *units, WakePool *pool, WakeTree *tree, unsigned depth)
{
    uint64_t branches = codec_count(codec, wake_branches(pool, tree));
    codec_check(codec, depth <= EXPLORE_CHOICES_MAX);
    uint32_t node = tree->first;
    for (uint64_t i = 0; i < branches && !codec->bad; i++) {
        Sleeper step = { 0 };
        WakeTree below = { 0, 0 };
        if (!codec_reads(codec))
            step = wake_get(pool, node)->step, below = wake_get(pool, node)->below, node = wake_get(pool, node)->beside;
        CODEC_PLAIN(codec, step);
        codec_check(codec, is_sleeper(units, &step));
        carry_tree(codec, units, pool, &below, depth + 1);
        if (codec_reads(codec))
            wake_append(pool, tree, &step, below);
    }
}

static void carry_node(Codec *codec, Units *units, Node *node, uint64_t nodes)
{
    if (!codec_flag(codec, node->sleep != NULL))
        return;
    node->parent = carry_id(codec, node->parent, nodes, true);
    node->agent = carry_id(codec, node->agent, NONE, true);
    node->depth = carry_id(codec, node->depth, NONE, false);
    node->begun = carry_id(codec, node->begun, NONE, false);
    node->classes = carry_count(codec, node->classes);
    carry_sleepers(codec, units, &node->sleep);
    carry_sleepers(codec, units, &node->open);
    carry_tree(codec, units, &units->shared.pool, &node->tree, 0);
}

static void carry_nodes(Codec *codec, Units *units)
{
    uint64_t nodes = codec_count(codec, units->shared.nodes->len);
    for (uint32_t i = 0; i < nodes && !codec->bad; i++) {
        if (codec_reads(codec))
            g_array_append_val(units->shared.nodes, ((Node){ 0 }));
        carry_node(codec, units, &g_array_index(units->shared.nodes, Node, i), nodes);
    }
}

/* Frames of its own; of the last one no choice is made yet. */
static void carry_frames(Codec *codec, const Units *units, Explorer *x, GArray *frames)
{
    uint64_t count = codec_count(codec, frames->len);
    for (uint64_t i = 0; i < count && !codec->bad; i++) {
        Frame frame = { 0 };
        if (!codec_reads(codec))
            frame = g_array_index(frames, Frame, i);
        CODEC_PLAIN(codec, frame.sleep);
        CODEC_PLAIN(codec, frame.tried);
        CODEC_PLAIN(codec, frame.classes);
        codec_bool(codec, &frame.begun);
        carry_tree(codec, units, &x->pool, &frame.tree, 0);
        if (codec_reads(codec))
            g_array_append_val(frames, frame);
    }
}

static void carry_explorer(Codec *codec, Units *units, Explorer *x)
{
    g_autoptr(GArray) nodes = codec_reads(codec) ? g_array_new(FALSE, FALSE, sizeof(uint32_t)) : g_array_ref(x->nodes);
    g_autoptr(GArray) agents = g_array_new(FALSE, FALSE, sizeof(uint32_t)), sleep = g_array_new(FALSE, FALSE, sizeof(Sleeper));
    g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(Frame));
    if (!codec_reads(codec)) {
        for (uint32_t i = 0; i < x->path.choices; i++)
            g_array_append_val(agents, x->path.choice[i].agent);
        g_array_append_vals(sleep, x->sleep, x->sleepers);
        g_array_append_vals(frames, x->frame + x->base, x->frames - x->base);
    }
    codec_array(codec, &nodes, sizeof(uint32_t));
    codec_array(codec, &agents, sizeof(uint32_t));
    carry_sleepers(codec, units, &sleep);
    carry_frames(codec, units, x, frames);
    x->classes = carry_count(codec, x->classes);
    for (guint i = 0; i < agents->len; i++)
        codec_check(codec, g_array_index(agents, uint32_t, i) != NONE);
    codec_check(codec, agents->len <= EXPLORE_CHOICES_MAX && nodes->len <= agents->len && frames->len == agents->len + 1 - nodes->len);
    if (codec_reads(codec) && !codec->bad)
        codec_check(codec, units_are_chained(units, nodes, agents) && explore_resume(x, nodes, agents, sleep, frames));
}

static void carry_result(Codec *codec, Result *result)
{
    codec_bool(codec, &result->diverged);
    codec_array_or_null(codec, &result->bytes, 1);
}

/* Of all buffers that are handed back. */
static uint64_t result_bytes(const Program *program)
{
    uint64_t bytes = 0;
    for (uint32_t object = 0; object < program->objects; object++) {
        const Decl *decl = program_decl(program, program_object_decl(program, object));
        int64_t item = program_decl_is_result(decl) ? (int64_t)dtype_size_bytes(decl->dtype) : 0;
        bytes += item > 0 ? (uint64_t)(decl->bytes + decl->bytes / item) : 0;      /* values, then marks: final_results.c */
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

static void carry_hashes(Codec *codec, GHashTable *hashes)
{
    guint count;
    g_autofree gpointer *all = g_hash_table_get_keys_as_array(hashes, &count);
    size_t bytes = count * sizeof *all;
    const char *read = codec_block(codec, all, &bytes);
    codec_check(codec, bytes % sizeof *all == 0);
    for (size_t at = 0; codec_reads(codec) && !codec->bad && at < bytes; at += sizeof *all) {
        gpointer hash;
        memcpy(&hash, read + at, sizeof hash);
        g_hash_table_add(hashes, hash);
    }
}

static void carry_totals(Codec *codec, const Units *units, Totals *totals)
{
    totals->runs = carry_count(codec, totals->runs);
    totals->redundant = carry_count(codec, totals->redundant);
    codec_bool(codec, &totals->done);
    carry_result(codec, &totals->result);
    carry_hashes(codec, totals->ends);
    carry_hashes(codec, totals->classes);
    outcome_carry(codec, totals->outcome);
    if (codec_reads(codec) && !codec->bad)
        codec->bad = !outcome_fits(totals->outcome, units->shared.program, &totals->result)
            || (totals->done && totals->outcome->findings->len == 0)
            || (totals->result.bytes != NULL && totals->result.bytes->len != result_bytes(units->shared.program));
}

static void carry_shapes(Codec *codec, Shapes *shapes)
{
    size_t bytes = shapes->depths * sizeof(Shape);
    const void *shape = codec_block(codec, shapes->at, &bytes);
    codec_check(codec, bytes <= SHAPE_DEPTHS * sizeof(Shape) && bytes % sizeof(Shape) == 0);
    if (!codec_reads(codec) || codec->bad || bytes == 0)
        return;
    shapes_fit(shapes, (uint32_t)(bytes / sizeof(Shape)));
    memcpy(shapes->at, shape, bytes);
}

static void carry(Codec *codec, Units *units)
{
    Program *program = units->shared.program;
    codec_check(codec, codec_number(codec, KIND) == KIND);
    units->rounds = carry_count(codec, units->rounds);
    uint32_t sites = carry_id(codec, program->sites_in_order, NONE, false);
    carry_known(codec, units);
    codec_check(codec, sites <= program->sites.count && (sites > 0 || units->rounds == 0));
    program->sites_in_order = sites;
    carry_nodes(codec, units);
    uint64_t live = codec_count(codec, units->live->len);
    for (uint64_t i = 0; i < live && !codec->bad; i++)
        carry_explorer(codec, units, codec_reads(codec) ? units_add(units) : units->live->pdata[i]);
    carry_totals(codec, units, &units->totals);
    carry_shapes(codec, &units->shapes);
}

void saved_write(Units *units, Checkpoint *checkpoint)
{
    checkpoint_begin(checkpoint);
    Codec codec = checkpoint_codec(checkpoint);
    carry(&codec, units);
    checkpoint_commit(checkpoint);
}

bool saved_read(Units *units, GBytes *bytes)
{
    Codec codec = codec_from_bytes(bytes);
    carry(&codec, units);
    return codec_is_over(&codec) && units_fit(units);
}
