/* lifespan.c - lives (semantics.md section 2) as spans of positions.
 *
 * A decl that launches return or use lives on a device from that device's entry into the first of them to its exit from the last. A scope
 * lives from its alloc to its free; in shared memory from the first alloc to the last free of the cores that open it. Under static scopes
 * other cores may name a scope as soon as its device has entered the launch; if it is never opened there, its life ends at the exit.
 */
#include <glib.h>

#include "prover.h"

/* If all devices do all launches, the first and last launch of each decl are computed once. */
void lifespan_prepare(Prover *prover)
{
    const Program *program = prover->program;
    bool uniform = true;
    for (uint32_t l = 0; l < program->launches.count; l++)
        uniform &= program_launch(program, l)->on_device == NULL;
    prover->launched = ARENA_NEW(Launched, prover->arena, program->decls.count + 1);
    for (uint32_t decl = 0; decl < program->decls.count; decl++)
        prover->launched[decl].known = uniform;
    for (uint32_t l = 0; uniform && l < program->launches.count; l++)
        for (uint32_t i = 0; i < program_launch(program, l)->decls; i++) {
            Launched *launched = &prover->launched[program_launch(program, l)->decl[i]];
            launched->first = launched->ever ? launched->first : l;
            launched->last = l, launched->ever = true;
        }
}

static bool find_launches(const Prover *prover, uint32_t decl, uint32_t device, uint32_t *first, uint32_t *last)
{
    const Launched *launched = &prover->launched[decl];
    if (!launched->known)
        return program_decl_launches(prover->program, decl, device, first, last);
    *first = launched->first;
    *last = launched->last;
    return launched->ever;
}

static Lifespan of_launches(const Prover *prover, uint32_t decl, uint32_t device)
{
    const Index *index = prover->index;
    uint32_t first, last;
    Lifespan life = { .exit = true, .first_core = device * index->per_device, .cores = index->per_device };
    if (find_launches(prover, decl, device, &first, &last)) {
        life.entry = &index->launch[(size_t)first * index->cores];
        life.span = life.leave = &index->launch[(size_t)last * index->cores];
    }
    return life;
}

static bool is_opened(const Lifespan *life)
{
    for (uint32_t core = life->first_core; core < life->first_core + life->cores; core++)
        if (life->span[core].begin != NONE)
            return true;
    return false;
}

static Lifespan of_decl(const Prover *prover, uint32_t decl_id, uint32_t unit)
{
    const Index *index = prover->index;
    const Decl *decl = program_decl(prover->program, decl_id);
    bool shared = decl->units == prover->program->devices && decl->space != SPACE_SEMAPHORE && decl->space != SPACE_VMEM
        && decl->space != SPACE_SMEM;
    if (decl->life == LIFE_ALWAYS || prover->program->bare)
        return (Lifespan){ .always = true };
    if (decl->life == LIFE_LAUNCHES)
        return of_launches(prover, decl_id, shared ? unit : unit / index->per_device);
    Lifespan life = { .span = &index->scope[(size_t)index->scope_row[decl_id] * index->cores], .first_core = unit, .cores = 1 };
    if (shared) {
        life.first_core = unit * index->per_device;
        life.cores = index->per_device;
    }
    if (decl->launch != NONE)
        life.leave = &index->launch[(size_t)decl->launch * index->cores];
    if (prover->program->knobs.scopes == SCOPES_STATIC)
        life.entry = life.leave;
    if (life.entry && !is_opened(&life))
        life.span = life.leave;
    return life;
}

Lifespan lifespan_of_object(const Prover *prover, uint32_t object)
{
    uint32_t decl = program_object_decl(prover->program, object);
    return of_decl(prover, decl, object - program_decl(prover->program, decl)->first_object);
}

Lifespan lifespan_of_semaphore(const Prover *prover, uint32_t semaphore)
{
    uint32_t decl_id = program_semaphore_decl(prover->program, semaphore);
    const Decl *decl = program_decl(prover->program, decl_id);
    return of_decl(prover, decl_id, (semaphore - decl->first_semaphore) / decl->elements);
}

static bool precedes(Prover *prover, uint32_t core, uint32_t position, const Event *x)
{
    if (position == NONE)
        return false;
    if (core == x->core)
        return position < x->position;
    Event begin = index_event(prover->index, core, position);
    return order_must(prover->order, &begin, x);
}

/* Does x come after the first of several allocs? It must come after one of them, or be unreachable without any of them. */
static bool after_any(Prover *prover, const Lifespan *life, const Event *x)
{
    Event begin[life->cores];
    size_t begins = 0;
    for (uint32_t core = life->first_core; core < life->first_core + life->cores; core++) {
        if (precedes(prover, core, life->span[core].begin, x))
            return true;
        if (life->span[core].begin != NONE)
            begin[begins++] = index_event(prover->index, core, life->span[core].begin);
    }
    return begins > 1 && !order_reaches_without(prover->order, x, begin, begins);
}

bool lifespan_begun(Prover *prover, const Lifespan *life, const Event *x)
{
    if (life->always || prover->index->canary == PROVE_CANARY_OWN_ENTRY)
        return true;
    if (!life->span)
        return false;
    bool own = x->core >= life->first_core && x->core < life->first_core + life->cores;
    if (life->exit || (life->entry && !own)) {
        uint32_t near = x->core / prover->index->per_device == life->first_core / prover->index->per_device ? x->core : life->first_core;
        if (x->position > life->entry[x->core].begin && life->entry[x->core].begin != NONE) {
            const Join enter = join_of(prover->program, index_step(prover->index, x->core, life->entry[x->core].begin));
            if (join_has(prover->program, &enter, life->first_core))
                return life->entry[life->first_core].begin != NONE;
        }
        return precedes(prover, near, life->entry[near].begin, x);
    }
    return life->cores > 1 ? after_any(prover, life, x) : precedes(prover, life->first_core, life->span[life->first_core].begin, x);
}

bool lifespan_end(const Prover *prover, const Lifespan *life, uint32_t core, Event *end)
{
    if (life->always || !life->span)
        return false;
    uint32_t last = NONE;
    for (uint32_t c = life->first_core; c < life->first_core + life->cores; c++) {
        if (life->span[c].begin == NONE)
            continue;
        if (life->span[c].end == NONE)
            return false;
        if (last == NONE || c == core)
            last = c;
    }
    if (last == NONE)
        return false;
    *end = index_event(prover->index, last, life->span[last].end);
    return true;
}

bool lifespan_over_after(Prover *prover, const Lifespan *life, const Event *x)
{
    Event end;
    if (!lifespan_end(prover, life, x->core, &end))
        return true;
    if (life->exit || life->cores == 1)
        return order_known(prover->order, &end, x) != ORDER_YES && order_must(prover->order, x, &end);
    for (uint32_t core = life->first_core; core < life->first_core + life->cores; core++) {
        if (life->span[core].begin == NONE)
            continue;
        end = index_event(prover->index, core, life->span[core].end);
        if (order_must(prover->order, x, &end))
            return true;
    }
    return false;
}
