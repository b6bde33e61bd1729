/* unreached.c - every call of the API knows its site, and the module lists the sites of all steps: what is missing was never called.
 *
 * Functions of which nothing at all ran belong to other programs of the module, or to other branches of PROGRAM: they are passed over.
 */
#include "unreached.h"
#include <glib.h>

static char *site_key(const char *file, unsigned line, unsigned counter)
{
    return g_strdup_printf("%u %u %s", line, counter, file);
}

static char *function_key(const char *file, const char *function)
{
    return g_strdup_printf("%s %s", function, file);
}

void unreached_note(const ProgramModule *module, Program *program, Record *record)
{
    if (!record_all_finished(record))
        return;
    g_autoptr(GHashTable) sites = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < program->sites.count; i++) {
        const Site *site = &STORE(Site, &program->sites, i);
        g_hash_table_add(sites, site_key(program_text(program, site->file), site->line, site->counter));
        g_hash_table_add(functions, function_key(program_text(program, site->file), program_text(program, site->function)));
    }
    for (size_t i = 0; i < module->steps; i++) {
        const ProgramStep *step = &module->step[i];
        g_autofree char *key = site_key(step->file, step->line, step->counter), *function = function_key(step->file, step->function);
        if (g_hash_table_contains(sites, key) || !g_hash_table_contains(functions, function))
            continue;
        *(Advised *)store_push(&record->advised, 1) = (Advised){ .advice = ADVICE_UNREACHED,
            .site = program_site(program, step->file, step->function, step->line, step->counter) };
    }
}
