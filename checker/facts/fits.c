/* fits.c - a finding has the form that the table in fault.h gives for its fault, and its ids are within the program's. */
#include "fits.h"

bool finding_is_formed(const Finding *finding)
{
    if ((unsigned)finding->id >= FAULT_COUNT || finding->meant > MEANT_SECOND)
        return false;
    const FaultForm *form = &FAULT_FORM[finding->id];
    if (finding->places < form->least || finding->places > form->most)
        return false;
    for (unsigned p = 0; p < finding->places; p++) {
        const Place *place = &finding->place[p];
        bool moment = place->copy != NONE;
        if (place->kind >= STEP_KIND_COUNT || moment != (place->kind >= STEP_EARLY_SEND)
            || (form->agent[p] != '*' && moment != (form->agent[p] == 'm')))
            return false;
    }
    bool semaphore = finding->object_is_semaphore;
    return fault_has(finding->id, finding->object == NONE ? FAULT_OF_NOTHING : semaphore ? FAULT_OF_SEMAPHORE : FAULT_OF_BUFFER);
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
    bool fits = finding_is_formed(finding) && finding->cause.kind <= CAUSE_UNSERVED && id_fits(finding->cause.site, program->sites.count)
        && id_fits(finding->cause.semaphore, program->semaphores) && moves_fit(program, finding) && clashes_fit(program, finding)
        && id_fits(finding->object, finding->object_is_semaphore ? program->semaphores : program->objects);
    for (unsigned p = 0; fits && p < finding->places; p++)
        fits = place_fits(program, &finding->place[p]);
    for (unsigned p = 0; fits && p < finding->criticals; p++)
        fits = finding->criticals == 2 && place_fits(program, &finding->critical[p]);
    return fits;
}
