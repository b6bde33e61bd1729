/* repairs_names.c - another device, slot, semaphore or count at one place.
 *
 * Another slot of data changes what is computed: it is offered only where results are compared, or where the place is outside.
 */
#include "repairs.h"
#include <string.h>

static bool data_is_checked(const Repairs *r)
{
    return r->program->expectations.count > 0;
}

static bool is_known(const GArray *relations, const uint32_t *target)
{
    for (guint i = 0; i < relations->len; i++)
        if (memcmp(g_array_index(relations, Relation, i).target, target, sizeof(uint32_t[WHATIF_CORES_MAX])) == 0)
            return true;
    return false;
}

static void add_neighbour(const Repairs *r, GArray *relations, int64_t away, const char *words)
{
    Relation relation = { .words = words };
    const Program *program = r->program;
    for (uint32_t core = 0; core < WHATIF_CORES_MAX; core++) {
        int64_t device = ((int64_t)(core / program->cores_per_device) + away + program->devices) % program->devices;
        uint32_t same = (uint32_t)device * program->cores_per_device + core % program->cores_per_device;
        relation.target[core] = core < program->cores ? same : NONE;
    }
    if (!is_known(relations, relation.target))
        g_array_append_val(relations, relation);
}

GArray *repairs_relations(const Repairs *r)
{
    GArray *relations = g_array_new(FALSE, FALSE, sizeof(Relation));
    add_neighbour(r, relations, 1, "the right neighbour (device id + 1)");
    add_neighbour(r, relations, -1, "the left neighbour (device id - 1)");
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        if (!op->sends || op->varies || is_known(relations, op->target))
            continue;
        g_autofree char *place = op_place(op), *words = g_strdup_printf("the device that %s names", place);
        Relation relation = { .words = g_intern_string(words) };
        memcpy(relation.target, op->target, sizeof relation.target);
        g_array_append_val(relations, relation);
    }
    return relations;
}

static Edit *begin_device(Repairs *r, Change *change, const Op *op, const char *to)
{
    g_autofree char *words = op_words(op), *place = op_place(op);
    change_begin(change, r->result);
    change_say(change, "with the %s at %s sent to %s", words, place, to);
    change->changed = 1;
    Edit *edit = change_add(change, EDIT_DEVICE);
    edit->where = op_where(op);
    return edit;
}

static bool differs(const Op *op, const Relation *relation)
{
    for (uint32_t core = 0; core < WHATIF_CORES_MAX; core++)
        if (op->target[core] != NONE && relation->target[core] != NONE && op->target[core] != relation->target[core])
            return true;
    return false;
}

bool relation_stays(const Relation *relation, const Op *op)
{
    for (uint32_t core = 0; core < WHATIF_CORES_MAX; core++)
        if ((op == NULL || op->target[core] != NONE) && relation->target[core] != NONE && relation->target[core] != core)
            return false;
    return true;
}

static bool try_devices(Repairs *r, const Op *op, const GArray *relations)
{
    static const struct { int64_t by; const char *words; } shifted[] = { { -1, "the device one less" }, { 1, "the device one more" } };
    Change change;
    for (guint k = 0; k < relations->len && !op->varies; k++) {
        const Relation *relation = &g_array_index(relations, Relation, k);
        bool says_nothing = op->kind != STEP_COPY_START && relation_stays(relation, op);        /* a word to oneself */
        if (!differs(op, relation) || says_nothing)
            continue;
        begin_device(r, &change, op, relation->words)->target = relation->target;
        if (repairs_try(r, &change))
            return true;
    }
    for (guint k = 0; k < G_N_ELEMENTS(shifted) && r->program->devices > 2; k++) {
        begin_device(r, &change, op, shifted[k].words)->value = shifted[k].by;
        if (repairs_try(r, &change))
            return true;
    }
    return false;
}

/* Of a flag that a core stores for itself no other device is meant. */
static bool goes_elsewhere(const Op *op)
{
    for (uint32_t core = 0; core < WHATIF_CORES_MAX; core++)
        if (op->target[core] != NONE && op->target[core] != core)
            return true;
    return op->sends && op->kind == STEP_SIGNAL;
}

/* Where data goes is changed only if results are compared, or if arrivals are missing here and left over there. */
void repairs_devices(Repairs *r)
{
    const unsigned counts = 1u << FAULT_DEADLOCK | 1u << FAULT_LEFTOVER;
    bool miscounts = (r->faults & counts) == counts;
    g_autoptr(GArray) relations = repairs_relations(r);
    for (guint i = 0; i < r->ops->len && r->program->devices > 1; i++) {
        const Op *op = repairs_op(r, i);
        bool signals = op->kind == STEP_SIGNAL || op->kind == STEP_FLAG_STORE || op->kind == STEP_FLAG_ADD;
        if (signals ? goes_elsewhere(op) : op->sends && (data_is_checked(r) || miscounts))
            try_devices(r, op, relations);
    }
}

static void try_count(Repairs *r, const Op *op, int64_t by)
{
    int64_t now = op_sets_flag(op) ? (int32_t)op->value + by : (int64_t)op->value + by;
    g_autofree char *place = op_place(op);
    const char *what = op->kind == STEP_SIGNAL ? "signal of" : op->kind == STEP_FLAG_STORE ? "store of" : "wait for";
    if (op_sets_flag(op) ? flag_makes_no_sense(op, now) : now < 1)
        return;
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with a %s %" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT " on %s at %s", what, now, now - by, op->semaphore,
               place);
    Edit *edit = change_add(&change, EDIT_COUNT);
    edit->where = op_where(op), edit->times = 1, edit->value = by;
    change.changed = 1;
    repairs_try(r, &change);
}

void repairs_counts(Repairs *r)
{
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        bool counts = op->kind == STEP_SIGNAL || op_sets_flag(op) || step_is_semaphore_wait(op->kind);
        if (counts && op->semaphore_kind != SEMAPHORE_DMA)
            for (int64_t by = -1; by <= 1; by += 2)
                try_count(r, op, by);
    }
}

/* `of`: "the source", the name of a buffer or semaphore. */
static bool try_slot(Repairs *r, EditWhere where, EditName name, unsigned dim, int64_t by, const char *of)
{
    const Edit edit = { .kind = EDIT_SLOT, .where = where, .name = (uint8_t)name, .dim = (uint8_t)dim, .value = by };
    g_autofree char *variable = NULL;
    unsigned defined = diff_find_ref(r, &edit, &variable);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with the index of %s one %s", variable ? variable : of, by < 0 ? "less" : "more");
    if (dim > 0)
        change_say(&change, " in the next dimension");
    change_say(&change, " at %s:%u", where.file, defined ? defined : where.line);
    if (defined != 0) {
        change.file = where.file, change.line = defined, change.variable = variable;
        diff_add_users(r, &change, &edit, where.file, defined, variable);
    }
    if (change.count == 0)
        *change_add(&change, EDIT_SLOT) = edit;
    change.changed = 1;
    return repairs_try(r, &change);
}

static EditWhere at_making(const char *file, unsigned line)
{
    return (EditWhere){ .step = EDIT_ANY_STEP, .made = true, .file = file, .line = line };
}

/* The semaphores of a copy are named where it is made, for its start and its waits. */
static bool try_slots_of_semaphores(Repairs *r, const char *file, unsigned made, int64_t by)
{
    return made != 0 && (try_slot(r, at_making(file, made), EDIT_NAMES_RECEIVE, 0, by, "the receive semaphore")
                         || try_slot(r, at_making(file, made), EDIT_NAMES_SEND, 0, by, "the send semaphore"));
}

static bool try_slots_of_data(Repairs *r, const char *file, unsigned made, unsigned dim, int64_t by)
{
    return made != 0 && (try_slot(r, at_making(file, made), EDIT_NAMES_SOURCE, dim, by, "the source")
                         || try_slot(r, at_making(file, made), EDIT_NAMES_TARGET, dim, by, "the target"));
}

static void try_slots(Repairs *r, const Op *op)
{
    unsigned made = op->semaphore_kind == SEMAPHORE_DMA && op->semaphore ? diff_find_made(r, op->file, op->line) : 0;
    for (unsigned dim = 0; dim < 2; dim++)
        for (int64_t by = -1; by <= 1; by += 2) {
            bool copies = op->kind == STEP_COPY_START && data_is_checked(r) && try_slots_of_data(r, op->file, made, dim, by);
            bool slots = op->elements > 1 && dim == 0, own = slots && made == 0;
            bool counts = (slots && try_slots_of_semaphores(r, op->file, made, by))
                || (own && try_slot(r, op_where(op), EDIT_NAMES_REF, 0, by, op->semaphore));
            bool data = op->buffer != NULL && data_is_checked(r) && try_slot(r, op_where(op), EDIT_NAMES_REF, dim, by, op->buffer);
            if (copies || counts || data)
                return;
        }
}

void repairs_slots(Repairs *r)
{
    for (unsigned blamed = 2; blamed-- > 0;)
        for (guint i = 0; i < r->ops->len; i++) {
            const Op *op = repairs_op(r, i);
            if (op->blamed == blamed)
                try_slots(r, op);
        }
}

static void try_exchange(Repairs *r, const char *file, unsigned made)
{
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with send and receive semaphore exchanged in the copy made at %s:%u", file, made);
    change_add(&change, EDIT_EXCHANGE)->where = at_making(file, made);
    change.changed = 1;
    repairs_try(r, &change);
}

static void try_other(Repairs *r, const Op *op, const char *semaphore)
{
    g_autofree char *words = op_words(op), *place = op_place(op);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with %s instead of %s in the %s at %s", semaphore, op->semaphore, words, place);
    Edit *edit = change_add(&change, EDIT_REFER);
    edit->where = op_where(op), edit->where.semaphore = NULL, edit->semaphore.name = semaphore;
    change.changed = 1;
    repairs_try(r, &change);
}

static bool are_alike(const Op *one, const Op *other)
{
    bool flags = one->semaphore_kind == SEMAPHORE_FLAG, other_flags = other->semaphore_kind == SEMAPHORE_FLAG;
    return flags == other_flags && other->semaphore_kind != SEMAPHORE_DMA && one->elements == other->elements;
}

static void try_others(Repairs *r, const Op *op)
{
    const char *last = op->semaphore;
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *other = repairs_op(r, i);
        if (!op->stuck && !other->stuck)
            continue;
        if (other->semaphore == NULL || other->semaphore == last || other->semaphore == op->semaphore || other->scoped
            || !are_alike(op, other))
            continue;
        try_other(r, op, other->semaphore);
        last = other->semaphore;
    }
}

void repairs_semaphores(Repairs *r)
{
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        if (op->semaphore == NULL)
            continue;
        unsigned made = op->semaphore_kind == SEMAPHORE_DMA ? diff_find_made(r, op->file, op->line) : 0;
        if (made != 0)
            try_exchange(r, op->file, made);
        else if (op->semaphore_kind != SEMAPHORE_DMA && !op->scoped)
            try_others(r, op);
    }
}

static void try_guard(Repairs *r, const Site *site)
{
    const char *file = program_text(r->program, site->file);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with a guard at %s:%u: nothing where the index is outside", file, site->line);
    change_add(&change, EDIT_GUARD)->where = (EditWhere){ .step = EDIT_ANY_STEP, .file = file, .line = site->line };
    change_add(&change, EDIT_GUARD)->where = at_making(file, site->line);
    change.changed = 1;
    repairs_try(r, &change);
}

static void try_slots_outside(Repairs *r, const char *file, unsigned line)
{
    static const uint8_t kind[] = { STEP_LOAD, STEP_STORE, STEP_SIGNAL, STEP_WAIT };
    unsigned made = diff_find_made(r, file, line);
    for (unsigned dim = 0; dim < 2; dim++)
        for (int64_t by = -1; by <= 1; by += 2) {
            if (try_slots_of_data(r, file, made, dim, by) || try_slots_of_semaphores(r, file, made, by))
                return;
            for (unsigned k = 0; k < G_N_ELEMENTS(kind); k++) {
                const EditWhere where = { .step = kind[k], .file = file, .line = line };
                if (try_slot(r, where, EDIT_NAMES_REF, dim, by, step_kind_name(kind[k])))
                    return;
            }
        }
}

/* Where the place is outside the step is not in the record: it stopped its core. */
void repairs_guards(Repairs *r)
{
    for (guint i = 0; i < r->result->outcome->findings->len; i++) {
        const Finding *finding = r->result->outcome->findings->pdata[i];
        if (finding->id != FAULT_OUT_OF_BOUNDS || finding->places == 0)
            continue;
        const Site *site = program_get_site(r->program, finding->place[0].site);
        try_guard(r, site);
        try_slots_outside(r, g_intern_string(program_text(r->program, site->file)), site->line);
    }
}
