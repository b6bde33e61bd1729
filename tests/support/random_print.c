/* random_print.c - prints a random program as a kernel file, to find out why two searches disagree about it.
 *
 * One KERNEL for each launch, with a block for each core. What the API cannot express (a bare program, limits of scoped semaphores, opaque
 * scopes) is a comment or omitted.
 */
#include "random_program.h"

typedef struct Printer {
    const RandomProgram *random;
    GString *out;
    uint32_t core;
    unsigned depth;
} Printer;

static const struct { uint32_t bit; const char *name; } FEATURES[] = {
    { RANDOM_CORES, "cores" }, { RANDOM_BARRIERS, "barriers" }, { RANDOM_LAUNCHES, "launches" }, { RANDOM_SCOPES, "scopes" },
    { RANDOM_TIDY, "tidy" }, { RANDOM_KEEP, "keep" }, { RANDOM_ZERO, "zero" }, { RANDOM_REGULAR, "regular" },
    { RANDOM_EXEMPT, "exempt" },
    { RANDOM_MISMATCH, "mismatch" }, { RANDOM_LIMITS, "limits" }, { RANDOM_LINK_FIFO, "link-fifo" }, { RANDOM_ISSUE_ORDER, "issue-order" },
    { RANDOM_FLUID, "fluid" }, { RANDOM_STRICT, "strict" }, { RANDOM_DATA, "data" }, { RANDOM_CONFLICTS, "conflicts" },
    { RANDOM_STOPS, "stops" }, { RANDOM_HOST, "host" }, { RANDOM_FLAGS, "flags" },
};

void random_describe_features(uint32_t features, GString *out)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FEATURES); i++)
        if (features & FEATURES[i].bit)
            g_string_append_printf(out, " %s", FEATURES[i].name);
}

static const RandomThing *thing_of(const Printer *p, const RandomPlace *place)
{
    return &p->random->thing[place->thing];
}

static void line(Printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(Printer *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_string_append_printf(p->out, "%*s", (int)(4 * p->depth), "");
    g_string_append_vprintf(p->out, format, arguments);
    g_string_append_c(p->out, '\n');
    va_end(arguments);
}

static void name_thing(const Printer *p, int thing, char name[8])
{
    random_thing_name(p->random, thing, name);
}

/* The ref of a place as the core names it; `near`: a sibling's object is named by its core. */
static char *ref_of(const Printer *p, const RandomPlace *place, bool near)
{
    char name[8];
    name_thing(p, place->thing, name);
    const RandomThing *thing = thing_of(p, place);
    bool semaphore = thing->space == SPACE_SEMAPHORE, shared = thing->space == SPACE_HBM || thing->space == SPACE_ANY;
    char *ref = semaphore ? thing->kind == SEMAPHORE_BARRIER ? g_strdup(name) : g_strdup_printf("pl_at(%s, %u)", name, place->start)
        : g_strdup_printf("pl_at(%s, pl_dslice(%u, %u, %u))", name, place->start, place->count, MAX(place->stride, 1));
    uint32_t per = p->random->cores_per_device;
    if (!near || shared || place->core == p->core || place->core / per != p->core / per)
        return ref;
    char *named = g_strdup_printf("pl_core_ref(%s, %u)", ref, place->core % per);
    g_free(ref);
    return named;
}

static char *target_of(const Printer *p, uint32_t core, bool remote)
{
    uint32_t per = p->random->cores_per_device;
    if (core / per == p->core / per && !remote)
        return g_strdup_printf("pl_core(%u)", core % per);
    return g_strdup_printf("pl_device(%u, %u)", core / per, core % per);
}

static void print_copy(Printer *p, unsigned index, const RandomOp *op)
{
    g_autofree char *source = ref_of(p, &op->source, true), *target = ref_of(p, &op->at, !op->remote);
    g_autofree char *receive = ref_of(p, &op->receive, !op->remote);
    if (op->remote) {
        g_autofree char *send = ref_of(p, &op->send, true), *to = target_of(p, op->receive.core, true);
        line(p, "copy[%u] = pl_async_remote_copy(%s, %s, %s, %s, %s);", index, source, target, send, receive, to);
    } else {
        line(p, "copy[%u] = pl_async_copy(%s, %s, %s);", index, source, target, receive);
    }
}

static void print_wait(Printer *p, const RandomOp *op)
{
    g_autofree char *ref = ref_of(p, &op->at, true);
    if (op->kind == OP_WAIT_MEANT)
        line(p, "pl_api->copy_wait(PL_HERE, copy[%u], %s, true);", op->value, op->by_send ? "true, false" : "false, true");
    else if (thing_of(p, &op->at)->kind == SEMAPHORE_DMA)
        line(p, "pl_copy_wait(pl_make_async_copy(pl_at(probe, pl_ds(0, %u)), pl_at(probe, pl_ds(0, %u)), %s));", op->value, op->value, ref);
    else
        line(p, "pl_semaphore_wait(%s, %u%s);", ref, op->value, op->kind == OP_WAIT_KEEP ? ", .decrement = false" : "");
}

static void print_memory(Printer *p, const RandomOp *op)
{
    g_autofree char *ref = ref_of(p, &op->at, true);
    const char *what = op->kind == OP_LOAD ? "load" : op->kind == OP_STORE ? "store" : "swap";
    if (op->kind == OP_LOAD)
        line(p, "pl_load(%s);", ref);
    else
        line(p, "pl_%s(%s, pl_tile_full(PL_U8, %u, %u));", what, ref, op->value, op->at.count);
}

static void print_scope(Printer *p, const RandomOp *op)
{
    char name[8];
    name_thing(p, op->at.thing, name);
    if (op->kind == OP_CLOSE) {
        p->depth--;
        line(p, "}");
        return;
    }
    line(p, "{");
    p->depth++;
    line(p, "PL_SCOPED PlRef own_%s = open_%s();", name, name);
    line(p, "%s = own_%s;", name, name);
}

static void print_flag(Printer *p, const RandomOp *op)
{
    g_autofree char *word = ref_of(p, &op->at, false);
    unsigned device = op->at.core / p->random->cores_per_device;
    static const char *const COMPARE[] = { "PL_EQ", "PL_NE", "PL_GT", "PL_GE", "PL_LT", "PL_LE" };
    switch (op->kind) {
    case OP_FLAG_STORE:
        line(p, "pl_flag_store(%s, %u, pl_device(%u));", word, op->value, device);
        break;
    case OP_FLAG_ADD:
        line(p, "pl_flag_add(%s, %d, pl_device(%u));", word, op->value - op->less, device);
        break;
    case OP_FLAG_FETCH:
        line(p, "if (pl_flag_fetch_add(%s, %u, pl_device(%u)) < %u) {", word, op->value, device, op->value);
        break;
    case OP_FLAG_WAIT:
        line(p, "pl_flag_wait(%s, %s, %u, pl_device(%u));", word, COMPARE[op->compare], op->value, device);
        break;
    case OP_FLAG_POLL:
        line(p, "while (pl_flag_load(%s, pl_device(%u)) < %u) continue;", word, device, op->value);
        break;
    case OP_FLAG_LOOK:
        line(p, "if (pl_flag_load(%s, pl_device(%u)) < %u) {", word, device, op->value);
        break;
    case OP_FLAG_SWAP:
        line(p, "if (pl_flag_compare_and_swap(%s, %d, %u, pl_device(%u)) == %d) {", word, op->value - op->less, op->value, device,
             op->value - op->less);
        break;
    case OP_FLAG_LOCK:
        line(p, "while (pl_flag_compare_and_swap(%s, 0, 1, pl_device(%u)) != 0) continue;", word, device);
        break;
    default:
        g_assert_not_reached();
    }
}

static void print_rest(Printer *p, const RandomOp *op)
{
    RandomPlace at = op->at;
    if (op->kind == OP_STOP)
        at.start = thing_of(p, &at)->elements;
    g_autofree char *ref = ref_of(p, &at, true);
    switch (op->kind) {
    case OP_STEER:
        line(p, "if (pl_load_int(%s) < %u) {", ref, op->value);
        break;
    case OP_LOOK:
        line(p, "if (pl_semaphore_read(%s) < %u) {", ref, op->value);
        break;
    case OP_POLL:
        line(p, "while (pl_semaphore_read(%s) < %u) continue;", ref, op->value);
        break;
    case OP_EXPECT_COUNT:
        line(p, "pl_expect_count(%s, %u);", ref, op->value);
        break;
    case OP_STOP:
        line(p, "pl_store(%s, pl_tile_full(PL_U8, %u, %u));", ref, op->value, op->at.count);
        break;
    default:
        g_assert_not_reached();
    }
}

static void print_operation(Printer *p, unsigned index)
{
    const RandomOp *op = &p->random->op[p->core][index];
    gsize before = p->out->len;
    switch ((RandomKind)op->kind) {
    case OP_SIGNAL: {
        g_autofree char *ref = ref_of(p, &op->at, false), *to = target_of(p, op->at.core, false);
        line(p, "pl_semaphore_signal(%s, %u, %s);", ref, op->value, to);
        break;
    }
    case OP_WAIT: case OP_WAIT_KEEP: case OP_WAIT_MEANT:
        print_wait(p, op);
        break;
    case OP_LOAD: case OP_STORE: case OP_SWAP:
        print_memory(p, op);
        break;
    case OP_COPY:
        print_copy(p, index, op);
        break;
    case OP_CORE_BARRIER:
        line(p, "pl_core_barrier();");
        break;
    case OP_OPEN: case OP_CLOSE:
        print_scope(p, op);
        break;
    case OP_FLAG_STORE: case OP_FLAG_ADD: case OP_FLAG_FETCH: case OP_FLAG_WAIT: case OP_FLAG_POLL: case OP_FLAG_LOOK: case OP_FLAG_SWAP:
    case OP_FLAG_LOCK:
        print_flag(p, op);
        break;
    case OP_STEER: case OP_LOOK: case OP_POLL: case OP_EXPECT_COUNT: case OP_STOP:
        print_rest(p, op);
        break;
    }
    g_assert(p->out->len > before);
    g_string_truncate(p->out, p->out->len - 1);
    g_string_append_printf(p->out, "   /* line %u */\n", random_line(p->core, index));
}

static void print_core(Printer *p, unsigned launch)
{
    unsigned end = RANDOM_OPS_MAX;              /* of the operations that a look jumps over */
    line(p, "if (core == %u) {", p->core);
    p->depth++;
    for (unsigned i = 0; i < p->random->ops[p->core]; i++) {
        if (p->random->op[p->core][i].launch != launch)
            continue;
        print_operation(p, i);
        unsigned skip = p->random->op[p->core][i].skip;
        if (random_jumps((RandomKind)p->random->op[p->core][i].kind)) {
            if (end != RANDOM_OPS_MAX) {
                g_string_append(p->out, "/* jumps that overlap: not said here */\n");
                line(p, "}");
            }
            end = i + skip;
        }
        if (i == end) {
            line(p, "}");
            end = RANDOM_OPS_MAX;
        }
    }
    p->depth--;
    line(p, "}");
}

static bool is_argument(const Printer *p, unsigned thing, unsigned launch)
{
    const RandomThing *t = &p->random->thing[thing];
    return !t->scoped && !(t->space == SPACE_SEMAPHORE && t->kind == SEMAPHORE_BARRIER) && (t->launches >> launch & 1);
}

static void print_arguments(const Printer *p, unsigned launch)
{
    char name[8];
    for (unsigned t = 0; t < p->random->things; t++)
        if (is_argument(p, t, launch)) {
            name_thing(p, (int)t, name);
            g_string_append_printf(p->out, ", %s", name);
        }
}

static void print_kernel(Printer *p, unsigned launch)
{
    char name[8];
    g_string_append_printf(p->out, "\nKERNEL(random_%u, probe", launch);
    print_arguments(p, launch);
    g_string_append(p->out, ")\n{\n");
    p->depth = 1;
    line(p, "int core = pl_device_id() * pl_num_cores() + pl_core_index();");
    line(p, "PlCopy copy[%u] __attribute__((unused));", RANDOM_OPS_MAX);
    for (unsigned t = 0; t < p->random->things; t++) {
        const RandomThing *thing = &p->random->thing[t];
        name_thing(p, (int)t, name);
        if (thing->scoped && (thing->launches >> launch & 1))
            line(p, "PlRef %s;", name);
        if (thing->space == SPACE_SEMAPHORE && thing->kind == SEMAPHORE_BARRIER && p->random->collective[launch])
            line(p, "PlRef %s = pl_get_barrier_semaphore();", name);
    }
    for (p->core = 0; p->core < p->random->cores; p->core++)
        print_core(p, launch);
    g_string_append(p->out, "}\n");
}

static char *make_thing(const RandomThing *thing, bool scoped)
{
    static const char *const space[] = { [SPACE_HBM] = "HBM", [SPACE_ANY] = "ANY", [SPACE_VMEM] = "VMEM", [SPACE_SMEM] = "SMEM" };
    static const char *const scratch[] = { [SPACE_HBM] = "hbm", [SPACE_ANY] = "any", [SPACE_VMEM] = "vmem", [SPACE_SMEM] = "smem" };
    const char *kind = thing->kind == SEMAPHORE_DMA ? "DMA" : "REGULAR", *scratch_kind = thing->kind == SEMAPHORE_DMA ? "dma" : "regular";
    if (thing->space == SPACE_SEMAPHORE && thing->kind == SEMAPHORE_FLAG)
        return g_strdup_printf("pl_flags(%u)", thing->elements);
    if (thing->space == SPACE_SEMAPHORE)
        return scoped ? g_strdup_printf("pl_%s_semaphore(%u)", scratch_kind, thing->elements)
            : g_strdup_printf("pl_semaphore_output(PL_%s, %u)", kind, thing->elements);
    g_autofree char *made = scoped ? g_strdup_printf("pl_%s(PL_U8, %u)", scratch[thing->space], thing->elements)
        : g_strdup_printf("pl_%s_in(PL_%s, PL_U8, %u)", thing->input ? "input" : "output", space[thing->space], thing->elements);
    return thing->real || scoped ? g_steal_pointer(&made) : g_strdup_printf("pl_opaque(%s)", made);
}

static void print_launch(Printer *p, unsigned launch)
{
    const RandomProgram *random = p->random;
    if (random->host[launch]) {
        g_string_append_printf(p->out, "    pl_host(random_%u, probe", launch);
        print_arguments(p, launch);
        g_string_append(p->out, ");\n");
        return;
    }
    if (random->devices_of[launch] == (1 << random->devices) - 1) {
        g_string_append_printf(p->out, "    pl_launch(random_%u", launch);
    } else {
        g_string_append(p->out, "    pl_launch_on((pl_devices(");
        for (unsigned d = 0, given = 0; d < random->devices; d++)
            if (random->devices_of[launch] >> d & 1)
                g_string_append_printf(p->out, "%s%u", given++ ? ", " : "", d);
        g_string_append_printf(p->out, ")), random_%u", launch);
    }
    g_string_append(p->out, ", .args = {probe");
    print_arguments(p, launch);
    g_string_append_printf(p->out, "}%s%s);\n", random->collective[launch] ? ", .collective_id = 0" : "",
                           random->skip_barrier[launch] ? ", .skip_device_barrier = true" : "");
}

static void print_program(Printer *p)
{
    char name[8];
    g_string_append(p->out, "\nPROGRAM(random, \"a random program\")\n{\n    PlRef probe = pl_opaque(pl_output_in(PL_HBM, PL_U8, 64));\n");
    for (unsigned t = 0; t < p->random->things; t++) {
        const RandomThing *thing = &p->random->thing[t];
        if (thing->scoped || (thing->space == SPACE_SEMAPHORE && thing->kind == SEMAPHORE_BARRIER) || thing->launches == 0)
            continue;
        g_autofree char *made = make_thing(thing, false);
        name_thing(p, (int)t, name);
        g_string_append_printf(p->out, "    PlRef %s = %s;\n", name, made);
        if (thing->limit >= 0)
            g_string_append_printf(p->out, "    pl_limit(%s, %d);\n", name, thing->limit);
        for (unsigned id = 0; id < FAULT_COUNT; id++)
            if (thing->exempt >> id & 1)
                g_string_append_printf(p->out, "    pl_exempt(%s, (PlFault)%u, \"meant\");     /* %s */\n", name, id,
                                       fault_name((FaultId)id));
    }
    for (unsigned l = 0; l < p->random->launches; l++)
        print_launch(p, l);
    g_string_append(p->out, "}\n");
}

static void print_head(const RandomProgram *random, GString *out)
{
    static const char *const order[] = { "unordered", "link-fifo", "issue-order" };
    g_string_append_printf(out, "/* heddle check this.c -n %u --cores %u --dma-order %s --dma-progress %s --scopes %s%s%s */\n",
                           random->devices, random->cores_per_device, order[random->knobs.dma_order],
                           random->knobs.dma_progress == DMA_PROGRESS_FLUID ? "fluid" : "whole",
                           random->knobs.scopes == SCOPES_STATIC ? "static" : "strict",
                           random->knobs.at_bounds == AT_BOUNDS_STOP ? " --stop-at-bounds" : "",
                           random->bare ? "; bare: no entries and exits, everything lives always" : "");
    if (random->expects)
        g_string_append(out, "/* results are promised: the values that the first run ends with, in the first buffer */\n");
    g_string_append(out, "#include <heddle/pallas.h>\n");
}

void random_print(const RandomProgram *random, GString *out)
{
    Printer printer = { .random = random, .out = out };
    char name[8];
    print_head(random, out);
    for (int t = 0; t < random->things; t++) {
        const RandomThing *thing = &random->thing[t];
        if (!thing->scoped)
            continue;
        g_autofree char *made = make_thing(thing, true);
        name_thing(&printer, t, name);
        g_string_append_printf(out, "\nstatic PlRef open_%s(void)\n{\n    return %s;\n}\n", name, made);
        if (thing->limit >= 0)
            g_string_append_printf(out, "/* %s: counts above %d are a fault */\n", name, thing->limit);
    }
    for (unsigned l = 0; l < random->launches; l++)
        print_kernel(&printer, l);
    print_program(&printer);
}
