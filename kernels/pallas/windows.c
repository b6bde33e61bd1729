/* windows.c - the pipeline of pl_windows: prefetches and write-backs as ordinary copies on semaphores of their own.
 *
 * Source: Pallas TPU's emit_pipeline and the grid of pallas_call. Where their order is not specified, copies start as early and are waited
 * for as late as possible: each grid step first writes back the blocks that the previous step has left, then starts the fetches for which
 * there is room, then waits for what it needs. Each buffer has a semaphore of its own, so a wait is for one copy only.
 *
 * A core keeps the state of its windows from the first to the last of its grid steps.
 */
#include "windows.h"
#include <glib.h>
#include <string.h>
#include "../../model/label.h"
#include "windows_inside.h"

typedef struct Holding {                        /* the state of one window */
    int64_t block[PL_DIMS_MAX];                 /* output: the current block; input: the block fetched last */
    int64_t ahead;                              /* inputs: the core's first grid step whose block is not fetched yet */
    unsigned now, newest;                       /* buffers: of this step; the one assigned last */
    bool begins[PL_BUFFERS_MAX];                /* by grid step modulo buffers: does a block begin there? */
    bool moving[PL_BUFFERS_MAX];                /* by buffer: its copy is started and not waited for */
    CopyDesc copy[PL_BUFFERS_MAX];
    GHashTable *left;                           /* outputs: blocks visited before, as strings */
} Holding;

typedef struct Holdings { unsigned count; Holding of[]; } Holdings;

/* In PROGRAM */

static void check_sizes(const PlSite *here, const View *array, const PlWindows *asked, const char *name)
{
    bool whole = true;
    for (unsigned d = 0; d < PL_DIMS_MAX; d++) {
        whole = whole && asked->block[d] == 0;
        if (d >= array->ndim && (asked->block[d] != 0 || asked->stride[d] != 0))
            builder_misuse(here, "pl_windows of %s: its block or stride has more than the array's %u dimensions", name, array->ndim);
    }
    for (unsigned d = 0; d < array->ndim; d++)
        if ((!whole && asked->block[d] < 1 && asked->block[d] != PL_SQUEEZED) || asked->stride[d] < 0)
            builder_misuse(here, "pl_windows of %s: along dimension %u the block has size %lld and stride %lld", name, d,
                           (long long)asked->block[d], (long long)asked->stride[d]);
}

static PlRef windows(const PlSite *copies, const PlSite *waits, PlRef array, const PlWindows *asked)
{
    Builder *builder = builder_of(copies, "pl_windows");
    const Decl *decl = program_decl(builder->program, builder_ref(copies, array, "pl_windows").decl);
    const char *name = builder_name(builder->program, array.buffer);
    if (decl->space == SPACE_SEMAPHORE)
        builder_misuse(copies, "pl_windows needs an array: %s is a semaphore", name);
    check_sizes(copies, builder_view(copies, array, "pl_windows"), asked, name);
    if (asked->buffers < 0 || asked->buffers > PL_BUFFERS_MAX)
        builder_misuse(copies, "pl_windows of %s: %d buffers (1 to %d are possible, 2 is usual)", name, asked->buffers, PL_BUFFERS_MAX);
    if (asked->space != 0 && asked->space != PL_VMEM && asked->space != PL_SMEM)
        builder_misuse(copies, "pl_windows of %s: windows are in PL_VMEM or PL_SMEM", name);
    if (asked->revisit && (!asked->output || asked->buffers != 1))
        builder_misuse(copies, "pl_windows of %s: .revisit needs .output = true and .buffers = 1", name);
    if (asked->index != NULL && asked->blocks.index != NULL)
        builder_misuse(copies, "pl_windows of %s: .index and .blocks both say which block; give one of them", name);
    BuilderWindows made = { copies, waits, array, *asked };
    size_t bytes = (size_t)asked->blocks.count * sizeof(int64_t);
    int64_t *table = asked->blocks.index != NULL ? program_alloc(builder->program, bytes) : NULL;
    if (table != NULL)
        made.asked.blocks.index = memcpy(table, asked->blocks.index, bytes);
    builder->windows = g_renew(BuilderWindows, builder->windows, builder->windows_count + 1);
    builder->windows[builder->windows_count] = made;
    return builder_windows_placeholder(builder->windows_count++);
}

static int64_t steps_of(const Launch *launch)
{
    int64_t steps = 1;
    for (uint32_t d = 0; d < launch->grid_dims; d++)
        steps *= launch->grid[d];
    return steps;
}

static uint32_t copies_site(Program *program, const PlSite *here, const char *kernel)
{
    uint32_t site = program_site(program, here->file, kernel, here->line, here->counter);
    label_mark_site(program, site);
    return site;
}

static bool moves(const Window *window)
{
    return window->index != NULL || window->table != NULL;
}

static void declare_room(Program *program, Window *window, const PlWindows *asked, const char *name)
{
    const Decl *array = program_decl(program, window->array.buffer);
    DeclSpec spec = { .space = asked->space == PL_SMEM ? SPACE_SMEM : SPACE_VMEM, .dtype = array->dtype, .life = LIFE_LAUNCHES,
                      .once = true, .collective_id = -1, .opaque = array->opaque, .site = window->copies };
    for (unsigned d = 0; d < window->ndim; d++)
        if (!window->squeezed[d])
            spec.size[spec.ndim++] = window->block[d];
    g_autofree char *room = g_strconcat(name, "_window", NULL), *done = g_strconcat(name, window->output ? "_written" : "_fetched", NULL);
    spec.name = room;
    for (unsigned i = 0; i < window->buffers; i++) {
        uint32_t decl = program_add_decl(program, &spec);
        window->room = i == 0 ? decl : window->room;
    }
    const DeclSpec semaphore = { .space = SPACE_SEMAPHORE, .semaphore_kind = SEMAPHORE_DMA, .dtype = DTYPE_I32, .life = LIFE_LAUNCHES,
                                 .ndim = 1, .size = { window->buffers }, .once = true, .collective_id = -1, .site = window->copies,
                                 .name = done };
    window->semaphore = program_add_decl(program, &semaphore);
}

static uint32_t name_blocks(Program *program, const Window *window, const View *view, bool fetch)
{
    Labels labels = { .decl = window->array.buffer, .fetch = fetch, .ndim = moves(window) ? window->ndim : 0 };
    for (unsigned d = 0; d < labels.ndim; d++)
        labels.blocks[d] = (view->size[d] + window->stride[d] - 1) / window->stride[d];
    return label_add(program, labels);
}

PlRef windows_array(const Builder *builder, PlRef placeholder)
{
    return builder->windows[placeholder.buffer].array;
}

Window windows_make(Builder *builder, const Launch *launch, PlRef placeholder, PlRef array, uint32_t argument, const char *kernel,
                    const char *name)
{
    Program *program = builder->program;
    const BuilderWindows *made = &builder->windows[placeholder.buffer];
    const PlWindows *asked = &made->asked;
    const View *view = builder_view(made->copies, array, "pl_windows");
    Window window = { .argument = argument, .array = array, .ndim = view->ndim, .index = asked->index,
                      .table = asked->blocks.index, .output = asked->output,
                      .revisit = asked->revisit };
    if (window.table != NULL && asked->blocks.count != steps_of(launch) * view->ndim)
        builder_misuse(made->copies, "pl_windows of %s: pl_blocks has %lld indices, for %lld grid steps and %u dimensions", name,
                       (long long)asked->blocks.count, (long long)steps_of(launch), view->ndim);
    for (unsigned d = 0; d < view->ndim; d++) {
        window.squeezed[d] = asked->block[d] == PL_SQUEEZED;
        window.block[d] = window.squeezed[d] ? 1 : asked->block[0] == 0 ? view->size[d] : asked->block[d];
        window.stride[d] = MAX(asked->stride[d] > 0 ? asked->stride[d] : window.block[d], 1);
    }
    bool once = !moves(&window) || steps_of(launch) <= 1 || program->knobs.windows == WINDOWS_SEQUENTIAL;
    window.buffers = once ? 1 : asked->buffers > 0 ? (unsigned)asked->buffers : 2;
    window.copies = copies_site(program, made->copies, kernel), window.waits = copies_site(program, made->waits, kernel);
    declare_room(program, &window, asked, name);
    window.fetches = !window.output || window.revisit ? name_blocks(program, &window, view, true) : NONE;
    window.write_backs = window.output ? name_blocks(program, &window, view, false) : NONE;
    return window;
}

/* On a core */

static void drop_holdings(Core *core)
{
    Holdings *held = core->windows;
    for (unsigned i = 0; held != NULL && i < held->count; i++)
        g_clear_pointer(&held->of[i].left, g_hash_table_unref);
    g_free(held);
    core->windows = NULL;
}

static void begin_holdings(Core *core, const Window *window, unsigned count)
{
    drop_holdings(core);
    Holdings *held = g_malloc0(sizeof *held + count * sizeof held->of[0]);
    held->count = count;
    for (unsigned i = 0; i < count; i++) {
        held->of[i].newest = window[i].buffers - 1;
        held->of[i].left = window[i].output ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) : NULL;
    }
    core->windows = held, core->drop_windows = drop_holdings;
}

static Holding *holding(const Core *core, unsigned window)
{
    return &((Holdings *)core->windows)->of[window];
}

/* The block of one of the core's grid steps. */
static void block_at(const Core *core, const Window *window, int64_t step, const PlRef *ref, int64_t *block)
{
    int64_t grid[GRID_DIMS_MAX] = { 0 }, at = 0;
    memset(block, 0, PL_DIMS_MAX * sizeof *block);
    if (!moves(window))
        return;
    core_grid_at(core, step, grid);
    const Launch *launch = program_launch(core->program, core->launch);
    for (uint32_t d = 0; d < launch->grid_dims; d++)
        at = at * launch->grid[d] + grid[d];
    if (window->table != NULL)
        memcpy(block, &window->table[at * window->ndim], window->ndim * sizeof *block);
    else
        window->index(grid, block, ref);
}

static bool same_block(const Window *window, const int64_t *a, const int64_t *b)
{
    return memcmp(a, b, window->ndim * sizeof *a) == 0;
}

/* "(0, 1)", g_malloc. */
static char *block_text(const Window *window, const int64_t *block)
{
    GString *text = g_string_new("(");
    for (unsigned d = 0; d < window->ndim; d++)
        g_string_append_printf(text, d ? ", %" G_GINT64_FORMAT : "%" G_GINT64_FORMAT, block[d]);
    return g_string_free(g_string_append_c(text, ')'), FALSE);
}

static Ref part(Program *program, uint32_t decl, uint32_t view, unsigned indices, const ViewIndex *index)
{
    View made;
    const char *why = NULL;
    bool good = view_at(&made, program_get_view(program, view), indices, index, &why);
    g_assert(good);
    return (Ref){ decl, program_view(program, &made), NONE };
}

/* A block as parts of the array and of its room, cut at the array's end; true if it was cut. A block that begins outside is not cut: its
 * copy is out of bounds. */
static bool block_parts(Program *program, const Window *window, const int64_t *block, unsigned buffer, Ref *array, Ref *room)
{
    const View *whole = program_get_view(program, window->array.view);
    ViewIndex of_array[PL_DIMS_MAX], of_room[PL_DIMS_MAX];
    unsigned kept = 0;
    bool cut = false;
    for (unsigned d = 0; d < window->ndim; d++) {
        int64_t start, rest, size = window->block[d];
        bool absurd = __builtin_mul_overflow(block[d], window->stride[d], &start);
        rest = absurd ? 0 : whole->size[d] - start;
        if (!absurd && start >= 0 && rest > 0 && rest < size)
            size = rest, cut = true;
        of_array[d] = (ViewIndex){ absurd ? whole->size[d] : start, size, 1, window->squeezed[d] };
        if (!window->squeezed[d])
            of_room[kept++] = (ViewIndex){ 0, size, 1, false };
    }
    *array = part(program, window->array.buffer, window->array.view, window->ndim, of_array);
    uint32_t decl = window->room + buffer;
    *room = part(program, decl, program_decl(program, decl)->view, kept, of_room);
    return cut;
}

/* Makes the room unwritten. */
static void forget(Core *core, const Window *window, unsigned buffer)
{
    const Decl *decl = program_decl(core->program, window->room + buffer);
    Tile nothing;
    tile_init(&nothing, (DType)decl->dtype, decl->ndim, decl->size, false, core_tile_alloc, core);
    core_store(core, window->copies, (Ref){ window->room + buffer, decl->view, NONE }, NULL, &nothing);
}

static void wait_for(Core *core, const Window *window, Holding *held, unsigned buffer)
{
    if (held->moving[buffer])
        core_copy_wait(core, window->waits, &held->copy[buffer], COPY_WAIT_RECEIVE, false);
    held->moving[buffer] = false;
}

static void start(Core *core, const Window *window, Holding *held, const int64_t *block, unsigned buffer, bool fetch)
{
    Program *program = core->program;
    Ref array, room;
    bool cut = block_parts(program, window, block, buffer, &array, &room);
    if (cut && fetch)
        forget(core, window, buffer);
    const ViewIndex own = { buffer, 1, 1, true };
    CopyDesc *copy = &held->copy[buffer];
    *copy = (CopyDesc){ .source = fetch ? array : room, .target = fetch ? room : array, .send = { NONE, NONE, NONE }, .to = { NONE, NONE },
                        .core = NONE, .ordinal = NONE, .site = window->copies };
    copy->receive = part(program, window->semaphore, program_decl(program, window->semaphore)->view, 1, &own);
    core->label = label_of_block(program, fetch ? window->fetches : window->write_backs, block);
    core_copy_start(core, window->copies, copy);
    core->label = 0;
    held->moving[buffer] = true;
    if (program->knobs.windows == WINDOWS_SEQUENTIAL)
        wait_for(core, window, held, buffer);
}

/* Moves to the output's block of this step and writes the previous one back. True: a block begins. */
static bool begin_output(Core *core, const Window *window, Holding *held, const PlRef *ref)
{
    int64_t block[PL_DIMS_MAX];
    block_at(core, window, core->grid_index, ref, block);
    bool first = core->grid_index == 0;
    if (!first && same_block(window, block, held->block))
        return false;
    if (!first) {
        start(core, window, held, held->block, held->now, false);
        g_hash_table_add(held->left, block_text(window, held->block));
    }
    char *text = block_text(window, block);
    bool again = !window->revisit && g_hash_table_contains(held->left, text);
    uint32_t kept = again ? program_string(core->program, text) : 0;
    g_free(text);                               /* what follows may never return */
    if (again)
        core_stop(core, window->copies, FAULT_REVISIT, "output %s: block %s is visited again after another one",
                  program_text(core->program, program_decl(core->program, window->array.buffer)->name), program_text(core->program, kept));
    memcpy(held->block, block, sizeof held->block);
    held->now = held->newest = (held->newest + 1) % window->buffers;
    return true;
}

/* Starts the fetches for which there is room. */
static void fetch_ahead(Core *core, const Window *window, Holding *held, const PlRef *ref)
{
    int64_t last = MIN(core_grid_steps(core) - 1, core->grid_index + window->buffers - 1);
    for (; held->ahead <= last; held->ahead++) {
        int64_t block[PL_DIMS_MAX];
        block_at(core, window, held->ahead, ref, block);
        bool begins = held->ahead == 0 || !same_block(window, block, held->block);
        held->begins[held->ahead % window->buffers] = begins;
        if (!begins)
            continue;
        memcpy(held->block, block, sizeof held->block);
        held->newest = (held->newest + 1) % window->buffers;
        start(core, window, held, block, held->newest, true);
    }
}

static void enter_input(Core *core, const Window *window, Holding *held)
{
    if (!held->begins[core->grid_index % window->buffers])
        return;
    held->now = core->grid_index == 0 ? 0 : (held->now + 1) % window->buffers;
    wait_for(core, window, held, held->now);
}

/* Prepares the room of an output's new block. */
static void make_room(Core *core, const Window *window, Holding *held)
{
    wait_for(core, window, held, held->now);
    if (!window->revisit) {
        if (core->grid_index > 0)               /* a room is new in each launch */
            forget(core, window, held->now);
        return;
    }
    start(core, window, held, held->block, held->now, true);
    wait_for(core, window, held, held->now);
}

static void show(const Core *core, const Window *window, const Holding *held, PlRef *ref)
{
    uint32_t decl = window->room + held->now;
    ref[window->argument] = builder_make_ref(decl, program_decl(core->program, decl)->view, NONE);
}

/* Whole inputs come first, as index functions may read them. */
static void enter_inputs(Core *core, const Window *window, unsigned count, PlRef *ref, bool whole)
{
    for (unsigned i = 0; i < count; i++)
        if (!window[i].output && moves(&window[i]) != whole)
            fetch_ahead(core, &window[i], holding(core, i), ref);
    for (unsigned i = 0; i < count; i++)
        if (!window[i].output && moves(&window[i]) != whole) {
            enter_input(core, &window[i], holding(core, i));
            show(core, &window[i], holding(core, i), ref);
        }
}

void windows_enter(Core *core, const Window *window, unsigned count, PlRef *ref)
{
    bool begins[PL_REFS_MAX] = { false };
    if (core->grid_index == 0)
        begin_holdings(core, window, count);
    for (unsigned i = 0; i < count; i++)
        show(core, &window[i], holding(core, i), ref);
    enter_inputs(core, window, count, ref, true);
    for (unsigned i = 0; i < count; i++)
        begins[i] = window[i].output && begin_output(core, &window[i], holding(core, i), ref);
    enter_inputs(core, window, count, ref, false);
    for (unsigned i = 0; i < count; i++) {
        if (begins[i])
            make_room(core, &window[i], holding(core, i));
        show(core, &window[i], holding(core, i), ref);
    }
}

void windows_leave(Core *core, const Window *window, unsigned count)
{
    if (core->grid_index < core_grid_steps(core) - 1)
        return;
    for (unsigned i = 0; i < count; i++)
        if (window[i].output)
            start(core, &window[i], holding(core, i), holding(core, i)->block, holding(core, i)->now, false);
    for (unsigned i = 0; i < count; i++)
        for (unsigned buffer = 0; buffer < window[i].buffers; buffer++)
            wait_for(core, &window[i], holding(core, i), buffer);
}

void pl_windows_install(PlApi *api)
{
    api->windows = windows;
}
