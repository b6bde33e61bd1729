/* buffer.c - declarations of buffers and semaphores: of the plan, or of a scope that a running kernel opens.
 *
 * A core's open scopes are a list in its arena, innermost first; each entry is allocated before its scope opens, so that the end of the
 * scope does not free it. Scratch without PL_SCOPED is detected when an outer scope or the kernel ends before it.
 */
#include "buffer.h"
#include <glib.h>
#include "../../model/input.h"
#include "../../model/machine.h"
#include "builder.h"

enum { AMONG_MAX = 1 << 20 };                   /* values of one input with a domain */
static const int64_t BYTES_MAX = INT64_C(1) << 40;
static const int64_t SEMAPHORES_MAX = INT64_C(1) << 30;         /* of a program, on all devices */

typedef struct Given { PlGiven function; uint32_t site; } Given;

static void set_size(const PlSite *here, DeclSpec *spec, int dims, const int64_t *size, const char *what)
{
    if (dims > VIEW_DIMS_MAX)
        builder_misuse(here, "%s with %d dimensions: at most %d are supported", what, dims, VIEW_DIMS_MAX);
    int64_t bytes = (int64_t)dtype_size_bytes(spec->dtype);
    for (int d = 0; d < dims; d++) {
        if (size[d] < 0)
            builder_misuse(here, "%s: dimension %d has size %lld", what, d, (long long)size[d]);
        if (__builtin_mul_overflow(bytes, size[d] > 0 ? size[d] : 1, &bytes) || bytes > BYTES_MAX)
            builder_misuse(here, "%s of more than 2^40 bytes", what);
        spec->size[d] = size[d];
    }
    spec->ndim = (unsigned)dims;
}

static PlRef open_scope(const PlSite *here, DeclSpec *spec, const char *what)
{
    Core *core = core_running;
    g_autofree char *name = g_strdup_printf("%s:%u", what + strlen("pl_"), here->line);
    spec->life = LIFE_SCOPE;
    spec->name = program_text(core->program, program_string(core->program, name));
    BuilderScope *scope = builder_new_scope(core, spec->site);
    g_clear_pointer(&name, g_free);             /* what follows may never return */
    scope->decl = core_scope_open(core, spec);
    core->open = scope;
    return builder_make_ref(scope->decl, program_decl(core->program, scope->decl)->view, NONE);
}

static PlRef declare(const PlSite *here, DeclSpec *spec, int role, const char *what)
{
    spec->site = builder_line(here);
    if (core_running != NULL && builder_function == NULL) {
        if (role != PL_ROLE_SCRATCH)
            builder_misuse(here, "%s belongs in PROGRAM", role == PL_ROLE_INPUT ? "pl_input" : "an output");
        return open_scope(here, spec, what);
    }
    Program *program = builder_of(here, what)->program;
    spec->input = role == PL_ROLE_INPUT, spec->once = role == PL_ROLE_SCRATCH;
    uint32_t decl = program_add_decl(program, spec);
    return builder_make_ref(decl, program_decl(program, decl)->view, NONE);
}

static PlRef allocate(const PlSite *here, PlSpace space, PlType type, int dims, const int64_t *size, int role)
{
    static const char *const name[] = { "pl_hbm", "pl_any", "pl_vmem", "pl_smem" };
    if ((unsigned)space >= G_N_ELEMENTS(name) || (unsigned)type >= DTYPE_COUNT)
        builder_misuse(here, "a buffer needs PL_HBM, PL_ANY, PL_VMEM or PL_SMEM and a type such as PL_F32");
    DeclSpec spec = { .space = (Space)space, .dtype = (DType)type, .life = LIFE_LAUNCHES, .collective_id = -1 };
    const char *what = role == PL_ROLE_INPUT ? "pl_input" : role == PL_ROLE_OUTPUT ? "pl_output" : name[space];
    set_size(here, &spec, dims, size, what);
    return declare(here, &spec, role, what);
}

static PlRef allocate_semaphores(const PlSite *here, PlKind kind, int dims, const int64_t *size, int role, int64_t initial)
{
    static const char *const name[] = { "pl_regular_semaphore", "pl_dma_semaphore", "pl_barrier_semaphore", "pl_flags" };
    if ((unsigned)kind >= G_N_ELEMENTS(name))
        builder_misuse(here, "a semaphore needs PL_REGULAR or PL_DMA");
    if (kind == PL_BARRIER) {
        builder_of(here, name[kind]);
        return builder_barrier_placeholder();
    }
    const Program *program = builder_program();
    DeclSpec spec = { .space = SPACE_SEMAPHORE, .semaphore_kind = (SemaphoreKind)kind, .dtype = DTYPE_I32, .initial = initial,
                      .life = kind == PL_FLAG ? LIFE_ALWAYS : LIFE_LAUNCHES, .collective_id = -1 };
    set_size(here, &spec, dims, size, name[kind]);
    if (initial < INT32_MIN || initial > INT32_MAX)
        builder_misuse(here, "flag words are 32-bit integers, %lld is not", (long long)initial);
    View whole;
    view_whole(&whole, spec.dtype, spec.ndim, spec.size);
    if (view_elements(&whole) > (SEMAPHORES_MAX - (int64_t)program->semaphores) / program->cores)
        builder_misuse(here, "%s: more than 2^30 semaphores in all", name[kind]);
    return declare(here, &spec, role, name[kind]);
}

static void scope_misuse(uint32_t site, const char *text)
{
    if (core_running != NULL)
        core_usage(core_running, site, "%s", text);
    program_set_usage_error(builder_open->program, site, "%s", text);
    siglongjmp(builder_open->unwind, 1);
}

static void scope_end(const PlRef *ref)
{
    const Program *program = builder_program();
    bool made = !builder_is_barrier_placeholder(*ref) && ref->buffer < program->decls.count;
    if (core_running == NULL)
        scope_misuse(made ? program_decl(program, ref->buffer)->site : NONE, "PL_SCOPED belongs in a KERNEL");
    BuilderScope *scope = core_running->open;
    if (!made || program_decl(program, ref->buffer)->life != LIFE_SCOPE || scope->outer == NULL)
        scope_misuse(program_launch(program, core_running->launch)->site,
                     "the launched kernel has a PL_SCOPED ref that is not new scratch: PL_SCOPED PlRef tmp = pl_vmem(...)");
    if (scope->decl != ref->buffer)
        scope_misuse(scope->site, "scratch made in a kernel needs PL_SCOPED, which ends it: PL_SCOPED PlRef tmp = pl_vmem(...)");
    core_running->open = scope->outer;
    core_scope_close(core_running, scope->decl, scope->site);
}

void builder_begin_body(Core *core)
{
    core->open = NULL;
    core->open = builder_new_scope(core, program_launch(core->program, core->launch)->site);
    core->caller = 0;
}

void builder_end_body(Core *core)
{
    const BuilderScope *scope = core->open;
    if (scope->outer != NULL)
        scope_misuse(scope->site, "scratch made in a kernel needs PL_SCOPED, which ends it: PL_SCOPED PlRef tmp = pl_vmem(...)");
}

static Decl *own_buffer(const PlSite *here, PlRef ref, const char *what)
{
    Program *program = builder_of(here, what)->program;
    Decl *decl = program_decl(program, builder_ref(here, ref, what).decl);
    if (decl->space == SPACE_SEMAPHORE)
        builder_misuse(here, "%s needs a buffer, not a semaphore", what);
    return decl;
}

static PlRef opaque(const PlSite *here, PlRef ref)
{
    own_buffer(here, ref, "pl_opaque")->opaque = true;
    return ref;
}

static PlRef constant(const PlSite *here, PlRef ref)
{
    own_buffer(here, ref, "pl_constant")->constant = true;
    return ref;
}

static PlRef named(const PlSite *here, PlRef ref, const char *name)
{
    Decl *decl = own_buffer(here, ref, "pl_named");
    decl->name = program_string(builder_open->program, name);
    return ref;
}

static bool fill_element(const Program *program, const Decl *decl, uint32_t device, int64_t element, Contents *contents)
{
    const Given *given = decl->closure;
    const View *view = program_get_view(program, decl->view);
    int64_t index[VIEW_DIMS_MAX] = { 0 }, rest = element;
    for (unsigned d = view->ndim; d-- > 0; rest /= view->size[d])
        index[d] = rest % view->size[d];
    builder_begin_function();
    double value = given->function((int)device, index);
    builder_end_function(given->site);
    void *at = contents->bytes + view_element_offset(view, element);
    if (dtype_is_float(decl->dtype))
        dtype_write_double(decl->dtype, at, value);
    else if (value >= -9007199254740992.0 && value <= 9007199254740992.0)
        dtype_write_int(decl->dtype, at, (int64_t)value);
    else
        return false;
    return true;
}

static void fill_given(Program *program, uint32_t decl_id, uint32_t device, Contents *contents)
{
    const Decl *decl = program_decl(program, decl_id);
    const Given *given = decl->closure;
    BuilderFunction called = { .program = program, .core = NONE }, *outer = builder_function;
    builder_function = &called;
    if (sigsetjmp(called.unwind, 0) == 0)
        for (int64_t i = 0, n = view_elements(program_get_view(program, decl->view)); i < n; i++)
            if (!fill_element(program, decl, device, i, contents))
                program_set_usage_error(program, given->site, "pl_fill: element %lld on device %u is not an integer below 2^53",
                                        (long long)i, device);
    builder_function = outer;
}

static PlRef fill(const PlSite *here, PlRef ref, PlGiven function)
{
    Decl *decl = own_buffer(here, ref, "pl_fill");
    if (!decl->input)
        builder_misuse(here, "pl_fill needs a pl_input: only inputs have values before the first launch");
    Given *given = program_alloc(builder_open->program, sizeof *given);
    *given = (Given){ function, builder_site(here) };
    decl->fill = fill_given, decl->closure = given;
    return ref;
}

/* ---- inputs with a domain ---- */

/* Where the values of an input with a domain begin in the program's input; all devices share them, or each has its own. */
typedef struct Among { size_t first; int64_t elements; bool same; } Among;

static int64_t among_value(const Program *program, const Among *among, uint32_t device, int64_t element)
{
    size_t at = among->first + (among->same ? 0 : device * (size_t)among->elements) + (size_t)element;
    return input_drawn(program, at)->value;
}

static void fill_among(Program *program, uint32_t decl_id, uint32_t device, Contents *contents)
{
    const Decl *decl = program_decl(program, decl_id);
    const View *view = program_get_view(program, decl->view);
    const Among *among = decl->closure;
    for (int64_t i = 0; i < among->elements; i++)
        dtype_write_int(decl->dtype, contents->bytes + view_element_offset(view, i), among_value(program, among, device, i));
}

bool builder_among(const Program *program, uint32_t decl_id, uint32_t device, int64_t element, int64_t *value)
{
    const Decl *decl = program_decl(program, decl_id);
    if (decl->fill != fill_among)
        return false;
    *value = among_value(program, decl->closure, device, element);
    return true;
}

int64_t builder_draw(const PlSite *here, const char *what, int64_t least, int64_t greatest, uint32_t table)
{
    int64_t value;
    Program *program = builder_of(here, what)->program;
    if (!input_draw(program, least, greatest, table, &value))
        builder_misuse(here, "%s: the given input says %lld, but values go from %lld to %lld", what, (long long)value, (long long)least,
                       (long long)greatest);
    return value;
}

/* The integers of a type go from `least` to `greatest`. */
static void integers_of(DType type, int64_t *least, int64_t *greatest)
{
    unsigned bits = 8 * (unsigned)dtype_size_bytes(type);
    *least = dtype_is_signed(type) ? (int64_t)(UINT64_MAX << (bits - 1)) : 0;
    *greatest = bits == 64 ? INT64_MAX : (INT64_C(1) << (dtype_is_signed(type) ? bits - 1 : bits)) - 1;
}

static PlRef among(const PlSite *here, PlRef ref, int64_t least, int64_t greatest, bool same)
{
    const char *what = same ? "pl_table_among" : "pl_input_among";
    Decl *decl = own_buffer(here, ref, what);
    Program *program = builder_open->program;
    int64_t lowest, highest;
    integers_of(decl->dtype, &lowest, &highest);
    if (dtype_is_float(decl->dtype))
        builder_misuse(here, "%s needs a type of integers, such as PL_I32", what);
    if (least > greatest || least < lowest || greatest > highest)
        builder_misuse(here, "%s: %lld to %lld is no range of %s", what, (long long)least, (long long)greatest, dtype_name(decl->dtype));
    Among *values = program_alloc(program, sizeof *values);
    *values = (Among){ program->drawn.count, view_elements(program_get_view(program, decl->view)), same };
    decl->fill = fill_among, decl->closure = values;
    int64_t count = values->elements * (same ? 1 : program->devices);
    if (count > AMONG_MAX)
        builder_misuse(here, "%s: more than %d values to choose", what, AMONG_MAX);
    for (int64_t i = 0; i < count; i++)
        builder_draw(here, what, least, greatest, ref.buffer);
    return ref;
}

void pl_buffer_install(PlApi *api)
{
    api->allocate = allocate;
    api->allocate_semaphores = allocate_semaphores;
    api->scope_end = scope_end;
    api->opaque = opaque;
    api->named = named;
    api->constant = constant;
    api->fill = fill;
    api->among = among;
}
