/* repairs_wait.c - adds waits: at the end for what is left over, before an access that a copy races with, after the start of a copy.
 */
#include "../../model/counter.h"
#include "repairs.h"
#include <string.h>
#include "../../model/label.h"

/* The last launch with a semaphore of that name; NONE: none. */
static uint32_t last_launch_with(const Repairs *r, const char *name)
{
    uint32_t last = NONE;
    for (uint32_t l = 0; l < r->program->launches.count; l++) {
        const Launch *launch = program_launch(r->program, l);
        for (uint32_t i = 0; i < launch->decls; i++)
            if (strcmp(program_text(r->program, program_decl(r->program, launch->decl[i])->name), name) == 0)
                last = l;
    }
    return last;
}

/* False: no launch has that semaphore. */
static bool wait_at_exit(const Repairs *r, Change *change, const char *name, uint32_t element, int64_t value, const bool *core)
{
    uint32_t launch = last_launch_with(r, name);
    if (launch == NONE)
        return false;
    change_add_wait(change, EDIT_BEFORE, whatif_at_exit(launch, core), (EditSemaphore){ .name = name, .element = element }, value);
    return true;
}

/* The same amount on several cores is one drain. */
static void note_drain(const Repairs *r, GArray *drains, uint32_t semaphore, int64_t value)
{
    Drain now = { .name = whatif_semaphore_name(r->program, semaphore), .element = whatif_element(r->program, semaphore),
                  .semaphore = semaphore, .value = value };
    uint32_t core = program_semaphore_core(r->program, semaphore);
    for (guint i = 0; i < drains->len; i++) {
        Drain *drain = &g_array_index(drains, Drain, i);
        if (drain->element == now.element && drain->value == value && strcmp(drain->name, now.name) == 0) {
            drain->core[core] = true;
            return;
        }
    }
    now.core[core] = true;
    g_array_append_val(drains, now);
}

GArray *repairs_find_left(const Repairs *r)
{
    GArray *drains = g_array_new(FALSE, FALSE, sizeof(Drain));
    g_autofree int64_t *count = g_new0(int64_t, r->program->semaphores + 1);
    for (size_t i = 0; i < r->record->steps.count; i++) {
        const Step *step = repairs_step(r, i);
        if (counter_adds(step) != 0)
            count[step->object] += counter_adds(step);
    }
    for (size_t i = 0; i < r->record->copies.count; i++) {
        const Copy *copy = &STORE(Copy, &r->record->copies, i);
        count[copy->receive_semaphore] += copy->receive_count;
        if (copy->send_semaphore != NONE)
            count[copy->send_semaphore] += copy->send_count;
    }
    for (uint32_t s = 0; s < r->program->semaphores; s++) {
        const Decl *decl = program_decl(r->program, program_semaphore_decl(r->program, s));
        if (count[s] > 0 && decl->life == LIFE_LAUNCHES && decl->exempt[FAULT_LEFTOVER] == 0 && !label_marks_site(r->program, decl->site))
            note_drain(r, drains, s, count[s]);
    }
    return drains;
}

/* At the end of the launch, waits for everything that is left over. */
void repairs_drains(Repairs *r)
{
    g_autoptr(GArray) drains = repairs_find_left(r);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with ");
    bool fits = drains->len > 0;
    for (guint i = 0; i < drains->len; i++) {
        const Drain *drain = &g_array_index(drains, Drain, i);
        uint32_t cores = 0;
        for (uint32_t core = 0; core < r->program->cores; core++)
            cores += drain->core[core];
        g_autofree char *name = whatif_semaphore_text(r->program, drain->semaphore);
        change_say(&change, "%sa wait for %" G_GINT64_FORMAT " on %s%s", i ? " and " : "", drain->value, name,
                   cores < r->program->cores ? " (where it is left)" : "");
        fits &= wait_at_exit(r, &change, drain->name, drain->element, drain->value, drain->core);
    }
    change_say(&change, " at the end of the launch");
    if (fits)
        repairs_try(r, &change);
    else
        change_clear(&change);
}

static const Copy *find_copy(const Repairs *r, const Place *place)
{
    for (size_t i = 0; i < r->record->copies.count; i++) {
        const Copy *copy = &STORE(Copy, &r->record->copies, i);
        if (copy->core == place->core && copy->ordinal == place->copy)
            return copy;
    }
    return NULL;
}

/* A missing wait: for what, and on which semaphore. */
typedef struct Missing {
    uint32_t semaphore, count;
    bool rotates;                               /* copies of that line use the elements in turn */
} Missing;

static bool rotates(const Repairs *r, uint32_t site, bool send, uint32_t semaphore)
{
    uint32_t element = whatif_element(r->program, semaphore);
    for (size_t i = 0; i < r->record->copies.count; i++) {
        const Copy *copy = &STORE(Copy, &r->record->copies, i);
        uint32_t other = send ? copy->send_semaphore : copy->receive_semaphore;
        if (program_same_line(r->program, copy->site, site) && other != NONE && whatif_element(r->program, other) != element)
            return true;
    }
    return false;
}

static Missing missing_of(const Repairs *r, const Copy *copy, bool send)
{
    Missing missing = { send ? copy->send_semaphore : copy->receive_semaphore, send ? copy->send_count : copy->receive_count, false };
    missing.rotates = rotates(r, copy->site, send, missing.semaphore);
    return missing;
}

static void add_wait(const Repairs *r, Change *change, EditKind kind, EditWhere where, const Missing *missing)
{
    const EditSemaphore semaphore = { .name = whatif_semaphore_name(r->program, missing->semaphore),
                                      .element = missing->rotates ? EDIT_BY_OCCURRENCE : whatif_element(r->program, missing->semaphore) };
    change_add_wait(change, kind, where, semaphore, missing->count);
}

static void say_wait(const Repairs *r, Change *change, const Missing *missing)
{
    g_autofree char *one = whatif_semaphore_text(r->program, missing->semaphore);
    const char *all = whatif_semaphore_name(r->program, missing->semaphore);
    change_say(change, "a wait for %u on %s", missing->count, missing->rotates ? all : one);
}

/* A wait that comes too late for `other`. */
static bool try_earlier(Repairs *r, const Missing *missing, const Place *other)
{
    const EditWhere to = whatif_at(r->program, other->kind, other->site);
    uint32_t position = 0;
    for (size_t i = 0; i < r->record->steps.count; i++) {
        const Step *step = repairs_step(r, i);
        position += step->core == other->core;
        if (step->core == other->core && position > other->position && step->kind == STEP_WAIT && step->value == missing->count
            && strcmp(whatif_semaphore_name(r->program, step->object), whatif_semaphore_name(r->program, missing->semaphore)) == 0
            && repairs_wait_up(r, step, &to))
            return true;
    }
    return false;
}

/* Waits for the previous round of the copy: not before the first round, and once more at the end. */
static bool try_from_second_time(Repairs *r, EditWhere where, const char *before, const Missing *missing)
{
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with ");
    say_wait(r, &change, missing);
    change_say(&change, " before %s, except the first time, and at the end of the launch", before);
    where.skip = 1;
    add_wait(r, &change, EDIT_BEFORE, where, missing);
    const char *name = whatif_semaphore_name(r->program, missing->semaphore);
    change.too_many |= missing->rotates || !wait_at_exit(r, &change, name, whatif_element(r->program, missing->semaphore), missing->count,
                                                         NULL);
    return repairs_try(r, &change);
}

static bool try_wait_before(Repairs *r, const Missing *missing, const Place *other)
{
    EditWhere where = whatif_at(r->program, other->kind, other->site);
    g_autofree char *before = program_describe_site(r->program, other->site);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with ");
    say_wait(r, &change, missing);
    change_say(&change, " before %s", before);
    add_wait(r, &change, EDIT_BEFORE, where, missing);
    return repairs_try(r, &change) || try_earlier(r, missing, other) || try_from_second_time(r, where, before, missing);
}

/* The moment belongs to a copy: the other step's core waits for that copy first. */
static bool try_wait_for(Repairs *r, const Place *moment, const Place *other)
{
    const Copy *copy = moment->copy == NONE ? NULL : find_copy(r, moment);
    if (copy == NULL || label_marks_site(r->program, copy->site) || label_marks_site(r->program, other->site))
        return false;
    const Missing missing = missing_of(r, copy, moment->kind == STEP_READ && copy->send_semaphore != NONE);
    bool own = program_semaphore_core(r->program, missing.semaphore) == other->core;
    return own && try_wait_before(r, &missing, other);
}

/* Existing waits on that semaphore are dropped. */
static void wait_behind_start(const Repairs *r, Change *change, const Copy *copy, bool send, bool in_place)
{
    const char *name = whatif_semaphore_name(r->program, send ? copy->send_semaphore : copy->receive_semaphore);
    change_say(change, "%s%s%s%s%s", change->count ? " and " : "with ", send ? "wait_send" : copy->remote ? "wait_recv" : "wait",
               in_place ? " (in place of the waits on " : "", in_place ? name : "", in_place ? " elsewhere)" : "");
    change_add(change, send ? EDIT_WAIT_SEND : EDIT_WAIT_RECEIVE)->where = whatif_at(r->program, STEP_COPY_START, copy->site);
    if (in_place)
        change_add(change, EDIT_DROP)->where = (EditWhere){ .step = STEP_WAIT, .semaphore = name };
}

/* Tries wait_recv, wait_send and both. */
static void try_waits_behind(Repairs *r, uint32_t copy_index)
{
    const Copy *copy = &STORE(Copy, &r->record->copies, copy_index);
    g_autofree char *place = program_describe_site(r->program, copy->site);
    for (unsigned which = 1; which <= (copy->send_semaphore == NONE ? 1 : 3); which++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            Change change;
            change_begin(&change, r->result);
            if (which & 1)
                wait_behind_start(r, &change, copy, false, in_place);
            if (which & 2)
                wait_behind_start(r, &change, copy, true, in_place);
            change_say(&change, " right after the start of the copy at %s", place);
            if (repairs_try(r, &change))
                return;
        }
}

/* Waits for what is left over after the start of the first copy that counts there. */
static void try_left_behind_first(Repairs *r)
{
    g_autoptr(GArray) drains = repairs_find_left(r);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with ");
    for (guint i = 0; i < drains->len; i++) {
        const Drain *drain = &g_array_index(drains, Drain, i);
        g_autofree char *name = whatif_semaphore_text(r->program, drain->semaphore);
        change_say(&change, "%sa wait for %" G_GINT64_FORMAT " on %s", i ? " and " : "", drain->value, name);
        const EditWhere first = { .step = STEP_COPY_START, .semaphore = drain->name, .core = drain->core, .times = 1 };
        change_add_wait(&change, EDIT_AFTER, first, (EditSemaphore){ .name = drain->name, .element = drain->element }, drain->value);
    }
    change_say(&change, " after the start of the first copy that counts there");
    change.too_many |= drains->len == 0;
    repairs_try(r, &change);
}

static bool is_reported(const Repairs *r, const Finding *finding, FaultId id)
{
    return finding->id == id && finding_exemption(r->program, finding) == NULL;
}

void repairs_missing_waits(Repairs *r)
{
    bool named = false;
    for (guint i = 0; i < r->result->outcome->findings->len && !named; i++) {
        const Finding *finding = r->result->outcome->findings->pdata[i];
        if (is_reported(r, finding, FAULT_RACE))
            named = try_wait_for(r, &finding->place[0], &finding->place[1]) || try_wait_for(r, &finding->place[1], &finding->place[0]);
    }
}

void repairs_waits_behind_starts(Repairs *r)
{
    if (r->named == 0)
        try_left_behind_first(r);
    for (uint32_t c = 0; c < r->record->copies.count && r->named == 0; c++)
        if (!label_marks_site(r->program, STORE(Copy, &r->record->copies, c).site))
            try_waits_behind(r, c);
}

