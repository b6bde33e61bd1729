/* results.c - contents of the arrays of a program after a run, as results.h says. */
#include "results.h"
#include <glib.h>
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

static void describe(GString *head, const Program *program, const Decl *decl)
{
    g_autofree char *name = g_strescape(program_text(program, decl->name), NULL);
    g_string_append_printf(head, "{\"name\": \"%s\", \"type\": \"%s\", \"shape\": [", name, dtype_name((DType)decl->dtype));
    for (uint32_t d = 0; d < decl->ndim; d++)
        g_string_append_printf(head, "%s%" G_GINT64_FORMAT, d ? ", " : "", decl->size[d]);
    g_string_append_printf(head, "], \"input\": %s, \"units\": %u, \"opaque\": %s}", decl->input ? "true" : "false", decl->units,
                           decl->opaque ? "true" : "false");
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
        written[i] = contents->written[offset / (int64_t)item];
    }
}

void results_gather(Machine *machine, Store *out)
{
    const Program *program = machine_program(machine);
    g_autofree char *name = g_strescape(program->name, NULL);
    g_autoptr(GString) head = g_string_new(NULL);
    g_string_printf(head, "{\"format\": \"heddle-results\", \"version\": 1, \"program\": \"%s\", \"devices\": %u, \"arrays\": [", name,
                    program->devices);
    const char *comma = "";
    for (uint32_t d = 0; d < program->decls.count; d++)
        if (is_array(program_decl(program, d))) {
            g_string_append(head, comma);
            describe(head, program, program_decl(program, d));
            comma = ", ";
        }
    g_string_append(head, "]}\n");
    append(out, head->str, head->len);
    for (uint32_t d = 0; d < program->decls.count; d++) {
        const Decl *decl = program_decl(program, d);
        for (uint32_t unit = 0; is_array(decl) && !decl->opaque && unit < decl->units; unit++)
            gather(machine, decl, unit, out);
    }
}
