/* repairs_up.c - a late wait comes earlier: it is left out where it is, and done as often before the step that needs it.
 *
 * Each core waits for what it waited for in the recorded run, element by element.
 */
#include <string.h>
#include "../../model/label.h"
#include "repairs.h"

enum { LINES_TRIED = 6 };

typedef enum Alignment { ALIGN_LAST, ALIGN_FIRST, ALIGN_TOGETHER } Alignment;

/* What one core does at one of the two lines: indices in the record. */
static GArray *steps_of(const Repairs *r, uint32_t core, const EditWhere *where)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(size_t));
    for (size_t i = 0; i < r->record->steps.count; i++)
        if (repairs_step(r, i)->core == core && repairs_matches(r, repairs_step(r, i), where))
            g_array_append_val(found, i);
    return found;
}

/* Before which of `to` each wait comes; false: there is none before it that is free. */
static bool align(const GArray *waits, const GArray *to, Alignment alignment, guint *turn)
{
    if (waits->len > 0 && to->len == 0)
        return false;
    for (guint i = waits->len, free = to->len; i-- > 0;) {
        const size_t wait = g_array_index(waits, size_t, i);
        while (alignment == ALIGN_LAST && free > 0 && g_array_index(to, size_t, free - 1) > wait)
            free--;
        if (free == 0)
            return false;
        turn[i] = alignment == ALIGN_LAST ? --free : alignment == ALIGN_FIRST ? i : 0;
        if (turn[i] >= to->len || g_array_index(to, size_t, turn[i]) > wait)
            return false;
    }
    return true;
}

/* False: the waits of one core do not fit before those steps. */
static bool fill_turns(const Repairs *r, uint32_t core, const GArray *waits, const GArray *to, Alignment alignment, Turns *turns)
{
    g_autofree guint *turn = g_new0(guint, waits->len + 1);
    if (!align(waits, to, alignment, turn))
        return false;
    for (guint i = 0; i < waits->len; i++) {
        const Step *wait = repairs_step(r, g_array_index(waits, size_t, i));
        uint32_t at = core * turns->turns.times + turn[i], element = whatif_element(r->program, wait->object);
        if (turns->value[at] != 0 && turns->element[at] != element)
            return false;
        turns->value[at] += wait->value, turns->element[at] = element;
    }
    return true;
}

static const char *how_often(Alignment alignment, guint there, guint here)
{
    if (alignment == ALIGN_TOGETHER)
        return ", all at once the first time";
    if (here <= there)
        return "";
    if (alignment == ALIGN_LAST)
        return there > 1 ? " (except the first times)" : " (the last time)";
    return there > 1 ? " (the first times)" : " (the first time)";
}

static bool try_up(Repairs *r, const Step *wait, const EditWhere *to, Alignment alignment)
{
    const EditWhere where = whatif_at_wait(r->program, wait);
    g_autofree char *from = program_describe_site(r->program, wait->site);
    guint there = 0, here = 0;
    bool fits = true;
    Change change;
    change_begin(&change, r->result);
    Turns *turns = change_turns(&change, (uint32_t)r->record->steps.count);
    for (uint32_t core = 0; core < r->program->cores && fits; core++) {
        g_autoptr(GArray) waits = steps_of(r, core, &where), steps = steps_of(r, core, to);
        fits = waits->len == 0 || fill_turns(r, core, waits, steps, alignment, turns);
        there = MAX(there, waits->len), here = waits->len > 0 ? MAX(here, steps->len) : here;
    }
    bool due = fits && (alignment == ALIGN_LAST || (alignment == ALIGN_FIRST ? here > there : there > 1));
    change_say(&change, "with the wait on %s at %s moved up to before %s%s:%u%s", where.semaphore, from,
               to->step == STEP_FREE ? "the end of the scope of " : "", to->file, to->line, how_often(alignment, there, here));
    change_add(&change, EDIT_DROP)->where = where;
    Edit *edit = change_add(&change, EDIT_BEFORE);
    edit->where = *to, edit->step = STEP_WAIT, edit->turns = &turns->turns;
    edit->semaphore = (EditSemaphore){ .name = where.semaphore };
    change.too_many |= !due;
    return repairs_try(r, &change);
}

bool repairs_wait_up(Repairs *r, const Step *wait, const EditWhere *to)
{
    return try_up(r, wait, to, ALIGN_LAST) || try_up(r, wait, to, ALIGN_FIRST) || try_up(r, wait, to, ALIGN_TOGETHER);
}

/* The core's waits behind a step, each line once. */
static bool try_waits_behind(Repairs *r, size_t index, const EditWhere *to)
{
    g_autoptr(GHashTable) tried = g_hash_table_new(NULL, NULL);
    for (size_t i = index + 1; i < r->record->steps.count && g_hash_table_size(tried) < LINES_TRIED; i++) {
        const Step *wait = repairs_step(r, i);
        if (wait->core == repairs_step(r, index)->core && wait->kind == STEP_WAIT && !label_marks_site(r->program, wait->site)
            && g_hash_table_add(tried, GUINT_TO_POINTER(wait->site)) && repairs_wait_up(r, wait, to))
            return true;
    }
    return false;
}

/* Where the core stands that comes too early: of a lifetime that is over, the end of the scope. */
static size_t late_step(const Repairs *r, const Finding *finding)
{
    const Place *late = &finding->place[finding->id == FAULT_RACE && finding->meant == MEANT_FIRST ? 1 : 0];
    uint32_t position = 0;
    for (size_t i = 0; i < r->record->steps.count; i++) {
        const Step *step = repairs_step(r, i);
        bool ends = step->kind == STEP_FREE && !finding->object_is_semaphore
            && step->object == program_object_decl(r->program, finding->object);
        if (step->core == late->core && (finding->id == FAULT_LIFETIME ? ends && position > late->position : position == late->position))
            return i;
        position += step->core == late->core;
    }
    return r->record->steps.count;
}

void repairs_waits_up(Repairs *r)
{
    for (guint i = 0; i < r->result->outcome->findings->len; i++) {
        const Finding *finding = r->result->outcome->findings->pdata[i];
        bool over = finding->id == FAULT_LIFETIME && finding->have > 0, race = finding->id == FAULT_RACE && finding->meant != MEANT_UNKNOWN;
        size_t late = (over || race) && whatif_is_reported(r->result, finding) ? late_step(r, finding) : r->record->steps.count;
        if (late == r->record->steps.count || label_marks_site(r->program, repairs_step(r, late)->site))
            continue;
        const EditWhere to = whatif_at(r->program, (StepKind)repairs_step(r, late)->kind, repairs_step(r, late)->site);
        if (try_waits_behind(r, late, &to))
            return;
    }
}
