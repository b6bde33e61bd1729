/* lookahead.c - one job of a worker process per stuck core. The parent has no site for a line that has not run before: an answer spells it
 * out. */
#include "lookahead.h"
#include <string.h>
#include "edit.h"
#include "execution_inside.h"
#include "pool.h"

enum { ENTRIES_MAX = 4096, STEPS_MAX = 1 << 20, CORES_MAX = 1024 };
static const double SECONDS_MAX = 10;           /* per core, in case it spins */

typedef struct SentEntry {                      /* an entry between processes; offsets are into the text after all entries */
    Lookahead entry;
    uint32_t file, function, line, counter;     /* of its site */
    uint32_t caller;                            /* site of the call that led there, if the parent knows it; NONE */
} SentEntry;

typedef struct Looker {                         /* in the worker: of the current core */
    Execution *execution;
    GArray *entries;                            /* of SentEntry */
    GString *text;                              /* strings, each with its end */
    uint32_t steps, semaphores, sites;          /* the parent knows semaphores and sites below these */
    bool ends;
} Looker;

static Looker *looker;                          /* of this worker process */

static uint32_t keep_text(Looker *f, uint32_t string)
{
    uint32_t offset = (uint32_t)f->text->len;
    const char *text = program_text(f->execution->program, string);
    g_string_append_len(f->text, text, (gssize)strlen(text) + 1);
    return offset;
}

/* After ENTRIES_MAX entries one more says that the rest is unknown. */
static void note(Looker *f, const Core *core, StepKind kind, uint32_t site, uint32_t object, uint32_t value)
{
    if (f->entries->len > ENTRIES_MAX || (object != NONE && object >= f->semaphores))
        return;
    if (f->entries->len == ENTRIES_MAX && kind != STEP_EXIT)
        kind = STEP_STOP, object = NONE;
    const Site *s = program_get_site(f->execution->program, site);
    const SentEntry sent = { { core->id, (uint8_t)kind, NONE, object, value }, keep_text(f, s->file), keep_text(f, s->function), s->line,
                        s->counter, s->caller <= f->sites ? s->caller - 1 : NONE };
    g_array_append_val(f->entries, sent);
}

static void note_step(Looker *f, const Core *core, const Request *request)
{
    const Step *step = &request->step;
    if (step->kind == STEP_SIGNAL || step_is_wait(step->kind)
        || step->kind == STEP_FLAG_STORE || step->kind == STEP_FLAG_ADD)
        note(f, core, (StepKind)step->kind, step->site, step->object, step->value);
    if (step->kind != STEP_COPY_START || step->object == NONE)
        return;
    const Copy *copy = &request->copy;
    if (copy->send_semaphore != NONE)
        note(f, core, STEP_READ, step->site, copy->send_semaphore, copy->send_count);
    if (copy->receive_semaphore != NONE)
        note(f, core, STEP_WRITE, step->site, copy->receive_semaphore, copy->receive_count);
}

static void submit_ahead(Core *core, Request *request)
{
    Looker *f = looker;
    if (edit_pass(core, request))
        return;
    bool known = request->step.kind != STEP_STOP && !step_learns(&request->step) && f->steps++ < STEPS_MAX;
    if (known) {
        note_step(f, core, request);
        core->position++;
        return;
    }
    note(f, core, STEP_STOP, request->step.site, NONE, 0);
    f->ends = true;
    coro_yield(f->execution->pool);
    g_assert_not_reached();
}

static void ignore_fault(Core *core, uint32_t site, FaultId fault, const char *message)
{
    (void)core, (void)site, (void)fault, (void)message;
}

static void ignore_advice(Core *core, uint32_t site, AdviceId advice)
{
    (void)core, (void)site, (void)advice;
}

static void begin(void *argument, ChildControl *control)
{
    Execution *e = argument;
    looker = g_new0(Looker, 1);
    looker->execution = e;
    looker->semaphores = e->program->semaphores, looker->sites = (uint32_t)e->program->sites.count;
    program_make_private(e->program);
    e->options.pulse = &control->pulse;
}

static GBytes *serve(void *argument, uint64_t job, const void *request, size_t bytes)
{
    (void)job;
    Execution *e = argument;
    uint32_t c;
    g_assert(bytes == sizeof c);
    memcpy(&c, request, sizeof c);
    Core *core = &e->cores[c];
    looker->entries = g_array_new(FALSE, FALSE, sizeof(SentEntry)), looker->text = g_string_new(NULL);
    looker->steps = 0, looker->ends = false;
    core->submit = submit_ahead, core->raise = ignore_fault, core->advise = ignore_advice;
    core->opaque_data = true;
    uint32_t site = e->pending[c]->step.site;
    execution_resume(e, c);
    if (!looker->ends)
        note(looker, core, STEP_EXIT, site, NONE, 0);
    GByteArray *answer = g_byte_array_new();
    uint32_t entries = looker->entries->len;
    g_byte_array_append(answer, (const guint8 *)&entries, sizeof entries);
    g_byte_array_append(answer, (const guint8 *)looker->entries->data, entries * (guint)sizeof(SentEntry));
    g_byte_array_append(answer, (const guint8 *)looker->text->str, (guint)looker->text->len);
    g_array_unref(looker->entries);
    g_string_free(looker->text, TRUE);
    return g_byte_array_free_to_bytes(answer);
}

static bool is_stuck(Execution *e, uint32_t c)
{
    const Request *request = execution_pending(e, c);
    return request != NULL && step_blocks(request->step.kind);
}

/* A process that died may have damaged its answer. */
static void take_entry(Execution *e, uint32_t core, const SentEntry *sent, const char *text, size_t bytes)
{
    Lookahead entry = sent->entry;
    bool whole = bytes > 0 && text[bytes - 1] == '\0' && sent->file < bytes && sent->function < bytes;
    if (!whole || entry.core != core || entry.kind >= STEP_KIND_COUNT)
        return;
    entry.site = program_site(e->program, text + sent->file, text + sent->function, sent->line, sent->counter);
    if (sent->caller < e->program->sites.count)
        entry.site = program_site_called(e->program, entry.site, sent->caller);
    *(Lookahead *)store_push(&e->record->lookahead, 1) = entry;
}

static void take_answer(Execution *e, uint32_t core, const PoolAnswer *answer)
{
    gsize bytes = 0;
    const char *data = answer->bytes != NULL ? g_bytes_get_data(answer->bytes, &bytes) : NULL;
    uint32_t entries = 0;
    if (bytes >= sizeof entries)
        memcpy(&entries, data, sizeof entries);
    size_t head = sizeof entries + entries * sizeof(SentEntry);
    for (uint32_t i = 0; i < entries && head < bytes; i++) {
        SentEntry sent;
        memcpy(&sent, data + sizeof entries + i * sizeof sent, sizeof sent);
        take_entry(e, core, &sent, data + head, bytes - head);
    }
    if (entries == 0)
        *(Lookahead *)store_push(&e->record->lookahead, 1) = (Lookahead){ .core = core, .kind = STEP_STOP, .object = NONE };
    g_bytes_unref(answer->bytes);
}

void lookahead_run(Execution *e)
{
    g_autoptr(GArray) stuck = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t c = 0; c < e->program->cores && stuck->len < CORES_MAX; c++)
        if (is_stuck(e, c))
            g_array_append_val(stuck, c);
    if (stuck->len == 0)
        return;
    g_autofree char *error = NULL;
    const PoolWork work = { begin, serve, e };
    Pool *pool = pool_new(1, &work, &error);
    for (guint i = 0; pool != NULL && i < stuck->len; i++)
        pool_give(pool, &g_array_index(stuck, uint32_t, i), sizeof(uint32_t));
    for (guint i = 0; i < stuck->len; i++) {
        PoolAnswer answer = { .end = CHILD_TIMED_OUT };
        if (pool == NULL || !pool_take(pool, SECONDS_MAX, &answer))
            g_clear_pointer(&pool, pool_free);
        take_answer(e, g_array_index(stuck, uint32_t, i), &answer);
    }
    if (pool != NULL)
        pool_free(pool);
}
