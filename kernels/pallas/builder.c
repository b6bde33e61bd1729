/* builder.c - context of a call of the API: its program, its site, its refs.
 *
 * Each macro call has a constant PlSite in the author's module, so a table keyed by its address finds the interned id without comparing
 * strings. The table is emptied for each program that is built, and when calls of two programs alternate (tests).
 */
#include "builder.h"
#include <glib.h>
#include <stdarg.h>
#include <string.h>
#include "../../model/guard.h"
#include "../../model/outside.h"

enum { REF_MARK = 0x70726566, BARRIER_MARK = 0x70626172, WINDOWS_MARK = 0x7077696e, SITES = 4096 };

Builder *builder_open;
BuilderFunction *builder_function;

static struct {
    const Program *program;
    uint32_t generation;
    struct { const PlSite *here; uint32_t caller, site; } slot[SITES];
} known;

Program *builder_program(void)
{
    if (builder_function != NULL)
        return builder_function->program;
    if (core_running != NULL)
        return core_running->program;
    g_assert(builder_open != NULL);
    return builder_open->program;
}

/* The author's name for the function: KERNEL and PROGRAM add a prefix, and the compiler may inline one function into another. */
const char *builder_function_name(const char *function)
{
    static const char *const prefix[] = { "pl_body_", "pl_build_", "pl_call_" };
    for (size_t i = 0; i < G_N_ELEMENTS(prefix); i++)
        if (g_str_has_prefix(function, prefix[i]))
            return function + strlen(prefix[i]);
    return function;
}

static uint32_t site_of(const PlSite *here, uint32_t caller)
{
    Program *program = builder_program();
    if (known.program != program || known.generation != program->generation) {
        memset(known.slot, 0, sizeof known.slot);
        known.program = program, known.generation = program->generation;
    }
    size_t slot = (((uintptr_t)here / 8 + caller) * 0x9e3779b97f4a7c15u) >> 52;
    if (known.slot[slot].here != here || known.slot[slot].caller != caller) {
        uint32_t site = program_site(program, here->file, builder_function_name(here->function), here->line, here->counter);
        known.slot[slot].here = here, known.slot[slot].caller = caller;
        known.slot[slot].site = caller != 0 ? program_site_called(program, site, caller - 1) : site;
    }
    return known.slot[slot].site;
}

uint32_t builder_site(const PlSite *here)
{
    return site_of(here, builder_function == NULL && core_running != NULL ? core_running->caller : 0);
}

uint32_t builder_line(const PlSite *here)
{
    return site_of(here, 0);
}

void builder_misuse(const PlSite *here, const char *format, ...)
{
    char text[1024];                            /* on the stack, as this does not return */
    va_list arguments;
    va_start(arguments, format);
    g_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (builder_function == NULL && core_running != NULL)
        core_usage(core_running, builder_site(here), "%s", text);
    program_set_usage_error(builder_program(), builder_site(here), "%s", text);
    siglongjmp(builder_function != NULL ? builder_function->unwind : builder_open->unwind, 1);
}

void builder_begin_function(void)
{
    if (core_running == NULL)
        outside_begin();
}

void builder_end_function(uint32_t site)
{
    char *changed = outside_changed();
    if (changed == NULL)
        return;
    program_set_usage_error(builder_program(), site, "the function of values has written to %s: it may use its arguments and what PROGRAM "
                            "left", changed);
    g_free(changed);
    siglongjmp(builder_function->unwind, 1);
}

void builder_refuse(const char *function, const char *what)
{
    const char *name = function != NULL ? builder_function_name(function)
        : builder_function != NULL ? "a function of values" : "the kernel";
    if (builder_function == NULL && core_running == NULL)
        return;
    if (builder_function != NULL || !core_running->needs_contents)
        program_set_usage_error(builder_program(), NONE, "%s %s", name, what);
    if (builder_function != NULL)
        siglongjmp(builder_function->unwind, 1);
    core_usage(core_running, program_launch(core_running->program, core_running->launch)->site, "%s %s", name, what);
}

Core *builder_core(const PlSite *here, const char *what)
{
    if (builder_function != NULL || core_running == NULL)
        builder_misuse(here, "%s belongs in a KERNEL", what);
    return core_running;
}

Builder *builder_of(const PlSite *here, const char *what)
{
    if (builder_function != NULL || core_running != NULL)
        builder_misuse(here, "%s belongs in PROGRAM", what);
    return builder_open;
}

Ref builder_ref(const PlSite *here, PlRef ref, const char *what)
{
    const Program *program = builder_program();
    if (ref.mark == BARRIER_MARK)
        builder_misuse(here, "%s: pl_barrier_semaphore() is an argument of a launch and nothing else", what);
    if (ref.mark == WINDOWS_MARK)
        builder_misuse(here, "%s: pl_windows(...) is an argument of a launch and nothing else", what);
    if (ref.mark != REF_MARK || ref.buffer >= program->decls.count || ref.view >= intern_count(&program->views))
        builder_misuse(here, "%s: this PlRef was never set", what);
    return (Ref){ ref.buffer, ref.view, ref.core };
}

PlRef builder_make_ref(uint32_t decl, uint32_t view, uint32_t core)
{
    return (PlRef){ decl, view, core, REF_MARK };
}

PlRef builder_barrier_placeholder(void)
{
    return (PlRef){ NONE, NONE, NONE, BARRIER_MARK };
}

bool builder_is_barrier_placeholder(PlRef ref)
{
    return ref.mark == BARRIER_MARK;
}

PlRef builder_windows_placeholder(uint32_t number)
{
    return (PlRef){ number, NONE, NONE, WINDOWS_MARK };
}

bool builder_is_windows_placeholder(PlRef ref)
{
    return ref.mark == WINDOWS_MARK;
}

const char *builder_name(const Program *program, uint32_t decl)
{
    const char *name = program_text(program, program_decl(program, decl)->name);
    return *name != '\0' ? name : "this ref";
}

const View *builder_view(const PlSite *here, PlRef ref, const char *what)
{
    return program_get_view(builder_program(), builder_ref(here, ref, what).view);
}

/* A device id out of range is the kernel's fault, reported where the device would be used. */
static Target to_target(Core *core, uint32_t site, PlDevice device, const char *what, uint32_t described)
{
    const Program *program = core->program;
    if (device.has_device && (device.device < 0 || device.device >= program->devices))
        core_stop(core, site, FAULT_SHAPE, "%s names device %lld, but there are devices 0 to %u%s", what, (long long)device.device,
                  program->devices - 1, guard_described(core, site, described));
    if (device.has_core && (device.core < 0 || device.core >= program->cores_per_device))
        core_stop(core, site, FAULT_SHAPE, "%s names core %lld, but a device has cores 0 to %u%s", what, (long long)device.core,
                  program->cores_per_device - 1, guard_described(core, site, described));
    return (Target){ device.has_device ? (uint32_t)device.device : NONE, device.has_core ? (uint32_t)device.core : NONE };
}

Target builder_target(Core *core, const PlSite *here, PlDevice device, const char *what)
{
    return to_target(core, builder_site(here), device, what, NONE);
}

Target builder_copy_target(Core *core, const PlSite *here, const PlCopy *copy)
{
    return to_target(core, builder_site(here), copy->to, "remote copy", copy->site);
}

BuilderScope *builder_new_scope(Core *core, uint32_t site)
{
    BuilderScope *scope = core_alloc(core, sizeof *scope);
    *scope = (BuilderScope){ .outer = core->open, .id = ++core->marks, .decl = NONE, .site = site };
    return scope;
}

Tile *builder_new_tile(Core *core)
{
    return core_alloc(core, sizeof(Tile));
}

PlTile builder_hold(Tile *tile)
{
    return (PlTile){ tile, ((const BuilderScope *)core_running->open)->id };
}

Tile *builder_tile(const PlSite *here, PlTile tile, const char *what)
{
    const BuilderScope *scope = builder_core(here, what)->open;
    if (tile.tile == NULL)
        builder_misuse(here, "%s: this PlTile was never set", what);
    while (scope != NULL && scope->id != tile.scope)
        scope = scope->outer;
    if (scope == NULL)
        builder_misuse(here, "%s: this PlTile is gone: tiles live until the end of the grid step, or of the block with PL_SCOPED "
                             "scratch in which they were made", what);
    return tile.tile;
}
