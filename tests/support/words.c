/* words.c - the generator, and the kernel body that runs the lists. */
#include "words.h"
#include "../../model/rng.h"

static WordsKind pick_kind(Rng *rng, WordsMix mix)
{
    static const uint8_t PURE[] = { WORDS_LOAD, WORDS_LOAD, WORDS_STORE, WORDS_STORE, WORDS_ADD, WORDS_ADD, WORDS_FETCH_ADD, WORDS_SWAP,
                                    WORDS_SWAP, WORDS_WAIT, WORDS_WAIT };
    static const uint8_t POLLING[] = { WORDS_POLL, WORDS_LOCK, WORDS_STORE, WORDS_ADD };
    static const uint8_t ALL[] = { WORDS_SIGNAL, WORDS_SIGNAL, WORDS_TAKE, WORDS_TAKE, WORDS_KEEP, WORDS_READ, WORDS_EXPECT, WORDS_COPY,
                                   WORDS_COPY, WORDS_TAKE_COPY, WORDS_RD, WORDS_WR, WORDS_WR };
    unsigned dice = (unsigned)rng_below(rng, 100);
    if (mix == WORDS_ALL && dice < 65)
        return ALL[rng_below(rng, G_N_ELEMENTS(ALL))];
    if (mix == WORDS_POLLING && dice < 45)
        return POLLING[rng_below(rng, G_N_ELEMENTS(POLLING))];
    return PURE[rng_below(rng, G_N_ELEMENTS(PURE))];
}

static WordsOp make_op(Rng *rng, WordsMix mix, unsigned cores)
{
    WordsOp op = { .kind = (uint8_t)pick_kind(rng, mix), .value = (int8_t)rng_below(rng, 3), .other = (int8_t)rng_below(rng, 3),
                   .skip = (uint8_t)(1 + rng_below(rng, 2)), .compare = (uint8_t)rng_below(rng, 6) };
    op.at = (uint8_t)(op.kind <= WORDS_LOCK ? rng_below(rng, WORDS_MAX) : rng_below(rng, cores));
    if (op.kind == WORDS_ADD && op.value == 0)
        op.value = rng_below(rng, 3) ? 1 : -1;
    if (op.kind <= WORDS_LOCK && op.at == 0) {
        op.kind = rng_below(rng, 2) ? WORDS_ADD : WORDS_WAIT;
        op.compare = COMPARE_GE, op.value = (int8_t)(1 + rng_below(rng, 2));
    }
    if (op.kind == WORDS_POLL)
        op.value = (int8_t)(1 + rng_below(rng, 2));
    if (op.kind >= WORDS_SIGNAL && op.kind <= WORDS_EXPECT)
        op.value = (int8_t)(1 + rng_below(rng, 2));
    return op;
}

void words_generate(Words *words, uint64_t seed, WordsMix mix, unsigned ops)
{
    *words = (Words){ .seed = seed };
    Rng rng;
    rng_init(&rng, seed);
    words->cores = 2 + (unsigned)rng_below(&rng, WORDS_CORES_MAX - 1);
    for (unsigned i = 0; i < ops; i++) {
        unsigned core = (unsigned)rng_below(&rng, words->cores);
        if (words->ops[core] == WORDS_OPS_MAX)
            continue;
        WordsOp op = make_op(&rng, mix, words->cores);
        words->polls |= op.kind == WORDS_POLL || op.kind == WORDS_LOCK;
        words->op[core][words->ops[core]++] = op;
    }
}

bool words_jumps(const WordsOp *op)
{
    return op->kind == WORDS_LOAD || op->kind == WORDS_FETCH_ADD || op->kind == WORDS_SWAP || op->kind == WORDS_READ;
}

static Ref element(const Core *core, uint32_t decl, int index)
{
    const ViewIndex at = { .start = index, .size = 1, .stride = 1, .is_index = true };
    const char *why = NULL;
    View view;
    bool fine = view_at(&view, program_get_view(core->program, program_decl(core->program, decl)->view), 1, &at, &why);
    g_assert(fine);
    return (Ref){ decl, program_view(core->program, &view), NONE };
}

static Ref of_core(const Core *core, uint32_t decl, unsigned whose)
{
    return (Ref){ decl, program_decl(core->program, decl)->view, whose == core->index ? NONE : whose };
}

static const Target HOME = { NONE, 0 };

/* An operation on a word: should it jump? */
static bool do_word(Core *core, uint32_t site, const Words *words, const WordsOp *op)
{
    Ref word = element(core, words->word, op->at);
    switch (op->kind) {
    case WORDS_LOAD:
        return core_flag_load(core, site, word, HOME) >= op->value;
    case WORDS_STORE:
        core_flag_store(core, site, word, HOME, op->value);
        return false;
    case WORDS_ADD:
        core_flag_add(core, site, word, HOME, op->value, false);
        return false;
    case WORDS_FETCH_ADD:
        return core_flag_add(core, site, word, HOME, 1, true) >= op->value;
    case WORDS_SWAP:
        return core_flag_compare_and_swap(core, site, word, HOME, op->value, op->other) != op->value;
    case WORDS_WAIT:
        core_flag_wait(core, site, word, HOME, (Compare)op->compare, op->value);
        return false;
    case WORDS_POLL:
        while (core_flag_load(core, site, word, HOME) < op->value)
            ;
        return false;
    case WORDS_LOCK:
        while (core_flag_compare_and_swap(core, site, word, HOME, 0, 1) != 0)
            ;
        return false;
    default:
        g_assert_not_reached();
    }
}

static CopyDesc describe_copy(const Core *core, const Words *words, const WordsOp *op)
{
    return (CopyDesc){ .source = of_core(core, words->slot, core->index), .target = of_core(core, words->slot, op->at),
                       .receive = of_core(core, words->dma, (unsigned)op->other % words->cores), .send = { NONE, NONE, NONE },
                       .to = { NONE, NONE }, .core = NONE, .ordinal = NONE };
}

static void *alloc_tile(void *core, size_t bytes)
{
    return core_alloc(core, bytes);
}

static void do_memory(Core *core, uint32_t site, const Words *words, const WordsOp *op)
{
    Ref slot = of_core(core, words->slot, op->at);
    const View *view = program_get_view(core->program, slot.view);
    Tile tile;
    if (op->kind == WORDS_RD) {
        core_load(core, site, slot, NULL, &tile);
        return;
    }
    tile_init(&tile, view->dtype, view->ndim, view->size, true, alloc_tile, core);
    core_store(core, site, slot, NULL, &tile);
}

static bool do_rest(Core *core, uint32_t site, const Words *words, const WordsOp *op)
{
    Ref semaphore = of_core(core, words->semaphore, op->at);
    CopyDesc copy;
    switch (op->kind) {
    case WORDS_SIGNAL:
        core_signal(core, site, semaphore, op->value, (Target){ NONE, op->at });
        return false;
    case WORDS_TAKE: case WORDS_KEEP:
        core_wait(core, site, semaphore, op->value, op->kind == WORDS_TAKE);
        return false;
    case WORDS_READ:
        return core_semaphore_read(core, site, semaphore) >= op->value;
    case WORDS_EXPECT:
        core_expect_count(core, site, semaphore, op->value);
        return false;
    case WORDS_COPY:
        copy = describe_copy(core, words, op);
        if (op->at != core->index)
            core_copy_start(core, site, &copy);
        return false;
    case WORDS_TAKE_COPY:
        copy = describe_copy(core, words, op);
        core_copy_wait(core, site, &copy, COPY_WAIT_RECEIVE, false);
        return false;
    default:
        do_memory(core, site, words, op);
        return false;
    }
}

static void run_body(Core *core, const Launch *launch)
{
    const Words *words = launch->closure;
    for (unsigned i = 0; i < words->ops[core->id]; i++) {
        const WordsOp *op = &words->op[core->id][i];
        uint32_t site = program_site(core->program, "words", "words", core->id * 1000 + i + 1, 0);
        bool jumps = op->kind <= WORDS_LOCK ? do_word(core, site, words, op) : do_rest(core, site, words, op);
        if (jumps)
            i += op->skip;
    }
}

static uint32_t declare(Program *program, Space space, SemaphoreKind kind, uint32_t count, const char *name)
{
    bool semaphore = space == SPACE_SEMAPHORE;
    const DeclSpec spec = { .space = space, .semaphore_kind = kind, .dtype = semaphore ? DTYPE_I32 : DTYPE_U8, .life = LIFE_ALWAYS,
                            .ndim = count ? 1 : 0, .size = { count }, .opaque = !semaphore, .collective_id = -1, .name = name };
    return program_add_decl(program, &spec);
}

Program *words_build(Words *words, const Knobs *knobs)
{
    Mesh mesh;
    mesh_line(&mesh, 1);
    Program *program = words->program = program_new(&mesh, words->cores, knobs);
    program->bare = true;
    words->word = declare(program, SPACE_SEMAPHORE, SEMAPHORE_FLAG, WORDS_MAX, "word");
    words->semaphore = declare(program, SPACE_SEMAPHORE, SEMAPHORE_REGULAR, 0, "semaphore");
    words->dma = declare(program, SPACE_SEMAPHORE, SEMAPHORE_DMA, 0, "dma");
    words->slot = declare(program, SPACE_VMEM, 0, 2, "slot");
    Launch *launch = program_add_launch(program);
    launch->body = run_body, launch->closure = words;
    return program;
}

char *words_text(const Words *words)
{
    static const char *const NAME[] = { "load", "store", "add", "fetch-add", "swap", "wait", "poll", "lock", "signal", "take", "keep",
                                        "read", "expect", "copy", "take-copy", "rd", "wr" };
    static const char *const COMPARE[] = { "==", "!=", ">", ">=", "<", "<=" };
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "seed %" G_GUINT64_FORMAT "\n", words->seed);
    for (unsigned c = 0; c < words->cores; c++) {
        g_string_append_printf(text, "core %u:", c);
        for (unsigned i = 0; i < words->ops[c]; i++) {
            const WordsOp *op = &words->op[c][i];
            g_string_append_printf(text, "  %s %u %d", NAME[op->kind], op->at, op->value);
            if (op->kind == WORDS_WAIT)
                g_string_append_printf(text, " %s", COMPARE[op->compare]);
            if (op->kind == WORDS_SWAP || op->kind == WORDS_COPY)
                g_string_append_printf(text, " %d", op->other);
            if (words_jumps(op))
                g_string_append_printf(text, " skip %u", op->skip);
            g_string_append_c(text, ';');
        }
        g_string_append_c(text, '\n');
    }
    return g_string_free(text, FALSE);
}
