/* rewind.c - counts of the tables that runs add to. */
#include "rewind.h"
#include <glib.h>

#define INTERNS(p) { &(p)->strings, &(p)->views, &(p)->regions, &(p)->site_keys, &(p)->scopes }
#define STORES(p) { &(p)->sites, &(p)->decls, &(p)->labels, &(p)->object_decls, &(p)->view_regions, &(p)->semaphore_decls, \
                    &(p)->scope_decls, &(p)->barrier_decls }

Rewind rewind_mark(const Program *program)
{
    Rewind mark = { .objects = program->objects, .semaphores = program->semaphores };
    const Intern *const intern[] = INTERNS(program);
    const Store *const store[] = STORES(program);
    for (size_t i = 0; i < G_N_ELEMENTS(intern); i++)
        mark.interns[i] = intern_count(intern[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(store); i++)
        mark.stores[i] = store[i]->count;
    return mark;
}

/* Clears cached regions of older views whose ids are gone. */
static void forget_regions(Program *program)
{
    for (size_t i = 0; i < program->view_regions.count; i++) {
        uint32_t *cached = &STORE(uint32_t, &program->view_regions, i);         /* id + 1 */
        *cached = *cached > intern_count(&program->regions) ? 0 : *cached;
    }
}

void rewind_to(Program *program, const Rewind *mark)
{
    Intern *const intern[] = INTERNS(program);
    Store *const store[] = STORES(program);
    if (program->racing.rivals.count > 0)
        return;
    for (size_t i = 0; i < G_N_ELEMENTS(intern); i++)
        intern_truncate(intern[i], mark->interns[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(store); i++)
        store_truncate(store[i], mark->stores[i]);
    forget_regions(program);
    program->objects = mark->objects, program->semaphores = mark->semaphores;
    program->sites_in_order = 0;
    program_renew(program);
}
