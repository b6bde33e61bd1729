/* results.c - gathers the contents of a program's arrays after a run. */
#include "results.h"
#include "../facts/members.h"
#include <string.h>

static bool is_array(const Decl *decl)
{
    return decl->life == LIFE_LAUNCHES && !decl->once && decl->space != SPACE_SEMAPHORE;
}

static void append(Store *out, const void *bytes, size_t count)
{
    if (count > 0)
        memcpy(store_push(out, count), bytes, count);
}

static void describe(JsonBuilder *builder, const Program *program, const Decl *decl)
{
    json_builder_begin_object(builder);
    member_text(builder, "name", program_text(program, decl->name));
    member_text(builder, "type", dtype_name((DType)decl->dtype));
    member_array(builder, "shape");
    for (uint32_t d = 0; d < decl->ndim; d++)
        json_builder_add_int_value(builder, decl->size[d]);
    json_builder_end_array(builder);
    member_bool(builder, "input", decl->input);
    member_int(builder, "units", decl->units);
    member_bool(builder, "opaque", decl->opaque);
    json_builder_end_object(builder);
}

/* In row-major order of the array's own shape: objects may be padded. */
static void gather(Machine *machine, const Decl *decl, uint32_t unit, Store *out)
{
    const Contents *contents = machine_contents(machine, decl->first_object + unit);
    const View *view = program_get_view(machine_program(machine), decl->view);
    int64_t elements = view_elements(view);
    size_t item = dtype_size_bytes((DType)decl->dtype);
    unsigned char *bytes = store_push(out, (size_t)elements * (item + 1)), *written = bytes + (size_t)elements * item;
    for (int64_t i = 0; i < elements; i++) {
        int64_t offset = view_element_offset(view, i);
        memcpy(bytes + (size_t)i * item, contents->bytes + offset, item);
        written[i] = element_state(contents_state(contents, offset / (int64_t)item, contents_mask(item)));
    }
}

void results_gather(Machine *machine, Store *out)
{
    const Program *program = machine_program(machine);
    JsonBuilder *builder = json_builder_new();
    json_builder_begin_object(builder);
    member_text(builder, "format", "heddle-results");
    member_int(builder, "version", 1);
    member_text(builder, "program", program->name);
    member_int(builder, "devices", program->devices);
    member_array(builder, "arrays");
    for (uint32_t d = 0; d < program->decls.count; d++)
        if (is_array(program_decl(program, d)))
            describe(builder, program, program_decl(program, d));
    json_builder_end_array(builder);
    g_autofree char *head = members_finish(builder, false);
    append(out, head, strlen(head));
    append(out, "\n", 1);
    for (uint32_t d = 0; d < program->decls.count; d++) {
        const Decl *decl = program_decl(program, d);
        for (uint32_t unit = 0; is_array(decl) && !decl->opaque && unit < decl->units; unit++)
            gather(machine, decl, unit, out);
    }
}
