/* results.c - what a class hands back: the program's expectations, and the same contents as every other class without faults. */
#include "digest.h"
#include <string.h>

void digest_results(Explorer *x)
{
    Program *program = x->program;
    Record *record = x->digest->record;
    Machine *machine = data_machine(x->world->data);
    for (size_t i = 0; i < program->expectations.count; i++) {
        const Expectation *expectation = &STORE(Expectation, &program->expectations, i);
        for (uint32_t device = 0; device < program->devices; device++) {
            g_autofree char *message = NULL;
            if (expectation->holds(machine, expectation, device, &message))
                continue;
            uint32_t core = device * program->cores_per_device, position = x->digest->position[core];
            bool unwritten = message != NULL && g_str_has_prefix(message, EXPECTATION_UNWRITTEN);
            *(Raised *)store_push(&record->raised, 1) = (Raised){ .fault = unwritten ? FAULT_UNINITIALISED : FAULT_ASSERT, .core = core,
                .position = position ? position - 1 : 0, .site = expectation->site, .object = NONE, .region = NONE,
                .message = program_text(program, program_string(program, message ? message : "a result differs from the expected one")) };
        }
        record->results_checked = true;
    }
}

static void tell_difference(Explorer *x, uint32_t object, int64_t element, const char *bytes, const char *before)
{
    const Decl *decl = program_decl(x->program, program_object_decl(x->program, object));
    Finding *finding = finding_new(FAULT_DIVERGENCE);
    finding->object = object;
    finding->have = element;
    finding->need = (int64_t)dtype_read_int(decl->dtype, before);
    double now = dtype_is_float(decl->dtype) ? dtype_read_double(decl->dtype, bytes) : (double)dtype_read_int(decl->dtype, bytes);
    double then = dtype_is_float(decl->dtype) ? dtype_read_double(decl->dtype, before) : (double)finding->need;
    finding->message = g_strdup_printf("element %lld of %s on device %u ends as %.9g here and as %.9g in another schedule",
                                       (long long)element, program_text(x->program, decl->name), program_object_device(x->program, object),
                                       now, then);
    finding->moves = schedule_of_record(x->digest->record, NULL);
    g_ptr_array_add(x->outcome->findings, finding);
    x->digest->diverged = true;
}

void digest_compare(Explorer *x)
{
    Digest *digest = x->digest;
    Machine *machine = data_machine(x->world->data);
    bool first = digest->result == NULL;
    if (first)
        digest->result = g_array_new(FALSE, FALSE, 1);
    guint at = 0;
    for (uint32_t object = 0; object < x->program->objects && !digest->diverged; object++) {
        const Decl *decl = program_decl(x->program, program_object_decl(x->program, object));
        if (!program_decl_is_result(decl))
            continue;
        const Contents *contents = machine_contents(machine, object);
        size_t item = dtype_size_bytes(decl->dtype);
        guint bytes = (guint)((size_t)contents->elements * item);
        if (first)
            g_array_append_vals(digest->result, contents->bytes, bytes);
        const char *now = (const char *)contents->bytes, *then = digest->result->data + at;
        for (int64_t element = 0; element < contents->elements && !digest->diverged; element++)
            if (memcmp(now + (size_t)element * item, then + (size_t)element * item, item) != 0)
                tell_difference(x, object, element, now + (size_t)element * item, then + (size_t)element * item);
        at += bytes;
    }
}
