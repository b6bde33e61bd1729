/* final_results.c - the final contents of a class: do they meet the expectations, and do all faultless classes agree on them? */
#include "../../model/expectation.h"
#include "../../model/racing.h"
#include "class_results.h"
#include <string.h>

void final_results_check(Explorer *x)
{
    Record *record = x->results->record;
    if (x->program->expectations.count == 0 && !racing_any(x->program))
        return;
    g_mutex_lock(&x->shared->lock);             /* it runs functions of users, and adds to the program */
    g_autoptr(GArray) unmet = expectation_judge(data_machine(x->world->data));
    g_mutex_unlock(&x->shared->lock);
    for (guint i = 0; i < unmet->len; i++) {
        const Unmet *one = &g_array_index(unmet, Unmet, i);
        record_add_unmet(record, one, x->results->position[one->core]);
    }
    record->results_checked |= x->program->expectations.count > 0;
}

/* The values of one result, then for each element a bit mask of its marked bytes. */
static void append_row(GArray *row, const Contents *contents, size_t item)
{
    g_array_append_vals(row, contents->bytes, (guint)((size_t)contents->elements * item));
    for (int64_t i = 0; i < contents->elements; i++) {
        uint8_t marked = contents_marked(contents, i);
        g_array_append_val(row, marked);
    }
}

/* Do they differ in a byte that neither marks? */
static bool elements_differ(const char *a, const char *b, size_t item, char marked_a, char marked_b)
{
    bool differ = false;
    for (size_t i = 0; i < item; i++)
        differ |= a[i] != b[i] && !((marked_a | marked_b) >> i & 1);
    return differ;
}

typedef struct Difference { uint32_t object; int64_t element; const char *now, *then; } Difference;

/* Compares `then`, as keep() wrote it, with `row`, or with the machine's contents if row is NULL. */
static bool find_difference(const Program *program, Machine *machine, const char *row, const char *then, Difference *found)
{
    size_t at = 0;
    g_autoptr(GArray) own = g_array_new(FALSE, FALSE, 1);
    for (uint32_t object = 0; object < program->objects; object++) {
        const Decl *decl = program_decl(program, program_object_decl(program, object));
        if (!program_decl_is_result(decl))
            continue;
        const Contents *contents = machine_contents(machine, object);
        size_t item = dtype_size_bytes(decl->dtype), count = (size_t)contents->elements, bytes = count * item;
        const char *now = row != NULL ? row + at : (const char *)contents->bytes;
        bool differ = memcmp(now, then + at, bytes) != 0;
        g_array_set_size(own, 0);
        if (differ && row == NULL)
            append_row(own, contents, item);
        const char *marks = (row != NULL ? now : own->data) + bytes, *marks_then = then + at + bytes;
        for (size_t i = 0; differ && i < count; i++)
            if (elements_differ(now + i * item, then + at + i * item, item, marks[i], marks_then[i])) {
                *found = (Difference){ object, (int64_t)i, now + i * item, then + at + i * item };
                return true;
            }
        at += bytes + count;
    }
    return false;
}

static void tell_difference(const Program *program, Outcome *outcome, const Difference *found, GArray *moves)
{
    const Decl *decl = program_decl(program, program_object_decl(program, found->object));
    Finding *finding = finding_new(FAULT_DIVERGENCE);
    finding->object = found->object;
    finding->have = found->element;
    finding->need = (int64_t)dtype_read_int(decl->dtype, found->then);
    bool real = dtype_is_float(decl->dtype);
    double now = real ? dtype_read_double(decl->dtype, found->now) : (double)dtype_read_int(decl->dtype, found->now);
    double then = real ? dtype_read_double(decl->dtype, found->then) : (double)finding->need;
    g_autofree char *device = program_describe_device(program, program_object_device(program, found->object));
    finding->message = g_strdup_printf("element %lld of %s on %s ends as %.9g here and as %.9g in another schedule",
                                       (long long)found->element, program_text(program, decl->name), device, now, then);
    finding->moves = moves;
    g_ptr_array_add(outcome->findings, finding);
}

static void keep(Explorer *x, Machine *machine)
{
    ClassResults *results = x->results;
    results->result.bytes = g_array_new(FALSE, FALSE, 1);
    results->moves = schedule_of_record(results->record, NULL);
    for (uint32_t object = 0; object < x->program->objects; object++) {
        const Decl *decl = program_decl(x->program, program_object_decl(x->program, object));
        if (!program_decl_is_result(decl))
            continue;
        const Contents *contents = machine_contents(machine, object);
        append_row(results->result.bytes, contents, dtype_size_bytes(decl->dtype));
    }
}

void final_results_compare(Explorer *x)
{
    Machine *machine = data_machine(x->world->data);
    Result *own = &x->results->result;
    const Result *first = x->shared->first;
    if (own->diverged || first->diverged)
        return;
    if (first->bytes == NULL && own->bytes == NULL) {
        keep(x, machine);
        return;
    }
    Difference found;
    if (!find_difference(x->program, machine, NULL, first->bytes != NULL ? first->bytes->data : own->bytes->data, &found))
        return;
    tell_difference(x->program, x->outcome, &found, schedule_of_record(x->results->record, NULL));
    own->diverged = true;
}

static void drop_divergence(Outcome *outcome)
{
    for (guint i = outcome->findings->len; i-- > 0;)
        if (((const Finding *)g_ptr_array_index(outcome->findings, i))->id == FAULT_DIVERGENCE)
            g_ptr_array_remove_index(outcome->findings, i);
}

void final_results_merge(Totals *totals, Explorer *x)
{
    Result *own = &x->results->result;
    if (totals->result.diverged)
        drop_divergence(x->outcome);
    totals->result.diverged |= own->diverged;
    own->diverged = false;
    if (own->bytes == NULL)
        return;
    if (totals->result.bytes == NULL) {
        totals->result.bytes = g_steal_pointer(&own->bytes);
        g_clear_pointer(&x->results->moves, g_array_unref);
        return;
    }
    Difference found;
    if (!totals->result.diverged
        && find_difference(x->program, data_machine(x->world->data), own->bytes->data, totals->result.bytes->data, &found)) {
        tell_difference(x->program, x->outcome, &found, g_steal_pointer(&x->results->moves));
        totals->result.diverged = true;
    }
    g_clear_pointer(&own->bytes, g_array_unref);
    g_clear_pointer(&x->results->moves, g_array_unref);
}
