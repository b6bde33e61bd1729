/* promise.c - compares final contents with what a program expects, element by element, and words the first unexpected. */
#include "promise.h"
#include <glib.h>
#include <math.h>
#include <string.h>
#include "../../model/racing.h"
#include "builder.h"

static Tile *read_view(Machine *machine, uint32_t object, uint32_t view_id)
{
    const View *view = program_get_view(machine_program(machine), view_id);
    Tile *tile = tile_new(view->dtype, view->ndim, view->size, false);
    machine_read(machine, object, view_id, NULL, tile);
    return tile;
}

typedef struct Owner { uint32_t device, core; } Owner;         /* of a buffer's memory; core NONE: the whole device, or no matter which */

/* "output[1, 0, 3] on device 2", or "... on device 2 core 1" */
static char *element_text(const Program *program, uint32_t decl, uint32_t view_id, int64_t element, Owner owner)
{
    const View *view = program_get_view(program, view_id);
    int64_t index[VIEW_DIMS_MAX] = { 0 };
    for (unsigned d = view->ndim; d-- > 0; element /= view->size[d])
        index[d] = element % view->size[d];
    GString *text = g_string_new(builder_name(program, decl));
    for (unsigned d = 0; d < view->ndim; d++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, d ? ", " : "[", index[d]);
    g_autofree char *device = program_describe_device(program, owner.device);
    g_string_append_printf(text, "%s on %s", view->ndim ? "]" : "", device);
    if (owner.core != NONE && program->cores_per_device > 1)
        g_string_append_printf(text, " core %u", owner.core);
    return g_string_free(text, FALSE);
}

/* Devices that take part with `device`, by rank: all, or those along an axis. */
static uint32_t group_size(const Program *program, const PromiseCollective *c)
{
    return c->axis < 0 ? program->devices : program->mesh.size[c->axis];
}

static uint32_t group_rank(const Program *program, const PromiseCollective *c, uint32_t device)
{
    return c->axis < 0 ? device : mesh_coordinate(&program->mesh, device, (unsigned)c->axis);
}

static uint32_t member_device(const Program *program, const PromiseCollective *c, uint32_t device, uint32_t rank)
{
    uint32_t at[MESH_AXES_MAX];
    if (c->axis < 0)
        return rank;
    for (unsigned i = 0; i < program->mesh.axes; i++)
        at[i] = (int)i == c->axis ? rank : mesh_coordinate(&program->mesh, device, i);
    return mesh_device(&program->mesh, at);
}

/* Origin of an element of the input's view; origins number the elements of the whole array. */
static uint64_t input_origin(const Program *program, const PromiseCollective *c, uint32_t device, int64_t element)
{
    const Decl *decl = program_decl(program, c->input);
    if (c->input_view == decl->view)
        return tile_input_origin(device, c->input, (uint64_t)element);
    const View *view = program_get_view(program, c->input_view), *whole = program_get_view(program, decl->view);
    size_t item = dtype_size_bytes(view->dtype), cell = dtype_size_bytes(decl->dtype);
    uint64_t part[sizeof(uint64_t)];
    for (size_t b = 0; b < item; b++) {
        int64_t offset = view_byte_offset(view, element, (int64_t)b), at = 0;
        for (unsigned d = 0; d < whole->ndim; offset %= whole->stride[d++])
            at = at * whole->size[d] + offset / whole->stride[d];
        part[b] = tile_origin_part(tile_input_origin(device, c->input, (uint64_t)at), (size_t)(offset % (int64_t)cell), cell);
    }
    return tile_origin_whole(part, item);
}

/* The input element that must be at `element` of the output: of one member; for sums: of every member. */
typedef struct Due { bool sum; uint32_t rank; int64_t element; } Due;

static Due due_at(const Program *program, const PromiseCollective *c, uint32_t device, int64_t element)
{
    int64_t elements = view_elements(program_get_view(program, c->input_view)), group = group_size(program, c);
    int64_t rank = group_rank(program, c, device), block = elements / group;
    switch (c->collective) {
    case PL_COLLECTIVE_EQUAL:
        return (Due){ false, (uint32_t)rank, element };
    case PL_COLLECTIVE_PERMUTE:
        return (Due){ false, (uint32_t)(((rank - c->shift) % group + group) % group), element };
    case PL_COLLECTIVE_ALL_GATHER:
        return (Due){ false, (uint32_t)(element / elements), element % elements };
    case PL_COLLECTIVE_ALL_TO_ALL:
        return (Due){ false, (uint32_t)(element / block), rank * block + element % block };
    case PL_COLLECTIVE_ALL_REDUCE:
        return (Due){ true, 0, element };
    case PL_COLLECTIVE_REDUCE_SCATTER:
        return (Due){ true, 0, rank * block + element };
    }
    g_assert_not_reached();
}

static uint64_t due_origin(const Program *program, const PromiseCollective *c, uint32_t device, Due due)
{
    if (!due.sum)
        return input_origin(program, c, member_device(program, c, device, due.rank), due.element);
    uint64_t sum = 0;
    for (uint32_t rank = 0, n = group_size(program, c); rank < n; rank++)
        sum += input_origin(program, c, member_device(program, c, device, rank), due.element);
    return sum;
}

static char *find_in(const Program *program, const PromiseCollective *c, uint64_t origin)
{
    int64_t elements = view_elements(program_get_view(program, c->input_view));
    for (uint32_t device = 0; device < program->devices; device++)
        for (int64_t i = 0; i < elements; i++)
            if (input_origin(program, c, device, i) == origin)
                return element_text(program, c->input, c->input_view, i, (Owner){ device, NONE });
    return NULL;
}

/* The input element that has this origin, of the expected input or else of another one; NULL: there is none. */
static char *find_origin(const Program *program, const PromiseCollective *c, uint64_t origin)
{
    char *found = find_in(program, c, origin);
    for (uint32_t decl = 0; decl < program->decls.count && found == NULL; decl++) {
        const PromiseCollective other = { .input = decl, .input_view = program_decl(program, decl)->view };
        if (program_decl(program, decl)->input)
            found = find_in(program, &other, origin);
    }
    return found;
}

static char *word_sum(const Program *program, const PromiseCollective *c, uint64_t due, uint64_t found)
{
    g_autofree char *missing = find_origin(program, c, due - found), *extra = find_origin(program, c, found - due);
    if (missing != NULL)
        return g_strdup_printf("a sum that lacks %s", missing);
    return extra != NULL ? g_strdup_printf("a sum that has %s once too often", extra) : g_strdup("another sum");
}

static char *word_difference(const Program *program, const PromiseCollective *c, Owner owner, int64_t element, uint64_t found)
{
    Due due = due_at(program, c, owner.device, element);
    const Owner from = { member_device(program, c, owner.device, due.rank), NONE };
    g_autofree char *place = element_text(program, c->output, c->output_view, element, owner);
    g_autofree char *source = element_text(program, c->input, c->input_view, due.element, from);
    g_autofree char *sum = due.sum ? word_sum(program, c, due_origin(program, c, owner.device, due), found) : NULL;
    g_autofree char *other = found == 0 ? g_strdup("zero") : find_origin(program, c, found);
    if (due.sum)
        return g_strdup_printf("%s is %s, not the sum over all %u devices", place, other != NULL ? other : sum, group_size(program, c));
    return g_strdup_printf("%s is %s, not %s", place, other != NULL ? other : "something computed", source);
}

/* For an element without a known value: it is unwritten, or, as a usage error, it passed through an opaque buffer. NULL: it is known. */
static char *word_unknown(Machine *machine, uint32_t decl, uint32_t view, const Tile *tile, int64_t element, Owner owner, uint32_t site)
{
    Program *program = machine_program(machine);
    if (element_state(tile->written[element]) == ELEMENT_WRITTEN)
        return NULL;
    g_autofree char *place = element_text(program, decl, view, element, owner);
    if (element_state(tile->written[element]) == ELEMENT_UNWRITTEN)
        return g_strdup_printf(EXPECTATION_UNWRITTEN "%s", place);
    program_set_usage_error(program, site, "%s comes from an opaque buffer, so nothing can be expected of it", place);
    return g_strdup(program->usage_error);
}

typedef char *(*JudgeElement)(Machine *machine, const void *closure, const Tile *tile, int64_t element, Owner owner);

/* Elements that depend on a race are not judged; an unwritten one is, if the program exempts that race. */
static bool is_judged(const Tile *tile, int64_t element)
{
    uint8_t marks = element_marks(tile->written[element]);
    return marks == 0 || (marks == ELEMENT_EXEMPT && element_state(tile->written[element]) == ELEMENT_UNWRITTEN);
}

/* The first unexpected element, an unwritten one if there is any; without a message: none. */
static void judge_elements(Machine *machine, const void *closure, const Tile *tile, Owner owner, JudgeElement judge,
                           Unexpected *unexpected)
{
    int64_t i = 0;
    char **message = &unexpected->message;
    *message = NULL;
    while (i < tile->elements && (!is_judged(tile, i) || (*message = judge(machine, closure, tile, i, owner)) == NULL))
        i++;
    unexpected->element = i;
    for (; i < tile->elements && !g_str_has_prefix(*message, EXPECTATION_UNWRITTEN); i++) {
        bool nobody = element_state(tile->written[i]) == ELEMENT_UNWRITTEN && is_judged(tile, i);
        char *unwritten = nobody ? judge(machine, closure, tile, i, owner) : NULL;
        if (unwritten != NULL) {
            g_free(*message);
            *message = unwritten, unexpected->element = i;
        }
    }
}

static void tell_reached(Machine *machine, uint32_t site, const Tile *tile, uint32_t device)
{
    uint8_t marks = 0;
    for (int64_t i = 0; i < tile->elements; i++)
        marks |= element_marks(tile->written[i]);
    if (marks != 0)
        racing_reach(machine_program(machine), REACH_EXPECTATION, device, site, marks);
}

static char *judge_origin(Machine *machine, const void *closure, const Tile *tile, int64_t element, Owner owner)
{
    const PromiseCollective *c = closure;
    const Program *program = machine_program(machine);
    char *unknown = word_unknown(machine, c->output, c->output_view, tile, element, owner, c->site);
    Due due = due_at(program, c, owner.device, element);
    if (unknown != NULL || tile->origin[element] == due_origin(program, c, owner.device, due))
        return unknown;
    return word_difference(program, c, owner, element, tile->origin[element]);
}

/* The index of the core whose memory it is; NONE: it belongs to the whole device. */
static uint32_t core_of(const Program *program, uint32_t decl, uint32_t object)
{
    const Decl *d = program_decl(program, decl);
    return program_decl_of_cores(d) ? (object - d->first_object) % program->cores_per_device : NONE;
}

static bool judge_collective(Machine *machine, const void *closure, uint32_t object, uint32_t device, Unexpected *unexpected)
{
    const PromiseCollective *c = closure;
    Tile *tile = read_view(machine, object, c->output_view);
    tell_reached(machine, c->site, tile, device);
    unexpected->object = object, unexpected->view = c->output_view;
    judge_elements(machine, c, tile, (Owner){ device, core_of(machine_program(machine), c->output, object) }, judge_origin, unexpected);
    tile_free(tile);
    return unexpected->message == NULL;
}

typedef bool (*JudgeObject)(Machine *machine, const void *closure, uint32_t object, uint32_t device, Unexpected *unexpected);

/* Memory that belongs to a core is judged on each core. */
static bool judge_device(Machine *machine, const void *closure, uint32_t decl, uint32_t device, Unexpected *unexpected, JudgeObject judge)
{
    const Program *program = machine_program(machine);
    uint32_t first, last, cores = program->cores_per_device;
    if (!program_decl_launches(program, decl, device, &first, &last))
        return true;                            /* no launch on this device uses it */
    for (uint32_t i = 0; i < (program_decl_of_cores(program_decl(program, decl)) ? cores : 1); i++)
        if (!judge(machine, closure, program_object(program, decl, device * cores + i), device, unexpected))
            return false;
    return true;
}

bool promise_collective(Machine *machine, const Expectation *expectation, uint32_t device, Unexpected *unexpected)
{
    const PromiseCollective *c = expectation->closure;
    return judge_device(machine, c, c->output, device, unexpected, judge_collective);
}

static bool same_value(double found, double due, double tolerance)
{
    return isnan(due) || found == due || fabs(found - due) <= tolerance * fmax(1, fabs(due));
}

static double call_function(const PromiseValues *values, uint32_t device, const int64_t *index)
{
    builder_begin_function();
    double due = values->function(values->ref, (int)device, index);
    builder_end_function(values->site);
    return due;
}

/* wanted: what the function's result is in place of; NULL: there is a function. */
typedef struct Judging { const PromiseValues *values; Tile *wanted; } Judging;

static double value_at(const Tile *tile, int64_t element)
{
    return dtype_read_double(tile->dtype, tile->bytes + (size_t)element * dtype_size_bytes(tile->dtype));
}

static char *judge_value(Machine *machine, const void *closure, const Tile *tile, int64_t element, Owner owner)
{
    const Judging *judging = closure;
    const PromiseValues *values = judging->values;
    int64_t index[VIEW_DIMS_MAX] = { 0 }, rest = element;
    for (unsigned d = tile->ndim; d-- > 0; rest /= tile->size[d])
        index[d] = rest % tile->size[d];
    if (judging->wanted != NULL && element_state(judging->wanted->written[element]) != ELEMENT_WRITTEN)
        return g_strdup("nobody wrote what is expected");
    double due = judging->wanted == NULL ? call_function(values, owner.device, index) : value_at(judging->wanted, element);
    if (isnan(due))
        return NULL;
    char *unknown = word_unknown(machine, values->output, values->output_view, tile, element, owner, values->site);
    if (unknown != NULL)
        return unknown;
    g_autofree char *place = element_text(machine_program(machine), values->output, values->output_view, element, owner);
    double found = value_at(tile, element);
    return same_value(found, due, values->tolerance) ? NULL : g_strdup_printf("%s is %.9g, not %.9g", place, found, due);
}

static bool judge_values(Machine *machine, const void *closure, uint32_t object, uint32_t device, Unexpected *unexpected)
{
    const PromiseValues *values = closure;
    Program *program = machine_program(machine);
    BuilderFunction called = { .program = program, .core = core_of(program, values->output, object) }, *outer = builder_function;
    Tile *tile = read_view(machine, object, values->output_view);
    const uint32_t core = device * program->cores_per_device;
    const Judging judging = { values, values->function ? NULL : read_view(machine, program_object(program, values->ref[0].buffer, core),
                                                                          values->ref[0].view) };
    tell_reached(machine, values->site, tile, device);
    builder_function = &called;
    unexpected->object = object, unexpected->view = values->output_view;
    if (sigsetjmp(called.unwind, 0) == 0)
        judge_elements(machine, &judging, tile, (Owner){ device, called.core }, judge_value, unexpected);
    else
        unexpected->message = g_strdup(called.program->usage_error);       /* misuse in the author's function */
    builder_function = outer;
    if (called.given != NULL)
        machine_free(called.given);
    tile_free(judging.wanted);
    tile_free(tile);
    return unexpected->message == NULL;
}

bool promise_values(Machine *machine, const Expectation *expectation, uint32_t device, Unexpected *unexpected)
{
    const PromiseValues *values = expectation->closure;
    return judge_device(machine, values, values->output, device, unexpected, judge_values);
}

double promise_given(const PlSite *here, PlRef ref, int64_t device, int dims, const int64_t *index)
{
    bool planning = builder_function == NULL && core_running == NULL;
    if (builder_function == NULL && !planning)
        builder_misuse(here, "pl_given belongs in PROGRAM and in functions of expected values");
    Program *program = builder_program();
    const View *view = builder_view(here, ref, "pl_given");
    const Decl *decl = program_decl(program, ref.buffer);
    if (!decl->input || decl->opaque || device < 0 || device >= program->devices || dims != (int)view->ndim)
        builder_misuse(here, "pl_given needs a real pl_input, a device and %u indices", view->ndim);
    int64_t element = 0;
    for (int d = 0; d < dims; d++) {
        if (index[d] < 0 || index[d] >= view->size[d])
            builder_misuse(here, "pl_given: index %lld of dimension %d, whose size is %lld", (long long)index[d], d,
                        (long long)view->size[d]);
        element = element * view->size[d] + index[d];
    }
    if (!view_element_inside(view, element))
        builder_misuse(here, "pl_given: an element outside of %s", builder_name(program, ref.buffer));
    int64_t drawn;
    if (ref.view == decl->view && builder_among(program, ref.buffer, (uint32_t)device, element, &drawn))
        return (double)drawn;
    if (planning)
        builder_misuse(here, "pl_given: PROGRAM knows only whole inputs made by pl_input_among and pl_table_among");
    if (builder_function->given == NULL)
        builder_function->given = machine_new(program);
    uint32_t object = program_object(program, ref.buffer, (uint32_t)device * program->cores_per_device);
    const Contents *contents = machine_contents(builder_function->given, object);
    unsigned char value[sizeof(double)];
    for (size_t b = 0; b < dtype_size_bytes((DType)view->dtype); b++)
        value[b] = contents->bytes[view_byte_offset(view, element, (int64_t)b)];
    return dtype_read_double((DType)view->dtype, value);
}
