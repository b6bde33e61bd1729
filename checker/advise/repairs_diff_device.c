/* repairs_diff_device.c - another device as the source says it: by a name that it has for it. */
#include "repairs_diff.h"
#include <string.h>

#define A_CALL "\\w+(?:\\([^()]*\\))?"                         /* or a name */

/* Of how many devices further than the operation's own: the difference of two relations. False: not the same on all cores. */
static bool find_shift(const Repairs *r, const uint32_t *from, const uint32_t *to, int64_t *shift)
{
    bool known = false;
    const uint32_t cores = r->program->cores_per_device, devices = r->program->devices;
    for (uint32_t core = 0; core < r->program->cores; core++) {
        if (from[core] == NONE || to[core] == NONE)
            continue;
        int64_t now = ((int64_t)(to[core] / cores) - from[core] / cores + devices) % devices;
        if (known && now != *shift)
            return false;
        *shift = now, known = true;
    }
    return known;
}

static bool agree(const uint32_t *one, const uint32_t *other)
{
    bool any = false;
    for (uint32_t core = 0; core < WHATIF_CORES_MAX; core++) {
        if (one[core] == NONE || other[core] == NONE)
            continue;
        if (one[core] != other[core])
            return false;
        any = true;
    }
    return any;
}

/* The device argument of the operation at that line. */
static bool find_device(const Repairs *r, const Statement *statement, const EditWhere *where, TextSpan *argument)
{
    TextSpan call, device;
    unsigned count = 0;
    bool copy = where->step == STEP_COPY_START;
    bool found = copy ? statement_find_call(statement, COPIES, 0, &call) : diff_find_step(r, statement, where, &call);
    while (found && statement_argument(statement, call, count, &device))
        count++;
    return found && count > 1 && statement_argument(statement, call, count - 1, argument);
}

static char *inner_device(const char *text)
{
    g_autoptr(GRegex) regex = g_regex_new("^pl_device\\((.*)\\)$", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    return g_regex_match(regex, text, 0, &match) ? g_match_info_fetch(match, 1) : NULL;
}

/* A name that the function defines as the neighbour so many devices further. */
static char *defined_neighbour(const Repairs *r, const char *file, unsigned line, int64_t away)
{
    const char *next = "\\b(\\w+) = \\(" A_CALL " \\+ 1\\) %", *previous = "\\b(\\w+) = \\(" A_CALL " \\+ " A_CALL " - 1\\) %";
    const char *pattern = away == 1 ? next : away == -1 ? previous : NULL;
    g_autoptr(GRegex) regex = pattern ? g_regex_new(pattern, 0, 0, NULL) : NULL;
    for (unsigned up = line, begin = text_begin_of_function(r->source, file, line); regex != NULL && up >= begin && up >= 1; up--) {
        const char *text = source_line(r->source, file, up);
        g_autoptr(GMatchInfo) match = NULL;
        if (text != NULL && g_regex_match(regex, text, 0, &match))
            return g_match_info_fetch(match, 1);
    }
    return NULL;
}

char *diff_device_in_source(const Repairs *r, const char *file, unsigned line, const uint32_t *target)
{
    unsigned begin = text_begin_of_function(r->source, file, line), end = text_end_of_function(r->source, file, line);
    uint32_t own[WHATIF_CORES_MAX];
    int64_t away = 0;
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        if (!op->sends || op->varies || strcmp(op->file, file) != 0 || op->line < begin || op->line > end || op->line == line
            || !agree(op->target, target))
            continue;
        const EditWhere where = op_where(op);
        unsigned made = diff_find_made(r, file, op->line);
        Statement statement = statement_at(r->source, file, made ? made : op->line);
        TextSpan argument;
        g_autofree char *text = find_device(r, &statement, &where, &argument) ? statement_text(&statement, argument) : NULL;
        char *inner = text ? inner_device(text) : NULL;
        statement_clear(&statement);
        if (inner != NULL)
            return inner;
    }
    for (uint32_t core = 0; core < WHATIF_CORES_MAX; core++)
        own[core] = core < r->program->cores ? core : NONE;
    if (!find_shift(r, own, target, &away))
        return NULL;
    char *name = defined_neighbour(r, file, line, away);
    if (name == NULL && away == r->program->devices - 1)
        name = defined_neighbour(r, file, line, -1);
    return name;
}

void diff_tell_device(const Repairs *r, const Edit *edit, Repair *repair)
{
    const Op *op = diff_find_op(r, &edit->where);
    unsigned made = op != NULL && op->kind == STEP_COPY_START ? diff_find_made(r, op->file, op->line) : 0;
    Statement statement = statement_at(r->source, edit->where.file, made ? made : edit->where.line);
    TextSpan argument;
    if (op != NULL && find_device(r, &statement, &edit->where, &argument)) {
        g_autofree char *old = statement_text(&statement, argument), *inner = inner_device(old), *now = NULL;
        int64_t shift = edit->value;
        bool known = edit->target == NULL || find_shift(r, op->target, edit->target, &shift);
        g_autoptr(GRegex) further = g_regex_new("^\\((.*) \\+ 1\\) % pl_num_devices\\(\\)$", 0, 0, NULL);
        g_autoptr(GMatchInfo) match = NULL;
        if (inner != NULL && known && (shift == -1 || shift == r->program->devices - 1) && g_regex_match(further, inner, 0, &match))
            now = g_match_info_fetch(match, 1);
        if (now == NULL && edit->target != NULL)
            now = diff_device_in_source(r, edit->where.file, statement.line, edit->target);
        g_autofree char *device = now && (inner || strcmp(old, "PL_OWN") == 0) ? g_strdup_printf("pl_device(%s)", now) : NULL;
        if (device != NULL)
            statement_replace(&statement, argument, device);
    }
    statement_tell(&statement, repair);
    statement_clear(&statement);
}
