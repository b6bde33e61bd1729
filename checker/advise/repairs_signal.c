/* repairs_signal.c - moves an early signal, such as the credit for a slot that is still in use, after one of the next steps of its core,
 * the nearest first, up to the next time that the core reaches the signal.
 */
#include "repairs.h"
#include <string.h>
#include "../../model/label.h"

enum { STEPS_BEHIND_MAX = 12 };

typedef struct Moved {
    const Step *signal;
    uint32_t target[WHATIF_CORES_MAX];          /* by core; NONE: it gives no signal */
} Moved;

static bool is_same(const Program *program, const Step *one, const Step *other)
{
    return one->kind == other->kind && program_same_line(program, one->site, other->site);
}

/* False: a core signals different targets or elements. */
static bool find_targets(const Repairs *r, Moved *moved)
{
    for (uint32_t core = 0; core < WHATIF_CORES_MAX; core++)
        moved->target[core] = NONE;
    for (size_t i = 0; i < r->record->steps.count; i++) {
        const Step *step = repairs_step(r, i);
        if (!is_same(r->program, step, moved->signal))
            continue;
        uint32_t to = program_semaphore_core(r->program, step->object), *target = &moved->target[step->core];
        if ((*target != NONE && *target != to) || step->value != moved->signal->value || step->launch != moved->signal->launch
            || whatif_element(r->program, step->object) != whatif_element(r->program, moved->signal->object)
            || strcmp(whatif_semaphore_name(r->program, step->object), whatif_semaphore_name(r->program, moved->signal->object)) != 0)
            return false;
        *target = to;
    }
    return true;
}

static uint32_t count_same(const Repairs *r, const Step *step)
{
    uint32_t count = 0;
    for (size_t i = 0; i < r->record->steps.count; i++)
        count += repairs_step(r, i)->core == step->core && is_same(r->program, repairs_step(r, i), step);
    return count;
}

static bool try_behind(Repairs *r, const Moved *moved, const Step *behind)
{
    const Step *signal = moved->signal;
    uint32_t signals = count_same(r, signal), steps = count_same(r, behind);
    const char *name = whatif_semaphore_name(r->program, signal->object);
    g_autofree char *from = program_describe_site(r->program, signal->site), *to = program_describe_site(r->program, behind->site);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with the signal on %s at %s moved down to after %s", name, from, to);
    if (signals < steps)
        change_say(&change, signals == 1 ? " (the first time)" : " (the first %u times)", signals);
    change.too_many |= signals > steps;         /* some signals would be lost */
    change_add(&change, EDIT_DROP)->where = whatif_at(r->program, STEP_SIGNAL, signal->site);
    Edit *edit = change_add(&change, EDIT_AFTER);
    edit->where = whatif_at(r->program, behind->kind, behind->site);
    edit->where.times = signals, edit->step = STEP_SIGNAL, edit->value = signal->value, edit->target = moved->target;
    edit->semaphore = (EditSemaphore){ .name = name, .element = whatif_element(r->program, signal->object) };
    return repairs_try(r, &change);
}

static bool can_be_behind(const Step *step)
{
    return step->kind <= STEP_SWAP || step->kind == STEP_WAIT || step->kind == STEP_CORE_BARRIER;
}

/* Tries the steps of the signal's core from it to the next time it is there. */
static bool try_to_move(Repairs *r, const Moved *moved, size_t index)
{
    const Step *behind[STEPS_BEHIND_MAX];
    unsigned count = 0;
    for (size_t i = index + 1; i < r->record->steps.count && count < STEPS_BEHIND_MAX; i++) {
        const Step *step = repairs_step(r, i);
        if (step->core != moved->signal->core)
            continue;
        if (is_same(r->program, step, moved->signal) || step->kind == STEP_EXIT)
            break;
        bool known = !can_be_behind(step) || label_marks_site(r->program, step->site);
        for (unsigned j = 0; j < count && !known; j++)
            known = is_same(r->program, behind[j], step);
        if (!known)
            behind[count++] = step;
    }
    for (unsigned j = 0; j < count; j++)
        if (try_behind(r, moved, behind[j]))
            return true;
    return false;
}

void repairs_early_signals(Repairs *r)
{
    for (size_t i = 0; i < r->record->steps.count; i++) {
        Moved moved = { .signal = repairs_step(r, i) };
        if (moved.signal->kind != STEP_SIGNAL || !whatif_is_first(r->record, i))
            continue;
        const Decl *decl = program_decl(r->program, program_semaphore_decl(r->program, moved.signal->object));
        if (decl->life == LIFE_LAUNCHES && find_targets(r, &moved) && try_to_move(r, &moved, i))
            return;
    }
}
