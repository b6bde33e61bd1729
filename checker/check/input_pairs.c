/* input_pairs.c - accesses are sorted by object, so that those which may conflict are neighbours. */
#include "input_pairs.h"
#include <stddef.h>
#include <string.h>
#include "input_news.h"

enum { ACCESSES_MAX = 1 << 14, NEAR = 64, PAIRS_MOST = 1 << 19 };     /* NEAR: accesses are compared with so many that follow */

typedef struct Access { uint32_t object, site, agent, region; bool write; } Access;

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, offsetof(Access, write) + 1);
}

static void add(GArray *all, Access access)
{
    Access clean;
    memset(&clean, 0, sizeof clean);
    clean.object = access.object, clean.site = access.site, clean.agent = access.agent, clean.region = access.region;
    clean.write = access.write;
    if (access.object != NONE && all->len < ACCESSES_MAX)
        g_array_append_val(all, clean);
}

/* Agents are cores, then copies. */
static GArray *list_accesses(const Record *record)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(Access));
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step_on_memory(step->kind))
            add(all, (Access){ step->object, step->site, step->core, step->value, step->kind != STEP_LOAD });
    }
    for (size_t i = 0; i < record->copies.count; i++) {
        const Copy *copy = &STORE(Copy, &record->copies, i);
        const uint32_t agent = record->program->cores + (uint32_t)i;
        add(all, (Access){ copy->source, copy->site, agent, copy->source_region, false });
        add(all, (Access){ copy->target, copy->site, agent, copy->target_region, true });
    }
    g_array_sort(all, compare);
    return all;
}

static bool conflict(const Program *program, const Access *a, const Access *b)
{
    return a->agent != b->agent && (a->write || b->write)
        && region_overlaps(program_get_region(program, a->region), program_get_region(program, b->region));
}

bool input_pairs(InputSearch *search, const Record *record)
{
    bool news = false;
    g_autoptr(GArray) all = list_accesses(record);
    for (guint i = 0; i < all->len && intern_count(&search->pairs) < PAIRS_MOST; i++) {
        const Access *a = &g_array_index(all, Access, i);
        for (guint j = i + 1; j < MIN(i + NEAR, all->len) && g_array_index(all, Access, j).object == a->object; j++) {
            const Access *b = &g_array_index(all, Access, j);
            if (!conflict(record->program, a, b))
                continue;
            const uint64_t one = input_news_site(record->program, a->site), other = input_news_site(record->program, b->site);
            const uint64_t key[2] = { MIN(one, other), MAX(one, other) };
            const size_t before = intern_count(&search->pairs);
            news |= intern_add(&search->pairs, key, sizeof key) >= before;
        }
    }
    return news;
}
