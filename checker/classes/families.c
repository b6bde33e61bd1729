/* families.c - decides together the classes whose cores do the same steps and differ only in what looks observed.
 *
 * A look changes nothing. If only looks make objects contended, the steps of a class without its looks form a program without conflicts,
 * and one proof decides all its executions. Those of every class of the family, looks omitted, are among them: if that proof finds
 * nothing, no class of the family has a fault. If it finds something, the looks may exclude it, and each class is proved by itself. The
 * stages at which cores ended identify their steps, unless a core returned to an earlier stage.
 */
#include "../../model/moment.h"
#include "class_results.h"

enum { KEYS_MAX = 1 << 16, KEYS_BYTES_MAX = 1 << 26, FAILURES_MAX = 8 };

struct Families {
    Intern keys;                                /* keys: for each core, the number of its step sequence */
    GByteArray *verdict;                        /* FamilyVerdict by key */
    uint32_t *key;                              /* scratch */
    uint32_t cores;
    uint64_t failures, spared;                  /* proofs that decided nothing; classes that needed no proof */
};

Families *families_new(const Program *program)
{
    Families *families = g_new0(Families, 1);
    families->cores = program->cores;
    families->key = g_new(uint32_t, families->cores);
    return families;
}

static void forget(Families *families)
{
    if (families->verdict == NULL)
        return;
    intern_clear(&families->keys);
    g_byte_array_unref(g_steal_pointer(&families->verdict));
}

void families_free(Families *families)
{
    forget(families);
    g_free(families->key);
    g_free(families);
}

static uint32_t number_of(Families *families)
{
    size_t bytes = families->cores * sizeof *families->key;
    if (families->verdict != NULL && (families->verdict->len == KEYS_MAX || families->verdict->len * bytes > KEYS_BYTES_MAX))
        forget(families);
    if (families->verdict == NULL) {
        intern_init_own(&families->keys, KEYS_MAX, KEYS_BYTES_MAX + 2 * bytes);
        families->verdict = g_byte_array_new();
    }
    uint32_t number = intern_add(&families->keys, families->key, bytes);
    if (number == families->verdict->len)
        g_byte_array_append(families->verdict, (const guint8[]){ FAMILY_UNTRIED }, 1);
    return number;
}

static bool came_back(const Explorer *x)
{
    size_t steps = 0, done = 0;
    for (uint32_t c = 0; c < x->program->cores; c++)
        steps += x->results->position[c];
    for (size_t i = 0; i < x->world->events; i++)
        done += !moment_is(x->world->event[i].kind);
    return done != steps;
}

uint32_t families_find(Explorer *x)
{
    Families *families = x->results->families;
    if (!x->usage->only_looks || x->usage->raises || families->failures > FAILURES_MAX + families->spared / FAILURES_MAX || came_back(x))
        return NONE;
    bool ignored = x->options->canary == CLASSES_CANARY_STEPS_IGNORED;
    for (uint32_t c = 0; c < families->cores; c++)
        families->key[c] = ignored ? 0 : numbers_of(&x->shared->numbers, x->world->stage[c])->steps;
    uint32_t steps = number_of(families);
    families->spared += families->verdict->data[steps] == FAMILY_FAULTLESS;
    return steps;
}

FamilyVerdict families_verdict(const Families *families, uint32_t steps)
{
    return families->verdict->data[steps];
}

void families_note(Families *families, uint32_t steps, FamilyVerdict verdict)
{
    families->verdict->data[steps] = (guint8)verdict;
    families->failures += verdict == FAMILY_OPEN;
}
