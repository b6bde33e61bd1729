/* repairs_diff.c - a change as lines of the author's file, before and after. What is not understood is not told. */
#include "repairs_diff.h"
#include <string.h>

static bool makes_a_copy(const char *text)
{
    return text != NULL && (strstr(text, "async_copy(") != NULL || strstr(text, "async_remote_copy(") != NULL);
}

/* "c" of "pl_copy_wait_recv(c)" and of "c.wait_recv()". NULL: none. g_free. */
static char *find_variable(const char *text)
{
    static const char *const pattern[] = { "pl_copy_(?:start|wait\\w*)\\(\\s*(\\w+)", "\\b(\\w+)(?:\\[[^]]*\\])?\\.(?:start|wait)\\w*\\(" };
    for (unsigned i = 0; i < G_N_ELEMENTS(pattern); i++) {
        g_autoptr(GRegex) regex = g_regex_new(pattern[i], 0, 0, NULL);
        g_autoptr(GMatchInfo) match = NULL;
        if (g_regex_match(regex, text, 0, &match))
            return g_match_info_fetch(match, 1);
    }
    return NULL;
}

/* The line of the author's function that makes the copy which this line gets from it. 0: not found. */
static unsigned find_maker(const Repairs *r, const char *file, const char *text)
{
    g_autoptr(GRegex) call = g_regex_new("(?:=|\\()\\s*(\\w+)\\(", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    if (text == NULL || !g_regex_match(call, text, 0, &match))
        return 0;
    g_autofree char *name = g_match_info_fetch(match, 1), *pattern = g_strdup_printf("^\\w.*\\b%s\\(", name);
    for (unsigned line = 1, count = source_count(r->source, file); line <= count; line++) {
        const char *head = source_line(r->source, file, line);
        if (head == NULL || !g_regex_match_simple(pattern, head, 0, 0))
            continue;
        for (unsigned in = line, end = text_end_of_function(r->source, file, line); in < end; in++)
            if (makes_a_copy(source_line(r->source, file, in)))
                return in;
    }
    return 0;
}

unsigned diff_find_made(const Repairs *r, const char *file, unsigned line)
{
    const char *text = line >= 1 ? source_line(r->source, file, line) : NULL;
    if (text == NULL || makes_a_copy(text))
        return text == NULL ? 0 : line;
    g_autofree char *variable = find_variable(text);
    unsigned up = variable ? text_find_definition(r->source, file, line, variable) : 0;
    const char *definition = up != 0 ? source_line(r->source, file, up) : text;
    return makes_a_copy(definition) ? up : find_maker(r, file, definition);
}

/* The name that a copy made or started at that line has. NULL: none. g_free. */
static char *variable_of_copy(const Repairs *r, const char *file, unsigned line)
{
    g_autoptr(GMatchInfo) match = NULL;
    g_autoptr(GRegex) regex = g_regex_new("\\b(\\w+)(?:\\[[^]]*\\])*\\s*=\\s*\\w*(?:pl_|\\.)", 0, 0, NULL);
    const char *text = line >= 1 ? source_line(r->source, file, line) : NULL;
    if (text == NULL)
        return NULL;
    if (makes_a_copy(text))
        return g_regex_match(regex, text, 0, &match) ? g_match_info_fetch(match, 1) : NULL;
    return find_variable(text);
}

/* The calls that are steps of that kind. */
static const char *calls_of(uint8_t kind)
{
    switch (kind) {
    case STEP_LOAD: return "pl_load\\w*";
    case STEP_STORE: return "pl_store\\w*";
    case STEP_SWAP: return "pl_swap\\w*";
    case STEP_SIGNAL: return "pl_semaphore_signal";
    case STEP_WAIT: case STEP_WAIT_KEEP: return "pl_semaphore_wait|pl_copy_wait\\w*";
    case STEP_COPY_START: return COPIES "|pl_copy_start";
    case STEP_FLAG_STORE: return "pl_flag_store";
    case STEP_FLAG_ADD: return "pl_flag_add";
    case STEP_FLAG_WAIT: return "pl_flag_wait";
    default: return "";
    }
}

/* Calls of one line stand in the order of their counters. */
static unsigned which_of_line(const Repairs *r, const EditWhere *where)
{
    unsigned nth = 0, last = 0;
    for (guint i = 0; where->counter != 0 && i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        bool before = op->kind == where->step && op->line == where->line && op->counter < where->counter
            && strcmp(op->file, where->file) == 0;
        nth += before && op->counter != last;
        last = before ? op->counter : last;
    }
    return nth;
}

bool diff_find_step(const Repairs *r, const Statement *statement, const EditWhere *where, TextSpan *call)
{
    return statement_find_call(statement, calls_of(where->step), which_of_line(r, where), call);
}

/* "{ A; A; }" becomes "A;"; else the line goes, if it is nothing else. */
static void tell_dropped(const Repairs *r, const EditWhere *where, Repair *repair)
{
    Statement statement = statement_at(r->source, where->file, where->line);
    g_autoptr(GRegex) twice = g_regex_new("\\{ (.+;) \\1 \\}", 0, 0, NULL);
    g_autofree char *once = statement.old ? g_regex_replace(twice, statement.old, -1, 0, "\\1", 0, NULL) : NULL;
    if (once != NULL && strcmp(once, statement.old) != 0) {
        g_string_assign(statement.text, once);
        statement_tell(&statement, repair);
    } else if (statement_is_alone(&statement)) {
        statement_tell_removed(&statement, repair);
    }
    statement_clear(&statement);
}

static void tell_moved(const Repairs *r, const char *file, unsigned line, const char *to_file, unsigned to, bool behind, Repair *repair)
{
    Statement moved = statement_at(r->source, file, line), other = statement_at(r->source, to_file, to);
    bool same_block = moved.old && other.old && strspn(moved.old, " \t") == strspn(other.old, " \t");
    if (strcmp(file, to_file) == 0 && same_block && statement_is_alone(&moved) && (!behind || statement_is_alone(&other)))
        statement_tell_moved(&moved, repair, behind ? statement_behind(&other) : to);
    statement_clear(&moved);
    statement_clear(&other);
}

/* Where a step is put in: before the line, or behind its statement. *like: a line of that block. False: there is no such place. */
static bool find_place(const Repairs *r, const Edit *edit, unsigned *before, const char **like)
{
    const EditWhere *where = &edit->where;
    if (where->file == NULL || where->skip != 0 || where->times != 0)
        return false;
    Statement at = statement_at(r->source, where->file, where->line);
    bool behind = edit->kind != EDIT_BEFORE, fits = at.old != NULL && (!behind || statement_is_alone(&at));
    *before = behind ? statement_behind(&at) : where->line;
    *like = source_line(r->source, where->file, where->line);
    statement_clear(&at);
    return fits && *like != NULL && !g_regex_match_simple("^\\s*(else|case|\\{)", *like, 0, 0);
}

static bool is_python(const char *file)
{
    return g_str_has_suffix(file, ".py");
}

static void tell_put(const Repairs *r, const Edit *edit, const char *text, Repair *repair)
{
    unsigned before;
    const char *like;
    g_autofree char *line = text ? g_strdup_printf("%s%s", text, is_python(edit->where.file) ? "" : ";") : NULL;
    if (line != NULL && find_place(r, edit, &before, &like))
        statement_tell_put(repair, edit->where.file, before, like, line);
}

/* An operation on that semaphore in the same function. */
static const Op *find_like(const Repairs *r, const Edit *edit, const char *semaphore, uint8_t kind)
{
    unsigned begin = text_begin_of_function(r->source, edit->where.file, edit->where.line);
    unsigned end = text_end_of_function(r->source, edit->where.file, edit->where.line);
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        if (op->kind == kind && op->semaphore != NULL && semaphore != NULL && strcmp(op->semaphore, semaphore) == 0
            && strcmp(op->file, edit->where.file) == 0 && op->line > begin && op->line < end)
            return op;
    }
    return NULL;
}

/* What the source calls the semaphore: the first argument of another operation on it. NULL: there is none. */
static char *name_in_source(const Repairs *r, const Edit *edit, const char *semaphore)
{
    static const uint8_t kinds[] = { STEP_WAIT, STEP_SIGNAL, STEP_FLAG_WAIT, STEP_FLAG_STORE };
    for (unsigned k = 0; k < G_N_ELEMENTS(kinds); k++) {
        const Op *op = find_like(r, edit, semaphore, kinds[k]);
        if (op == NULL)
            continue;
        Statement statement = statement_at(r->source, op->file, op->line);
        TextSpan call, name;
        bool found = statement_find_call(&statement, "pl_semaphore_\\w+|pl_flag_\\w+", 0, &call);
        char *text = found && statement_argument(&statement, call, 0, &name) ? statement_text(&statement, name) : NULL;
        statement_clear(&statement);
        if (text != NULL)
            return text;
    }
    return NULL;
}

static char *wait_text(const char *file, const char *variable, const char *which)
{
    return is_python(file) ? g_strdup_printf("%s.wait%s()", variable, which) : g_strdup_printf("pl_copy_wait%s(%s)", which, variable);
}

/* "pl_copy_wait_recv(c)" for a copy that the function makes on that semaphore. NULL: none has a name. */
static char *wait_for_copy(const Repairs *r, const Edit *edit)
{
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        unsigned begin = text_begin_of_function(r->source, edit->where.file, edit->where.line);
        if (op->kind != STEP_COPY_START || strcmp(op->file, edit->where.file) != 0 || op->line < begin || op->line > edit->where.line + 1)
            continue;
        bool receives = op->semaphore != NULL && strcmp(op->semaphore, edit->semaphore.name) == 0;
        bool sends = op->send != NULL && strcmp(op->send, edit->semaphore.name) == 0;
        g_autofree char *variable = receives || sends ? variable_of_copy(r, op->file, op->line) : NULL;
        if (variable == NULL)
            continue;
        const char *which = op->remote ? (receives ? "_recv" : "_send") : "";
        return wait_text(op->file, variable, which);
    }
    return NULL;
}

static void tell_wait(const Repairs *r, const Edit *edit, Repair *repair)
{
    if (edit->where.file == NULL || edit->semaphore.name == NULL)
        return;
    g_autofree char *copy = wait_for_copy(r, edit);
    g_autofree char *name = copy || is_python(edit->where.file) ? NULL : name_in_source(r, edit, edit->semaphore.name);
    g_autofree char *plain = name ? g_strdup_printf("pl_semaphore_wait(%s, %" G_GINT64_FORMAT ")", name, edit->value) : NULL;
    tell_put(r, edit, copy ? copy : plain, repair);
}

const Op *diff_find_op(const Repairs *r, const EditWhere *where)
{
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        if (op->kind == where->step && op->line == where->line && (where->counter == 0 || op->counter == where->counter)
            && strcmp(op->file, where->file) == 0)
            return op;
    }
    return NULL;
}

static void tell_signal(const Repairs *r, const Edit *edit, Repair *repair)
{
    if (edit->where.file == NULL || is_python(edit->where.file) || edit->target == NULL)
        return;
    const Op *at = edit->semaphore.name ? NULL : diff_find_op(r, &edit->where);
    g_autofree char *name = name_in_source(r, edit, at ? at->semaphore : edit->semaphore.name);
    g_autofree char *device = diff_device_in_source(r, edit->where.file, edit->where.line, edit->target);
    const char *call = edit->step == STEP_SIGNAL ? "pl_semaphore_signal" : "pl_flag_store";
    g_autofree char *text = !name || !device ? NULL
        : g_strdup_printf("%s(%s, %" G_GINT64_FORMAT ", pl_device(%s))", call, name, edit->value, device);
    tell_put(r, edit, text, repair);
}

static void tell_wait_behind(const Repairs *r, const Edit *edit, Repair *repair)
{
    g_autofree char *variable = variable_of_copy(r, edit->where.file, edit->where.line);
    const Op *op = diff_find_op(r, &edit->where);
    const char *which = op == NULL || !op->remote ? "" : edit->kind == EDIT_WAIT_SEND ? "_send" : "_recv";
    g_autofree char *text = variable ? wait_text(edit->where.file, variable, which) : NULL;
    tell_put(r, edit, text, repair);
}

static void tell_count(const Repairs *r, const Edit *edit, Repair *repair)
{
    Statement statement = statement_at(r->source, edit->where.file, edit->where.line);
    TextSpan call, count;
    unsigned index = edit->where.step == STEP_FLAG_WAIT ? 2 : 1;
    bool sets = edit->times == 0 && edit->value > 0, adds = edit->times == 1;
    bool bytes = edit->where.step == STEP_WAIT && statement_find_call(&statement, "pl_copy_wait\\w*", 0, &call);
    bool found = !bytes && diff_find_step(r, &statement, &edit->where, &call) && statement_argument(&statement, call, index, &count);
    if ((sets || adds) && found) {
        g_autofree char *old = statement_text(&statement, count);
        g_autofree char *now = adds ? text_plus(old, edit->value) : g_strdup_printf("%" G_GINT64_FORMAT, edit->value);
        statement_replace(&statement, count, now);
    }
    statement_tell(&statement, repair);
    statement_clear(&statement);
}

/* Which argument of which call names what the edit changes. */
static bool find_named(const Repairs *r, const Statement *statement, const Edit *edit, TextSpan *argument)
{
    TextSpan call;
    if (edit->name == EDIT_NAMES_REF)
        return diff_find_step(r, statement, &edit->where, &call) && statement_argument(statement, call, 0, argument);
    static const unsigned remote[] = { 0, 0, 1, 2, 3 }, local[] = { 0, 0, 1, 2, 2 };
    if (!statement_find_call(statement, COPIES, 0, &call))
        return false;
    bool to_other = g_strstr_len(statement->text->str + call.begin, (gssize)(call.end - call.begin), "async_remote_copy(") != NULL;
    return statement_argument(statement, call, (to_other ? remote : local)[edit->name], argument);
}

/* The nth index of a pl_at that does not take all. */
static bool find_index(const Statement *statement, TextSpan ref, unsigned nth, TextSpan *index)
{
    TextSpan argument;
    g_autofree char *text = statement_text(statement, ref);
    if (!g_str_has_prefix(text, "pl_at("))
        return false;
    for (unsigned i = 1; statement_argument(statement, ref, i, &argument); i++) {
        g_autofree char *old = statement_text(statement, argument);
        if (strcmp(old, "PL_ALL") == 0 || nth-- > 0)
            continue;
        if (g_str_has_prefix(old, "pl_ds(")) {
            TextSpan slice = argument;
            return statement_argument(statement, slice, 0, index);
        }
        *index = argument;
        return true;
    }
    return false;
}

static bool shift_index(Statement *statement, TextSpan ref, unsigned dim, int64_t by)
{
    TextSpan index;
    if (!find_index(statement, ref, dim, &index))
        return false;
    g_autofree char *old = statement_text(statement, index), *now = text_plus(old, by);
    statement_replace(statement, index, now);
    return true;
}

/* The pl_at that the variable is set to at that line. */
static bool find_definition(const Statement *statement, const char *variable, TextSpan *ref)
{
    for (unsigned nth = 0; statement_find_call(statement, "pl_at", nth, ref); nth++) {
        g_autofree char *before = g_strndup(statement->text->str, ref->begin);
        g_autofree char *pattern = g_strdup_printf("\\b%s(?:\\[[^]]*\\])*\\s*=\\s*$", variable);
        if (g_regex_match_simple(pattern, before, 0, 0))
            return true;
    }
    return false;
}

/* The variable that a ref is, or is an element of: "bank" of pl_at(bank, me). NULL: none. g_free. */
static char *base_of(const Statement *statement, TextSpan ref)
{
    TextSpan base = ref;
    g_autofree char *text = statement_text(statement, ref);
    if (g_str_has_prefix(text, "pl_at(") && !statement_argument(statement, ref, 0, &base))
        return NULL;
    char *word = statement_text(statement, base);
    if (g_regex_match_simple("^\\w+$", word, 0, 0))
        return word;
    g_free(word);
    return NULL;
}

/* The line that defines the variable by a pl_at, and how many indices it has there. 0: none does. */
static unsigned find_base(const Repairs *r, const Statement *statement, TextSpan ref, char **variable, unsigned *indices)
{
    TextSpan definition, index;
    *variable = base_of(statement, ref), *indices = 0;
    unsigned line = *variable ? text_find_definition(r->source, statement->file, statement->line, *variable) : 0;
    Statement at = statement_at(r->source, statement->file, line);
    bool found = line != 0 && find_definition(&at, *variable, &definition);
    while (found && find_index(&at, definition, *indices, &index))
        ++*indices;
    statement_clear(&at);
    if (found)
        return line;
    g_clear_pointer(variable, g_free);
    return 0;
}

static unsigned line_of_ref(const Repairs *r, const Edit *edit)
{
    unsigned made = edit->name == EDIT_NAMES_REF ? 0 : diff_find_made(r, edit->where.file, edit->where.line);
    return made ? made : edit->where.line;
}

static void tell_slot(const Repairs *r, const Edit *edit, Repair *repair)
{
    Statement statement = statement_at(r->source, edit->where.file, line_of_ref(r, edit));
    TextSpan ref;
    if (find_named(r, &statement, edit, &ref)) {
        g_autofree char *variable = NULL;
        unsigned indices = 0;
        find_base(r, &statement, ref, &variable, &indices);
        if (edit->dim >= indices)
            shift_index(&statement, ref, edit->dim - indices, edit->value);
    }
    statement_tell(&statement, repair);
    statement_clear(&statement);
}

unsigned diff_find_ref(const Repairs *r, const Edit *edit, char **variable)
{
    Statement statement = statement_at(r->source, edit->where.file, line_of_ref(r, edit));
    TextSpan ref;
    unsigned indices = 0, line = 0;
    *variable = NULL;
    if (find_named(r, &statement, edit, &ref))
        line = find_base(r, &statement, ref, variable, &indices);
    statement_clear(&statement);
    if (edit->dim >= indices) {
        g_clear_pointer(variable, g_free);
        line = 0;
    }
    return line;
}

#define USERS COPIES "|pl_load\\w*|pl_store\\w*|pl_swap\\w*|pl_semaphore_\\w+"

static void add_user(const char *file, unsigned line, EditName name, const Edit *like, Change *change)
{
    Edit *edit = change_add(change, EDIT_SLOT);
    edit->where = (EditWhere){ .step = EDIT_ANY_STEP, .made = name != EDIT_NAMES_REF, .file = g_intern_string(file), .line = line };
    edit->name = (uint8_t)name, edit->dim = like->dim, edit->value = like->value;
}

void diff_add_users(const Repairs *r, Change *change, const Edit *like, const char *file, unsigned line, const char *variable)
{
    for (unsigned down = line, end = text_end_of_function(r->source, file, line); down < end; down++) {
        Statement statement = statement_at(r->source, file, down);
        TextSpan call, argument;
        for (unsigned nth = 0; statement_find_call(&statement, USERS, nth, &call); nth++) {
            g_autofree char *name = statement_text(&statement, call);
            bool copy = strstr(name, "copy(") != NULL && strstr(name, "async_") != NULL && strstr(name, "async_") < strchr(name, '(');
            bool remote = g_str_has_prefix(name, "pl_async_remote") || g_str_has_prefix(name, "pl_make_async_remote");
            for (unsigned i = 0; i < (copy ? 4 : 1) && statement_argument(&statement, call, i, &argument); i++) {
                EditName named = !copy ? EDIT_NAMES_REF : i == 2 && !remote ? EDIT_NAMES_RECEIVE : (EditName)(EDIT_NAMES_SOURCE + i);
                g_autofree char *base = base_of(&statement, argument);
                if (base != NULL && strcmp(base, variable) == 0)
                    add_user(file, down, named, like, change);
            }
        }
        statement_clear(&statement);
    }
}

static void tell_variable(const Repairs *r, const Change *change, Repair *repair)
{
    Statement statement = statement_at(r->source, change->file, change->line);
    TextSpan ref;
    if (find_definition(&statement, change->variable, &ref))
        shift_index(&statement, ref, change->edit[0].dim, change->edit[0].value);
    statement_tell(&statement, repair);
    statement_clear(&statement);
}

static void tell_exchange(const Repairs *r, const Edit *edit, Repair *repair)
{
    Statement statement = statement_at(r->source, edit->where.file, edit->where.line);
    TextSpan call, send, receive;
    if (statement_find_call(&statement, COPIES, 0, &call) && statement_argument(&statement, call, 2, &send)
        && statement_argument(&statement, call, 3, &receive)) {
        g_autofree char *first = statement_text(&statement, send), *second = statement_text(&statement, receive);
        statement_replace(&statement, receive, first);
        statement_replace(&statement, send, second);
    }
    statement_tell(&statement, repair);
    statement_clear(&statement);
}

static void tell_other(const Repairs *r, const Edit *edit, Repair *repair)
{
    Statement statement = statement_at(r->source, edit->where.file, edit->where.line);
    g_autofree char *name = name_in_source(r, edit, edit->semaphore.name);
    TextSpan call, argument;
    if (name != NULL && diff_find_step(r, &statement, &edit->where, &call) && statement_argument(&statement, call, 0, &argument))
        statement_replace(&statement, argument, name);
    statement_tell(&statement, repair);
    statement_clear(&statement);
}

/* The copy is made, and not started: pl_async_copy does both. */
static void tell_start(const Repairs *r, const Edit *edit, Repair *repair)
{
    unsigned made = diff_find_made(r, edit->where.file, edit->where.line);
    g_autofree char *variable = made && made != edit->where.line ? variable_of_copy(r, edit->where.file, made) : NULL;
    if (variable == NULL)
        return;
    if (is_python(edit->where.file)) {
        g_autofree char *start = g_strdup_printf("%s.start()", variable);
        const char *like = source_line(r->source, edit->where.file, edit->where.line);
        statement_tell_put(repair, edit->where.file, edit->where.line, like, start);
        return;
    }
    Statement statement = statement_at(r->source, edit->where.file, made);
    TextSpan call;
    if (statement_find_call(&statement, "pl_make_" COPIES, 0, &call))
        statement_replace(&statement, (TextSpan){ call.begin, call.begin + strlen("pl_make_") }, "pl_");
    statement_tell(&statement, repair);
    statement_clear(&statement);
}

static void tell_compare(const Repairs *r, const Edit *edit, Repair *repair)
{
    Statement statement = statement_at(r->source, edit->where.file, edit->where.line);
    TextSpan call, compare;
    if (diff_find_step(r, &statement, &edit->where, &call) && statement_argument(&statement, call, 1, &compare))
        statement_replace(&statement, compare, "PL_GE");
    statement_tell(&statement, repair);
    statement_clear(&statement);
}

/* The variable of the loop around a line. NULL: there is none. */
static char *loop_variable(const Repairs *r, const char *file, unsigned line)
{
    const char *inside = source_line(r->source, file, line);
    g_autoptr(GRegex) regex = g_regex_new("^\\s*for \\((?:int|long|size_t|int64_t) (\\w+) =", 0, 0, NULL);
    for (unsigned up = line - 1, begin = text_begin_of_function(r->source, file, line); inside != NULL && up >= begin && up >= 1; up--) {
        const char *text = source_line(r->source, file, up);
        g_autoptr(GMatchInfo) match = NULL;
        if (text != NULL && strspn(text, " ") < strspn(inside, " ") && g_regex_match(regex, text, 0, &match))
            return g_match_info_fetch(match, 1);
    }
    return NULL;
}

/* "recv_sem" -> "pl_at(recv_sem, step)" in every copy on that semaphore, where it stands in a loop. */
static void tell_one_a_copy(const Repairs *r, const Change *change, Repair *repair)
{
    const char *name = change->edit[0].where.semaphore;
    g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        unsigned made = op->semaphore && strcmp(op->semaphore, name) == 0 ? diff_find_made(r, op->file, op->line) : 0;
        g_autofree char *step = made && g_hash_table_add(told, GUINT_TO_POINTER(made)) ? loop_variable(r, op->file, made) : NULL;
        if (step == NULL || is_python(op->file))
            continue;
        Statement statement = statement_at(r->source, op->file, made);
        const Edit receive = { .name = EDIT_NAMES_RECEIVE };
        TextSpan argument;
        if (find_named(r, &statement, &receive, &argument)) {
            g_autofree char *old = statement_text(&statement, argument), *now = g_strdup_printf("pl_at(%s, %s)", old, step);
            if (strstr(old, "pl_at(") == NULL)
                statement_replace(&statement, argument, now);
        }
        statement_tell(&statement, repair);
        statement_clear(&statement);
    }
}

static void tell_edit(const Repairs *r, const Change *change, const Edit *edit, Repair *repair)
{
    if (edit->where.file == NULL && edit->kind != EDIT_SEMAPHORE)
        return;
    switch (edit->kind) {
    case EDIT_DROP: tell_dropped(r, &edit->where, repair); break;
    case EDIT_BEFORE: case EDIT_AFTER: (edit->step == STEP_WAIT ? tell_wait : tell_signal)(r, edit, repair); break;
    case EDIT_WAIT_SEND: case EDIT_WAIT_RECEIVE: tell_wait_behind(r, edit, repair); break;
    case EDIT_COUNT: tell_count(r, edit, repair); break;
    case EDIT_HOLD: tell_moved(r, edit->where.file, edit->where.line, edit->until.file, edit->until.line, true, repair); break;
    case EDIT_START: tell_start(r, edit, repair); break;
    case EDIT_COMPARE: tell_compare(r, edit, repair); break;
    case EDIT_SLOT: tell_slot(r, edit, repair); break;
    case EDIT_DEVICE: diff_tell_device(r, edit, repair); break;
    case EDIT_EXCHANGE: tell_exchange(r, edit, repair); break;
    case EDIT_REFER: tell_other(r, edit, repair); break;
    case EDIT_SEMAPHORE: tell_one_a_copy(r, change, repair); break;
    case EDIT_ENTRY_BARRIER: case EDIT_EPOCH: case EDIT_GUARD: break;
    }
}

static bool is_move_up(const Change *change)
{
    return change->count == 2 && change->edit[0].kind == EDIT_DROP && change->edit[1].kind == EDIT_BEFORE
        && change->edit[1].step == STEP_WAIT && change->edit[0].where.file != NULL && change->edit[1].where.file != NULL;
}

/* All edits of a change are told, or nothing. */
void diff_tell(const Repairs *r, const Change *change, Repair *repair)
{
    const EditWhere *from = &change->edit[0].where, *to = &change->edit[1].where;
    if (change->file != NULL)
        tell_variable(r, change, repair);
    else if (is_move_up(change))
        tell_moved(r, from->file, from->line, to->file, to->line, false, repair);
    else if (change->fresh_count > 0 && change->edit[0].kind != EDIT_SEMAPHORE)
        return;
    else
        for (unsigned i = 0; i < (change->fresh_count > 0 ? 1 : change->count); i++) {
            guint before = repair->lines->len;
            tell_edit(r, change, &change->edit[i], repair);
            if (repair->lines->len == before && change->edit[i].kind != EDIT_GUARD) {
                g_ptr_array_set_size(repair->lines, 0);
                return;
            }
        }
}
