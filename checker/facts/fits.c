/* fits.c - what each kind of fault has, as a table; and ids within what the program has. */
#include "fits.h"

enum { NO_OBJECT = 1, BUFFER = 2, SEMAPHORE = 4 };

/* What a fault of each kind has: see the table in finding.h. agent: of each place, a core's own step, a moment of a copy, or either. */
static const struct { uint8_t least, most; char agent[3]; uint8_t objects; } FORM[FAULT_COUNT] = {
    [FAULT_RACE] = { 2, 2, "**", BUFFER }, [FAULT_LIFETIME] = { 1, 1, "*", BUFFER | SEMAPHORE },
    [FAULT_DEADLOCK] = { 0, 0, "", NO_OBJECT }, [FAULT_LEFTOVER] = { 0, 1, "c", SEMAPHORE }, [FAULT_IN_FLIGHT] = { 2, 2, "mc", BUFFER },
    [FAULT_OUT_OF_BOUNDS] = { 1, 1, "c", NO_OBJECT }, [FAULT_UNINITIALISED] = { 1, 1, "*", BUFFER | NO_OBJECT },
    [FAULT_SHAPE] = { 1, 1, "c", NO_OBJECT }, [FAULT_SPACE] = { 1, 1, "c", NO_OBJECT }, [FAULT_REVISIT] = { 1, 1, "c", NO_OBJECT },
    [FAULT_ASSERT] = { 1, 1, "c", NO_OBJECT }, [FAULT_MISMATCH] = { 1, 2, "cm", SEMAPHORE }, [FAULT_OVERFLOW] = { 1, 1, "*", SEMAPHORE },
    [FAULT_DIVERGENCE] = { 0, 0, "", BUFFER | NO_OBJECT }, [FAULT_NO_PROGRESS] = { 1, 1, "c", NO_OBJECT },
    [FAULT_CRASH] = { 1, 1, "c", NO_OBJECT },
};

bool finding_is_formed(const Finding *finding)
{
    const unsigned id = finding->id;
    if (id >= FAULT_COUNT || finding->places < FORM[id].least || finding->places > FORM[id].most || finding->meant > MEANT_SECOND)
        return false;
    for (unsigned p = 0; p < finding->places; p++) {
        const Place *place = &finding->place[p];
        bool moment = place->copy != NONE;
        if (place->kind >= STEP_KIND_COUNT || moment != (place->kind >= STEP_EARLY_SEND)
            || (FORM[id].agent[p] != '*' && moment != (FORM[id].agent[p] == 'm')))
            return false;
    }
    unsigned object = finding->object == NONE ? NO_OBJECT : finding->object_is_semaphore ? SEMAPHORE : BUFFER;
    return (FORM[id].objects & object) != 0;
}

static bool id_fits(uint32_t id, size_t count) { return id == NONE || id < count; }

bool place_fits(const Program *program, const Place *place)
{
    bool counter = place->kind >= STEP_SIGNAL && place->kind <= STEP_EXPECT_COUNT;
    bool flag = place->kind >= STEP_FLAG_LOAD && place->kind <= STEP_FLAG_WAIT;
    return place->kind < STEP_KIND_COUNT && place->core < program->cores && id_fits(place->site, program->sites.count)
        && id_fits(place->object, counter || flag ? program->semaphores : program->objects)
        && id_fits(place->region, intern_count(&program->regions)) && (place->launch == 0 || place->launch < program->launches.count);
}

static bool moves_fit(const Program *program, const Finding *finding)
{
    for (guint i = 0; finding->moves != NULL && i < finding->moves->len; i++) {
        const Move *move = &g_array_index(finding->moves, Move, i);
        bool moment = move->moment >= STEP_EARLY_SEND && move->moment < STEP_KIND_COUNT;
        if (move->core >= program->cores || (move->copy != NONE && !moment))
            return false;
    }
    for (guint i = 0; finding->delays != NULL && i < finding->delays->len; i++) {
        const Delay *delay = &g_array_index(finding->delays, Delay, i);
        if (delay->core >= program->cores || !id_fits(delay->site, program->sites.count))
            return false;
    }
    return true;
}

static bool clashes_fit(const Program *program, const Finding *finding)
{
    bool fit = true;
    for (guint i = 0; fit && finding->clashes != NULL && i < finding->clashes->len; i++) {
        const Clash *clash = &g_array_index(finding->clashes, Clash, i);
        fit = id_fits(clash->site, program->sites.count) && id_fits(clash->object, program->objects)
            && id_fits(clash->region, intern_count(&program->regions)) && clash->write <= 1 && clash->mark == 0;
    }
    return fit;
}

bool finding_fits(const Program *program, const Finding *finding)
{
    bool fits = finding_is_formed(finding) && moves_fit(program, finding) && clashes_fit(program, finding)
        && id_fits(finding->object, finding->object_is_semaphore ? program->semaphores : program->objects);
    for (unsigned p = 0; fits && p < finding->places; p++)
        fits = place_fits(program, &finding->place[p]);
    return fits;
}
