/* repairs_handshake.c - order between cores: one tells the other that a step is done, and the other waits for that.
 *
 * Which step was meant to come first stands with the fault: in a race, or as its critical choice. The recorded run says which executions of
 * the two lines touch the same: each core tells the other as late as it may and no more often than it must, on an element of its own.
 */
#include <string.h>
#include "../../model/label.h"
#include "repairs.h"

enum { NEEDS_MAX = 2048 };

/* Indices in the record: x must come before y, a step of another core. */
typedef struct Need { size_t x, y; } Need;

/* A signal or wait that is put in: at which step, with which core. */
typedef struct Put { size_t at; uint32_t with; } Put;

/* Two steps of cores; a copy tells nobody by itself. */
static bool has_choice(const Finding *finding)
{
    return finding->criticals == 2 && finding->critical[0].copy == NONE && finding->critical[1].copy == NONE;
}

static Place place_of(const Finding *finding, bool first)
{
    if (has_choice(finding))
        return finding->critical[first ? 0 : 1];
    return finding->place[(finding->meant == MEANT_FIRST) == first ? 0 : 1];
}

static bool reads(const Place *place)
{
    return place->kind == STEP_LOAD || place->kind == STEP_SWAP || place->kind == STEP_READ;
}

/* Of two writes the first would be lost in order, too. */
static bool has_order(const Finding *finding)
{
    bool race = finding->id == FAULT_RACE && (reads(&finding->place[0]) || reads(&finding->place[1]));
    return has_choice(finding) || (race && finding->meant != MEANT_UNKNOWN);
}

static const Copy *copy_of(const Repairs *r, const Step *step)
{
    return step->kind == STEP_COPY_START && step->object != NONE ? &STORE(Copy, &r->record->copies, step->object) : NULL;
}

/* Is it a step of that line, or a start there whose moment the place is? */
static bool is_at(const Repairs *r, const Step *step, const Place *place)
{
    uint8_t kind = place->copy != NONE ? STEP_COPY_START : place->kind;
    return step->kind == kind && program_same_line(r->program, step->site, place->site) && !label_marks_site(r->program, step->site);
}

/* What the step touches there. */
static void touched(const Repairs *r, const Step *step, const Place *place, uint32_t *object, uint32_t *region)
{
    const Copy *copy = copy_of(r, step);
    bool reads = place->kind == STEP_READ;
    *object = copy ? (reads ? copy->source : copy->target) : step->object;
    *region = copy ? (reads ? copy->source_region : copy->target_region) : step->value;
}

static bool touch_the_same(const Repairs *r, const Step *x, const Place *first, const Step *y, const Place *late)
{
    if (step_on_counter(first->kind) || step_on_counter(late->kind))
        return x->object == y->object;
    uint32_t object[2], region[2];
    touched(r, x, first, &object[0], &region[0]), touched(r, y, late, &object[1], &region[1]);
    return object[0] == object[1] && region_overlaps(program_get_region(r->program, region[0]), program_get_region(r->program, region[1]));
}

/* The wait that takes what that copy gives, if its signals are taken in turn; the record's length: there is none. */
static size_t wait_for(const Repairs *r, size_t start, bool read)
{
    const Copy *copy = copy_of(r, repairs_step(r, start));
    bool send = read && copy->send_semaphore != NONE;
    const uint32_t semaphore = send ? copy->send_semaphore : copy->receive_semaphore;
    int64_t given = 0, taken = 0;
    for (size_t i = 0; i < r->record->steps.count; i++) {
        const Step *step = repairs_step(r, i);
        const Copy *other = i <= start ? copy_of(r, step) : NULL;
        if (other != NULL && other->send_semaphore == semaphore)
            given += other->send_count;
        if (other != NULL && other->receive_semaphore == semaphore)
            given += other->receive_count;
    }
    for (size_t i = 0; i < r->record->steps.count; i++) {
        taken += repairs_step(r, i)->kind == STEP_WAIT && repairs_step(r, i)->object == semaphore ? repairs_step(r, i)->value : 0;
        if (taken >= given)
            return i;
    }
    return r->record->steps.count;
}

/* Where the place's step, or the start of its copy, stands in the record; its length: nowhere. */
static size_t index_of(const Repairs *r, const Place *place)
{
    uint32_t position = 0;
    for (size_t i = 0; i < r->record->steps.count; i++)
        if (repairs_step(r, i)->core == place->core && position++ == place->position)
            return i;
    return r->record->steps.count;
}

/* Of each step: how often its core came by before. g_free. */
static uint32_t *turns_at(const Repairs *r, const Place *place)
{
    uint32_t *turns = g_new(uint32_t, r->record->steps.count + 1), count[WHATIF_CORES_MAX] = { 0 };
    for (size_t i = 0; i < r->record->steps.count; i++) {
        const Step *step = repairs_step(r, i);
        turns[i] = count[step->core];
        count[step->core] += is_at(r, step, place);
    }
    return turns;
}

static void add_need(const Repairs *r, size_t first, bool copy, bool read, size_t late, GArray *needs)
{
    const Need need = { copy ? wait_for(r, first, read) : first, late };
    if (need.x < r->record->steps.count && repairs_step(r, need.x)->core != repairs_step(r, late)->core
        && repairs_step(r, need.x)->launch == repairs_step(r, late)->launch)
        g_array_append_val(needs, need);
}

/* ahead: so many turns; NULL: those that the record has earlier. */
static void add_needs(const Repairs *r, const Place *first, const Place *late, const int64_t *ahead, GArray *needs)
{
    const size_t all = r->record->steps.count;
    g_autofree uint32_t *first_turn = turns_at(r, first), *late_turn = turns_at(r, late);
    for (size_t y = 0; y < all; y++) {
        if (!is_at(r, repairs_step(r, y), late))
            continue;
        for (size_t x = 0; x < (ahead ? all : y) && needs->len < NEEDS_MAX; x++) {
            const Step *step = repairs_step(r, x);
            if (x == y || !is_at(r, step, first) || !touch_the_same(r, step, first, repairs_step(r, y), late))
                continue;
            if (ahead == NULL || (int64_t)first_turn[x] + *ahead == late_turn[y])
                add_need(r, x, first->copy != NONE, first->kind == STEP_READ, y, needs);
        }
    }
}

/* A race of two lines may be of a round with itself and with the next one. Either the record has each pair in order, or as many turns lie
 * between them as in the example. */
static void add_orders(const Repairs *r, const Finding *finding, bool by_turns, GArray *needs)
{
    const Place first = place_of(finding, true), late = place_of(finding, false);
    const size_t x = index_of(r, &first), y = index_of(r, &late);
    if (x >= r->record->steps.count || y >= r->record->steps.count || (!by_turns && x > y))
        return;
    g_autofree uint32_t *first_turn = turns_at(r, &first), *late_turn = turns_at(r, &late);
    const int64_t ahead = (int64_t)late_turn[y] - first_turn[x], back = 1 - ahead;
    add_needs(r, &first, &late, by_turns ? &ahead : NULL, needs);
    if (!has_choice(finding))
        add_needs(r, &late, &first, by_turns ? &back : NULL, needs);
}

static int compare_needs(const void *a, const void *b)
{
    const Need *one = a, *other = b;
    return one->y != other->y ? (one->y > other->y) - (one->y < other->y) : (one->x > other->x) - (one->x < other->x);
}

/* For each pair of cores the fewest signals and waits. */
static void place_steps(const Repairs *r, GArray *needs, GArray *signals, GArray *waits)
{
    size_t told[WHATIF_CORES_MAX][WHATIF_CORES_MAX] = { { 0 } };        /* by teller and told: index + 1 of the last step that is told */
    g_array_sort(needs, compare_needs);
    for (guint i = 0; i < needs->len; i++) {
        const Need *need = &g_array_index(needs, Need, i), *next = need + 1;
        const uint32_t from = repairs_step(r, need->x)->core, to = repairs_step(r, need->y)->core;
        bool later = false;                     /* the core tells that step about a later one, too */
        for (guint k = i + 1; k < needs->len && next->y == need->y; k++, next++)
            later |= repairs_step(r, next->x)->core == from;
        if (later || told[from][to] > need->x)
            continue;
        told[from][to] = need->x + 1;
        const Put signal = { need->x, to }, wait = { need->y, from };
        g_array_append_val(signals, signal);
        g_array_append_val(waits, wait);
    }
}

static EditWhere where_of(const Repairs *r, const Step *step)
{
    return step->kind == STEP_WAIT ? whatif_at_wait(r->program, step) : whatif_at(r->program, (StepKind)step->kind, step->site);
}

static uint32_t times_of(const Repairs *r, const EditWhere *where)
{
    uint32_t most = 0, count[WHATIF_CORES_MAX] = { 0 };
    for (size_t i = 0; i < r->record->steps.count; i++)
        if (repairs_matches(r, repairs_step(r, i), where))
            most = MAX(most, ++count[repairs_step(r, i)->core]);
    return most;
}

/* One edit for each line, and one more where a step has several; in the order of the lines. */
static void add_edits(const Repairs *r, Change *change, const GArray *puts, bool signal)
{
    g_autofree bool *done = g_new0(bool, puts->len + 1);
    for (guint i = 0; i < puts->len; i++) {
        if (done[i])
            continue;
        const EditWhere where = where_of(r, repairs_step(r, g_array_index(puts, Put, i).at));
        Edit *edit = change_add(change, signal ? EDIT_AFTER : EDIT_BEFORE);
        Turns *turns = change_turns(change, times_of(r, &where));
        edit->where = where, edit->step = signal ? STEP_SIGNAL : STEP_WAIT, edit->turns = &turns->turns;
        for (guint k = i; k < puts->len; k++) {
            const Put *put = &g_array_index(puts, Put, k);
            const Step *step = repairs_step(r, put->at);
            uint32_t turn = step->core * turns->turns.times + repairs_occurrence(r, put->at, &where);
            if (done[k] || !repairs_matches(r, step, &where) || turns->value[turn] != 0)
                continue;
            done[k] = true, turns->value[turn] = 1, turns->target[turn] = put->with;
            turns->element[turn] = signal ? step->core : put->with;
        }
    }
}

/* Do the same cores tell each other, once, right before they wait? */
static bool is_barrier(const Repairs *r, const GArray *signals, const GArray *waits)
{
    for (guint i = 0; i < signals->len; i++) {
        const Put *signal = &g_array_index(signals, Put, i);
        bool answered = false;
        for (guint k = 0; k < waits->len; k++) {
            const Put *wait = &g_array_index(waits, Put, k);
            answered |= repairs_step(r, wait->at)->core == repairs_step(r, signal->at)->core && wait->with == signal->with
                && wait->at > signal->at;
        }
        if (!answered)
            return false;
    }
    return true;
}

/* "the load of in at kernel.c:12"; of several lines the first. */
static char *words_of(const Repairs *r, const GArray *puts)
{
    const EditWhere where = where_of(r, repairs_step(r, g_array_index(puts, Put, 0).at));
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        if (op->kind == where.step && op->line == where.line && strcmp(op->file, where.file) == 0) {
            g_autofree char *words = op_words(op);
            return g_strdup_printf("the %s at %s:%u", words, where.file, where.line);
        }
    }
    return g_strdup_printf("%s:%u", where.file, where.line);
}

static void say(const Repairs *r, Change *change, const GArray *signals, const GArray *waits, bool by_turns)
{
    g_autofree char *first = words_of(r, signals), *late = words_of(r, waits);
    const Step *step = repairs_step(r, g_array_index(waits, Put, 0).at);
    const EditWhere where = where_of(r, step);
    bool from_start = true;
    for (guint i = 0; i < waits->len; i++)
        from_start &= repairs_occurrence(r, g_array_index(waits, Put, i).at, &where) == 0;
    const char *name = step->kind == STEP_COPY_START ? "capacity semaphore" : "semaphore of its own";
    if (is_barrier(r, signals, waits) && from_start)
        change_say(change, "with a barrier between %s and %s, on a semaphore of its own: each core tells those that it could overtake, "
                           "and waits for them", first, late);
    else
        change_say(change, "with a %s that each core signals after %s, to the core that must come later, which waits for that before %s",
                   name, first, late);
    if (by_turns)
        change_say(change, ", as many turns apart as here");
}

static bool try_needs(Repairs *r, GArray *needs, bool by_turns)
{
    g_autoptr(GArray) signals = g_array_new(FALSE, FALSE, sizeof(Put)), waits = g_array_new(FALSE, FALSE, sizeof(Put));
    place_steps(r, needs, signals, waits);
    if (signals->len == 0)
        return false;
    Change change;
    change_begin(&change, r->result);
    const Launch *launch = program_launch(r->program, repairs_step(r, g_array_index(needs, Need, 0).y)->launch);
    const Copy *copy = copy_of(r, repairs_step(r, g_array_index(needs, Need, 0).y));
    change.fresh[change.fresh_count++] = (EditFresh){ .name = "handshake", .kind = SEMAPHORE_REGULAR, .elements = r->program->cores,
                                                      .always = launch->skip_device_barrier,
                                                      .beside = copy ? whatif_semaphore_name(r->program, copy->receive_semaphore) : NULL };
    add_edits(r, &change, signals, true);
    add_edits(r, &change, waits, false);
    say(r, &change, signals, waits, by_turns);
    change.changed = 3;
    return repairs_try(r, &change);
}

void repairs_handshakes(Repairs *r)
{
    for (unsigned by_turns = 0; by_turns < 2; by_turns++) {
        g_autoptr(GArray) needs = g_array_new(FALSE, FALSE, sizeof(Need));
        for (guint i = 0; i < r->result->outcome->findings->len; i++) {
            const Finding *finding = r->result->outcome->findings->pdata[i];
            if (whatif_is_reported(r->result, finding) && has_order(finding))
                add_orders(r, finding, by_turns, needs);
        }
        if (needs->len > 0 && needs->len < NEEDS_MAX && try_needs(r, needs, by_turns))
            return;
    }
}
