/* steering.c - an element that is only moved keeps its origin, so the origin of what a core looks at names the input that it came from. */
#include "../../model/input.h"
#include "../../model/tile.h"
#include "check.h"
#include "check_parts.h"

enum { ELEMENTS_MAX = 1 << 20 };                /* of an input, on all devices: a larger one is no table */

static bool has_domain(const Program *program, uint32_t decl)
{
    for (size_t i = 0; i < program->drawn.count; i = input_end_of(program, i))
        if (input_drawn(program, i)->table == decl)
            return true;
    return false;
}

/* The operations at which a core looks at an element of the input; `places` maps an origin to a GArray of sites. */
static unsigned count_places(const Program *program, GHashTable *places, uint32_t decl, uint32_t *first)
{
    const int64_t elements = view_elements(program_get_view(program, program_decl(program, decl)->view));
    unsigned count = 0;
    for (uint32_t device = 0; elements * program->devices <= ELEMENTS_MAX && device < program->devices; device++)
        for (int64_t i = 0; i < elements; i++) {
            const uint64_t origin = tile_input_origin(device, decl, (uint64_t)i);
            const GArray *sites = g_hash_table_lookup(places, &origin);
            if (sites != NULL && count == 0)
                *first = g_array_index(sites, uint32_t, 0);
            count += sites ? sites->len : 0;
        }
    return count;
}

static void free_sites(gpointer sites)
{
    g_array_unref(sites);
}

static GHashTable *list_places(const Program *program)
{
    GHashTable *places = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_sites);
    for (uint32_t site = 0; site < program->steered.count && site < program->sites.count; site++) {
        uint64_t *origin = &STORE(uint64_t, &program->steered, site);
        GArray *sites = g_hash_table_lookup(places, origin);
        if (*origin != 0 && sites == NULL) {
            sites = g_array_new(FALSE, FALSE, sizeof site);
            g_hash_table_insert(places, origin, sites);
        }
        if (*origin != 0)
            g_array_append_val(sites, site);
    }
    return places;
}

void check_note_steering(CheckResult *result)
{
    const Program *program = result->program;
    g_autoptr(GHashTable) places = list_places(program);
    for (uint32_t d = 0; d < program->decls.count; d++) {
        const Decl *decl = program_decl(program, d);
        uint32_t site = NONE;
        const bool integers = decl->input && !decl->opaque && decl->space != SPACE_SEMAPHORE && !dtype_is_float(decl->dtype);
        if (!integers || decl->constant || has_domain(program, d))
            continue;
        const unsigned count = count_places(program, places, d, &site);
        if (count == 0)
            continue;
        const char *name = program_text(program, decl->name);
        g_autofree char *words = g_strdup_printf("%s steers %u operation%s, and only these values of it were checked: give it a domain "
                                                 "(pl_table_among; ints() in Python), and --inputs tries others.",
                                                 *name ? name : "An unnamed input", count, count == 1 ? "" : "s");
        const Place place = { .core = NONE, .copy = NONE, .kind = STEP_WAIT, .site = site, .object = NONE, .region = NONE };
        check_add_advice(result, ADVICE_NO_DOMAIN, words, &place);
    }
}
