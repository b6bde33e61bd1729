/* input_news.c - changes that make sense for tables: a size of 0, all on one, all equal, permuted, one more. */
#include "input_news.h"
#include <string.h>
#include "../../model/input.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t input_news_site(const Program *program, uint32_t id)
{
    const Site *site = program_get_site(program, id);
    const char *file = program_text(program, site->file);
    return XXH3_64bits_withSeed(file, strlen(file), (uint64_t)site->line << 32 | site->counter);
}

bool input_news_seen(const InputSearch *search, const Program *program, uint32_t site)
{
    const uint64_t key = input_news_site(program, site);
    return intern_find(&search->lines, &key, sizeof key) != NONE;
}

bool input_news_lines(InputSearch *search, const Program *program)
{
    bool news = false;
    for (uint32_t i = 0; i < program->sites.count; i++) {
        const uint64_t key = input_news_site(program, i);
        size_t before = intern_count(&search->lines);
        news |= intern_add(&search->lines, &key, sizeof key) >= before;
    }
    return news;
}

typedef struct Draft { InputSearch *search; const Program *program; int64_t *value; size_t count; } Draft;

static const Drawn *domain_at(const Draft *draft, size_t at)
{
    return input_drawn(draft->program, at);
}

static int64_t random_at(const Draft *draft, size_t at)
{
    return rng_between(&draft->search->rng, domain_at(draft, at)->least, domain_at(draft, at)->greatest);
}

typedef enum Change {
    CHANGE_ANY, CHANGE_LEAST, CHANGE_GREATEST, CHANGE_MORE, CHANGE_LESS, CHANGE_COPY, CHANGE_SWAP, CHANGE_RUN_LEAST, CHANGE_RUN_EQUAL,
    CHANGE_ALL_ON_ONE, CHANGE_ALL, CHANGES, CHANGES_WEIGHED = CHANGES + 4
} Change;

static void change_run(Draft *draft, size_t first, size_t count, Change change)
{
    int64_t one = random_at(draft, first);
    for (size_t i = first; i < first + count; i++)
        draft->value[i] = change == CHANGE_RUN_EQUAL ? one : change == CHANGE_ALL ? random_at(draft, i) : domain_at(draft, i)->least;
    if (change == CHANGE_ALL_ON_ONE) {
        size_t heavy = first + rng_below(&draft->search->rng, count);
        draft->value[heavy] = domain_at(draft, heavy)->greatest;
    }
}

static void change_one(Draft *draft, size_t at, size_t other, Change change)
{
    int64_t *value = draft->value, before = value[at];
    switch (change) {
    case CHANGE_LEAST:
        value[at] = domain_at(draft, at)->least;
        break;
    case CHANGE_GREATEST:
        value[at] = domain_at(draft, at)->greatest;
        break;
    case CHANGE_MORE:
        value[at] = before < domain_at(draft, at)->greatest ? before + 1 : before;
        break;
    case CHANGE_LESS:
        value[at] = before > domain_at(draft, at)->least ? before - 1 : before;
        break;
    case CHANGE_COPY:
        value[at] = value[other];
        break;
    case CHANGE_SWAP:
        value[at] = value[other], value[other] = before;
        break;
    case CHANGE_ANY: case CHANGE_RUN_LEAST: case CHANGE_RUN_EQUAL: case CHANGE_ALL_ON_ONE: case CHANGE_ALL: case CHANGES:
    case CHANGES_WEIGHED:
        value[at] = random_at(draft, at);
        break;
    }
}

static void change(Draft *draft)
{
    Rng *rng = &draft->search->rng;
    const uint64_t drawn = rng_below(rng, CHANGES_WEIGHED);
    Change kind = drawn < CHANGES ? (Change)drawn : CHANGE_ANY;
    size_t at = rng_below(rng, draft->count), other = rng_below(rng, draft->count), first = MIN(at, other);
    if (kind == CHANGE_RUN_LEAST || kind == CHANGE_RUN_EQUAL)
        change_run(draft, first, MAX(at, other) - first + 1, kind);
    else if (kind == CHANGE_ALL || kind == CHANGE_ALL_ON_ONE)
        change_run(draft, 0, draft->count, kind);
    else
        change_one(draft, at, other, kind);
}

/* The first ones: all least, all one more, all greatest. */
static bool begin(Draft *draft, uint64_t number)
{
    for (size_t i = 0; i < draft->count && number <= 3; i++) {
        const Drawn *domain = domain_at(draft, i);
        draft->value[i] = number == 1 ? domain->least : number == 3 ? domain->greatest : MIN(domain->least + 1, domain->greatest);
    }
    return number <= 3;
}

/* One that was news: in half of all cases, one that was because of a line or a pair of places, mostly the last such one. */
static const Doubt *pick_base(InputSearch *search)
{
    const bool rare = search->rare.count > 0 && rng_below(&search->rng, 2) == 0;
    const Store *pool = rare ? &search->rare : &search->news;
    const bool last = rare && rng_below(&search->rng, 4) > 0;
    return pool->count == 0 ? NULL : &STORE(Doubt, pool, last ? pool->count - 1 : rng_below(&search->rng, pool->count));
}

/* One that was news, changed in a few ways. Values without a domain in the last input keep their places and are made to fit. */
static void vary(Draft *draft)
{
    InputSearch *search = draft->search;
    const Doubt *base = pick_base(search);
    if (base != NULL)
        memcpy(draft->value, input_values(search, base), MIN(base->count, draft->count) * sizeof *draft->value);
    do
        change(draft);
    while (rng_below(&search->rng, 2) == 0);
}

static bool is_fresh(InputSearch *search, const int64_t *value, size_t count)
{
    XXH128_hash_t hash = XXH3_128bits(value, count * sizeof *value);
    const uint64_t key[2] = { hash.low64, hash.high64 };
    size_t before = intern_count(&search->tried);
    return intern_add(&search->tried, key, sizeof key) >= before;
}

bool input_news_next(InputSearch *search, const Program *program)
{
    enum { ATTEMPTS = 1000 };
    size_t count = program->drawn.count;
    g_autofree int64_t *value = g_new0(int64_t, count + 1);
    Draft draft = { search, program, value, count };
    const uint64_t number = search->tally.tried + search->tally.refused;
    for (size_t i = 0; i < count; i++)
        value[i] = input_drawn(program, i)->value;
    if (number == 1)
        is_fresh(search, value, count);
    for (int attempt = 0; attempt < ATTEMPTS && count > 0; attempt++) {
        if (attempt > 0 || !begin(&draft, number))
            vary(&draft);
        if (!is_fresh(search, value, count))
            continue;
        store_reset(&search->next);
        memcpy(store_push(&search->next, count), value, count * sizeof *value);
        return true;
    }
    return false;
}
