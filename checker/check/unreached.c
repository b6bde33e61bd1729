/* unreached.c - compares the sites that ran with the module's list of all sites.
 *
 * A function in which nothing ran belongs to another program of the module, or to another branch of PROGRAM, and is skipped, unless it is
 * the kernel of one of this program's launches.
 */
#include "unreached.h"
#include <glib.h>
#include "../../model/expectation.h"

static char *site_key(const char *file, unsigned line, unsigned counter)
{
    return g_strdup_printf("%u %u %s", line, counter, file);
}

static char *function_key(const char *file, const char *function)
{
    return g_strdup_printf("%s %s", function, file);
}

static void advise(Record *record, AdviceId advice, uint32_t site)
{
    *(Advised *)store_push(&record->advised, 1) = (Advised){ .advice = (uint8_t)advice, .site = site };
}

static bool runs_somewhere(const Program *program, uint32_t launch)
{
    int64_t steps = 1;
    for (uint32_t d = 0; d < program_launch(program, launch)->grid_dims; d++)
        steps *= program_launch(program, launch)->grid[d];
    for (uint32_t d = 0; d < program->devices && steps > 0; d++)
        if (program_launch_on_device(program, launch, d))
            return true;
    return false;
}

static void add_function(GHashTable *functions, const Program *program, const Site *site)
{
    g_hash_table_add(functions, function_key(program_text(program, site->file), program_text(program, site->function)));
}

/* Functions in which some operation ran, and kernels that did none. */
static GHashTable *list_functions(const Program *program, Record *record)
{
    GHashTable *functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree bool *kernel = g_new0(bool, program->sites.count + 1);
    for (uint32_t l = 0; l < program->launches.count; l++) {
        const Launch *launch = program_launch(program, l);
        kernel[launch->kernel] = true;
        if (runs_somewhere(program, l))
            add_function(functions, program, program_get_site(program, launch->kernel));
        else
            advise(record, ADVICE_NEVER_RAN, launch->site);
    }
    for (uint32_t i = 0; i < program->sites.count; i++)
        if (!kernel[i])
            add_function(functions, program, program_get_site(program, i));
    return functions;
}

void unreached_note(const ProgramModule *module, Program *program, Record *record)
{
    if (!record_all_finished(record))
        return;
    g_autoptr(GHashTable) sites = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) functions = list_functions(program, record);
    for (size_t i = 0; i < program->sites.count; i++) {
        const Site *site = &STORE(Site, &program->sites, i);
        g_hash_table_add(sites, site_key(program_text(program, site->file), site->line, site->counter));
    }
    for (size_t i = 0; i < module->steps; i++) {
        const ProgramStep *step = &module->step[i];
        g_autofree char *key = site_key(step->file, step->line, step->counter), *function = function_key(step->file, step->function);
        if (!g_hash_table_contains(sites, key) && g_hash_table_contains(functions, function))
            advise(record, ADVICE_UNREACHED, program_site(program, step->file, step->function, step->line, step->counter));
    }
}

bool *unreached_expectations(Machine *machine)
{
    const Program *program = machine_program(machine);
    bool *idle = g_new0(bool, program->expectations.count + 1);
    for (size_t i = 0; i < program->expectations.count && program->usage_error == NULL; i++) {
        const Expectation *expectation = &STORE(Expectation, &program->expectations, i);
        idle[i] = expectation->any_value || expectation_holds(machine, expectation);
    }
    return idle;
}

void unreached_note_expectations(const bool *idle, Record *record)
{
    bool all = true;
    for (size_t i = 0; i < record->program->expectations.count; i++) {
        all &= idle[i];
        if (idle[i])
            advise(record, ADVICE_IDLE_EXPECTATION, STORE(Expectation, &record->program->expectations, i).site);
    }
    if (all)
        record->results_checked = false;
}
