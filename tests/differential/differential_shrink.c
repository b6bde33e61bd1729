/* differential_shrink.c - makes a disagreeing program smaller, one operation at a time, and prints it. */
#include <string.h>
#include "differential.h"

static void remove_at(RandomProgram *random, unsigned core, unsigned index)
{
    RandomOp *op = random->op[core];
    memmove(&op[index], &op[index + 1], (random->ops[core] - index - 1u) * sizeof *op);
    random->ops[core]--;
    for (unsigned i = 0; i < random->ops[core]; i++) {
        if (op[i].kind == OP_WAIT_MEANT && op[i].value > index)
            op[i].value--;
        if (i < index && op[i].skip > 0 && i + op[i].skip >= index)
            op[i].skip--;
    }
}

static bool names(const RandomOp *op, int thing)
{
    return op->kind != OP_OPEN && op->kind != OP_CLOSE
        && (op->at.thing == thing || op->source.thing == thing || op->send.thing == thing || op->receive.thing == thing);
}

/* Takes out one operation of a core, a scope with both its ends. False: others depend on it. */
static bool drop_operation(RandomProgram *random, unsigned core, unsigned index)
{
    const RandomOp dropped = random->op[core][index];
    const RandomOp *op = random->op[core];
    if (dropped.kind == OP_CLOSE)
        return false;
    for (unsigned i = random->ops[core]; i-- > 0;) {
        if ((op[i].kind == OP_WAIT_MEANT && op[i].value == index) || (dropped.kind == OP_OPEN && names(&op[i], dropped.at.thing)))
            return false;
    }
    for (unsigned i = random->ops[core]; dropped.kind == OP_OPEN && i-- > 0;)
        if (op[i].kind == OP_CLOSE && op[i].at.thing == dropped.at.thing)
            remove_at(random, core, i);
    remove_at(random, core, index);
    return true;
}

void differential_shrink(RandomProgram *random, const DifferentialOptions *options)
{
    DifferentialStats ignored = { 0 };
    random->rotated = false;
    for (bool again = true; again;) {
        again = false;
        for (unsigned core = 0; core < random->cores; core++)
            for (unsigned i = random->ops[core]; i-- > 0;) {
                RandomProgram smaller = *random;
                if (!drop_operation(&smaller, core, i))
                    continue;
                g_autofree char *difference = differential_compare(&smaller, options, &ignored);
                if (difference == NULL)
                    continue;
                *random = smaller, again = true;
                i = MIN(i, random->ops[core]);
            }
    }
}

char *differential_report(const RandomProgram *random, const DifferentialOptions *options, const char *difference)
{
    RandomProgram smaller = *random;
    DifferentialStats ignored = { 0 };
    differential_shrink(&smaller, options);
    g_autofree char *still = differential_compare(&smaller, options, &ignored);
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "seed %" G_GUINT64_FORMAT ", features", random->seed);
    random_describe_features(random->features, out);
    g_string_append_printf(out, "\n%s\nmade smaller:\n%s\n", difference, still ? still : difference);
    random_print(&smaller, out);
    return g_string_free(out, FALSE);
}
