/* aside.c - classes whose cores do the same steps and differ only in what looks saw: decided together, with the looks set aside.
 *
 * A look changes nothing. Without looks the steps of a class are a program without conflicts, if nothing but looks makes an object
 * contended, and one proof decides all its executions. Those of each class with these steps, looks left out, are among them: where that
 * proof finds nothing, none of these classes has a fault. Where it finds something the looks may rule that out, and each class is proved by
 * itself. What cores did is told by the stages where they ended, unless somebody came back to an earlier stage on the way.
 */
#include "../../model/moment.h"
#include "digest.h"

enum { KEYS_MAX = 1 << 16, KEYS_BYTES_MAX = 1 << 26, FAILURES_MAX = 8 };

struct Aside {
    Intern keys;                                /* by core: the number of its steps */
    GByteArray *verdict;                        /* AsideVerdict by key */
    uint32_t *key;                              /* scratch */
    uint32_t cores;
    uint64_t failures, spared;                  /* proofs that decided nothing; classes that needed none */
};

Aside *aside_new(const Program *program)
{
    Aside *aside = g_new0(Aside, 1);
    aside->cores = program->cores;
    aside->key = g_new(uint32_t, aside->cores);
    return aside;
}

static void forget(Aside *aside)
{
    if (aside->verdict == NULL)
        return;
    intern_clear(&aside->keys);
    g_byte_array_unref(g_steal_pointer(&aside->verdict));
}

void aside_free(Aside *aside)
{
    forget(aside);
    g_free(aside->key);
    g_free(aside);
}

static uint32_t number_of(Aside *aside)
{
    size_t bytes = aside->cores * sizeof *aside->key;
    if (aside->verdict != NULL && (aside->verdict->len == KEYS_MAX || aside->verdict->len * bytes > KEYS_BYTES_MAX))
        forget(aside);
    if (aside->verdict == NULL) {
        intern_init_own(&aside->keys, KEYS_MAX, KEYS_BYTES_MAX + 2 * bytes);
        aside->verdict = g_byte_array_new();
    }
    uint32_t number = intern_add(&aside->keys, aside->key, bytes);
    if (number == aside->verdict->len)
        g_byte_array_append(aside->verdict, (const guint8[]){ ASIDE_UNTRIED }, 1);
    return number;
}

static bool came_back(const Explorer *x)
{
    size_t steps = 0, done = 0;
    for (uint32_t c = 0; c < x->program->cores; c++)
        steps += x->digest->position[c];
    for (size_t i = 0; i < x->world->deeds; i++)
        done += !moment_is(x->world->deed[i].kind);
    return done != steps;
}

uint32_t aside_find(Explorer *x)
{
    Aside *aside = x->digest->aside;
    if (!x->usage->only_looks || x->usage->raises || aside->failures > FAILURES_MAX + aside->spared / FAILURES_MAX || came_back(x))
        return NONE;
    for (uint32_t c = 0; c < aside->cores; c++)
        aside->key[c] = x->options->canary == CLASSES_CANARY_STEPS_IGNORED ? 0 : numbers_of(&x->shared->numbers, x->world->stage[c])->steps;
    uint32_t steps = number_of(aside);
    aside->spared += aside->verdict->data[steps] == ASIDE_FAULTLESS;
    return steps;
}

AsideVerdict aside_verdict(const Aside *aside, uint32_t steps)
{
    return aside->verdict->data[steps];
}

void aside_note(Aside *aside, uint32_t steps, AsideVerdict verdict)
{
    aside->verdict->data[steps] = (guint8)verdict;
    aside->failures += verdict == ASIDE_OPEN;
}
