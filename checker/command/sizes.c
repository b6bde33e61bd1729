/* sizes.c - sizes decide if checks that differ in parameters only agree; a parameter does if those of one value agree. */
#include "sizes.h"
#include <string.h>
#include "../report/text.h"

enum { SIZES_SHOWN = 4 };

static void clear_sized(gpointer data)
{
    g_free(((Sized *)data)->faults);
}

GArray *sizes_begin(void)
{
    GArray *sizes = g_array_new(FALSE, FALSE, sizeof(Sized));
    g_array_set_clear_func(sizes, clear_sized);
    return sizes;
}

void sizes_add(GArray *sizes, const CheckSpec *spec, Verdict verdict, char *faults)
{
    const Sized sized = {spec, verdict, faults};
    g_array_append_val(sizes, sized);
}

static const Sized *sized_at(const GArray *sizes, guint i)
{
    return &g_array_index(sizes, Sized, i);
}

static bool same_outcome(const Sized *a, const Sized *b)
{
    return a->verdict == b->verdict && !strcmp(a->faults, b->faults);
}

/* Nothing but the number of devices on a line. */
static bool is_plain(const CheckSpec *spec)
{
    return spec->overrides == 0 && spec->mesh.axes == 1;
}

/* "2, 4 to 6 devices", from one check on, those with the same outcome. */
static void append_devices(GString *out, const GArray *sizes, guint first)
{
    uint32_t begin = 0, end = 0;
    unsigned parts = 0;
    for (guint i = first; i <= sizes->len; i++) {
        bool same = i < sizes->len && same_outcome(sized_at(sizes, i), sized_at(sizes, first));
        uint32_t devices = same ? mesh_devices(&sized_at(sizes, i)->spec->mesh) : 0;
        if (same && begin && devices == end + 1) {
            end = devices;
        } else if (same || i == sizes->len) {
            if (begin)
                g_string_append_printf(out, end > begin ? "%s%u to %u" : "%s%u", parts++ ? ", " : "", begin, end);
            begin = end = devices;
        }
    }
    g_string_append(out, parts == 1 && !strcmp(out->str + out->len - 2, " 1") ? " device" : " devices");
}

static void append_sizes(GString *out, const GArray *sizes, guint first)
{
    unsigned shown = 0, more = 0;
    for (guint i = first; i < sizes->len; i++) {
        if (!same_outcome(sized_at(sizes, i), sized_at(sizes, first)))
            continue;
        g_autofree char *size = text_size(sized_at(sizes, i)->spec);
        if (shown < SIZES_SHOWN)
            g_string_append_printf(out, "%s%s", shown++ ? "; " : "", size);
        else
            more++;
    }
    if (more)
        g_string_append_printf(out, "; and %u more", more);
}

char *sizes_words(const GArray *sizes)
{
    GString *out = g_string_new(NULL);
    bool plain = true;
    for (guint i = 0; i < sizes->len; i++)
        plain &= is_plain(sized_at(sizes, i)->spec);
    for (guint i = 0; i < sizes->len; i++) {
        const Sized *sized = sized_at(sizes, i);
        bool told = false;
        for (guint k = 0; k < i; k++)
            told |= same_outcome(sized_at(sizes, k), sized);
        if (told)
            continue;
        g_string_append_printf(out, "%s%s at ", out->len ? "; " : "", verdict_name(sized->verdict));
        (plain ? append_devices : append_sizes)(out, sizes, i);
        if (*sized->faults)
            g_string_append_printf(out, ": %s", sized->faults);
    }
    return g_string_free(out, FALSE);
}

static bool same_mesh(const CheckSpec *a, const CheckSpec *b, size_t parameter)
{
    (void)parameter;
    return a->mesh.axes == b->mesh.axes && !memcmp(a->mesh.size, b->mesh.size, a->mesh.axes * sizeof *a->mesh.size);
}

static bool same_value(const CheckSpec *a, const CheckSpec *b, size_t parameter)
{
    return a->override[parameter].value == b->override[parameter].value;
}

/* Do all checks that are the same in this respect agree, and some others not? */
static bool decides(const GArray *sizes, bool same(const CheckSpec *, const CheckSpec *, size_t), size_t parameter)
{
    for (guint i = 0; i < sizes->len; i++)
        for (guint k = 0; k < i; k++) {
            const Sized *a = sized_at(sizes, i), *b = sized_at(sizes, k);
            bool judged = a->verdict <= VERDICT_FAULTY && b->verdict <= VERDICT_FAULTY;
            if (judged && a->verdict != b->verdict && same(a->spec, b->spec, parameter))
                return false;
        }
    return true;
}

/* The faulty check of fewest devices, the first among equals; NULL: no check is faulty, or none is verified. */
static const CheckSpec *smallest_wrong(const GArray *sizes)
{
    const CheckSpec *wrong = NULL;
    bool right = false;
    for (guint i = 0; i < sizes->len; i++) {
        const Sized *sized = sized_at(sizes, i);
        right |= sized->verdict == VERDICT_VERIFIED;
        if (sized->verdict == VERDICT_FAULTY && (!wrong || mesh_devices(&sized->spec->mesh) < mesh_devices(&wrong->mesh)))
            wrong = sized->spec;
    }
    return right ? wrong : NULL;
}

char *sizes_what_decides(const GArray *sizes)
{
    const CheckSpec *wrong = smallest_wrong(sizes);
    if (!wrong)
        return NULL;
    if (decides(sizes, same_mesh, 0))
        return g_strdup_printf("%s is right for some sizes only: the smallest wrong one here is %u devices.", wrong->program,
                               mesh_devices(&wrong->mesh));
    for (size_t p = 0; p < wrong->overrides; p++)
        if (decides(sizes, same_value, p))
            return g_strdup_printf("%s is right for some values of %s only: the first wrong one here is %" G_GINT64_FORMAT ".",
                                   wrong->program, wrong->override[p].name, wrong->override[p].value);
    g_autofree char *size = text_size(wrong);
    return g_strdup_printf("%s is right in some of these checks only: the smallest wrong one is %s.", wrong->program, size);
}
