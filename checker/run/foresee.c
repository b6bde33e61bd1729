/* foresee.c - one job of a worker process for each stuck core. Lines that nothing executed so far have no number that the others know:
 * an answer spells them out. */
#include "foresee.h"
#include <string.h>
#include "edit.h"
#include "execution_inside.h"
#include "pool.h"

enum { TOLD_MAX = 4096, STEPS_MAX = 1 << 20, CORES_MAX = 1024 };
static const double SECONDS_MAX = 10;           /* for one core, in case it spins */

typedef struct Told {                           /* how an entry travels; offsets are into the text behind all entries */
    Foreseen entry;
    uint32_t file, function, line, counter;     /* of its site */
    uint32_t caller;                            /* site of the call that led there, if the others know it; NONE */
} Told;

typedef struct Foresight {                      /* in the worker: of the core in hand */
    Execution *execution;
    GArray *told;                               /* of Told */
    GString *text;                              /* strings, each with its end */
    uint32_t steps, semaphores, sites;          /* semaphores and sites that the others know too are below */
    bool ends;
} Foresight;

static Foresight *foresight;                    /* of this worker process */

static uint32_t keep_text(Foresight *f, uint32_t string)
{
    uint32_t offset = (uint32_t)f->text->len;
    const char *text = program_text(f->execution->program, string);
    g_string_append_len(f->text, text, (gssize)strlen(text) + 1);
    return offset;
}

/* After very many entries one more says that the rest is not known. */
static void note(Foresight *f, const Core *core, StepKind kind, uint32_t site, uint32_t object, uint32_t value)
{
    if (f->told->len > TOLD_MAX || (object != NONE && object >= f->semaphores))
        return;
    if (f->told->len == TOLD_MAX && kind != STEP_EXIT)
        kind = STEP_STOP, object = NONE;
    const Site *s = program_get_site(f->execution->program, site);
    const Told told = { { core->id, (uint8_t)kind, NONE, object, value }, keep_text(f, s->file), keep_text(f, s->function), s->line,
                        s->counter, s->caller <= f->sites ? s->caller - 1 : NONE };
    g_array_append_val(f->told, told);
}

static void note_step(Foresight *f, const Core *core, const Request *request)
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

static void submit_foreseen(Core *core, Request *request)
{
    Foresight *f = foresight;
    if (edit_pass(core, request))
        return;
    bool goes_on = request->step.kind != STEP_STOP && !step_learns(&request->step) && f->steps++ < STEPS_MAX;
    if (goes_on) {
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
    foresight = g_new0(Foresight, 1);
    foresight->execution = e;
    foresight->semaphores = e->program->semaphores, foresight->sites = (uint32_t)e->program->sites.count;
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
    foresight->told = g_array_new(FALSE, FALSE, sizeof(Told)), foresight->text = g_string_new(NULL);
    foresight->steps = 0, foresight->ends = false;
    core->submit = submit_foreseen, core->raise = ignore_fault, core->advise = ignore_advice;
    core->opaque_data = true;
    uint32_t site = e->pending[c]->step.site;
    execution_resume(e, c);
    if (!foresight->ends)
        note(foresight, core, STEP_EXIT, site, NONE, 0);
    GByteArray *answer = g_byte_array_new();
    uint32_t entries = foresight->told->len;
    g_byte_array_append(answer, (const guint8 *)&entries, sizeof entries);
    g_byte_array_append(answer, (const guint8 *)foresight->told->data, entries * (guint)sizeof(Told));
    g_byte_array_append(answer, (const guint8 *)foresight->text->str, (guint)foresight->text->len);
    g_array_unref(foresight->told);
    g_string_free(foresight->text, TRUE);
    return g_byte_array_free_to_bytes(answer);
}

static bool is_stuck(Execution *e, uint32_t c)
{
    const Request *request = execution_pending(e, c);
    return request != NULL && step_blocks(request->step.kind);
}

/* A copy that died may have damaged what it says: then it says nothing. */
static void take_entry(Execution *e, uint32_t core, const Told *told, const char *text, size_t bytes)
{
    Foreseen entry = told->entry;
    bool whole = bytes > 0 && text[bytes - 1] == '\0' && told->file < bytes && told->function < bytes;
    if (!whole || entry.core != core || entry.kind >= STEP_KIND_COUNT)
        return;
    entry.site = program_site(e->program, text + told->file, text + told->function, told->line, told->counter);
    if (told->caller < e->program->sites.count)
        entry.site = program_site_called(e->program, entry.site, told->caller);
    *(Foreseen *)store_push(&e->record->foreseen, 1) = entry;
}

static void take_answer(Execution *e, uint32_t core, const PoolAnswer *answer)
{
    gsize bytes = 0;
    const char *data = answer->bytes != NULL ? g_bytes_get_data(answer->bytes, &bytes) : NULL;
    uint32_t entries = 0;
    if (bytes >= sizeof entries)
        memcpy(&entries, data, sizeof entries);
    size_t head = sizeof entries + entries * sizeof(Told);
    for (uint32_t i = 0; i < entries && head < bytes; i++) {
        Told told;
        memcpy(&told, data + sizeof entries + i * sizeof told, sizeof told);
        take_entry(e, core, &told, data + head, bytes - head);
    }
    if (entries == 0)
        *(Foreseen *)store_push(&e->record->foreseen, 1) = (Foreseen){ .core = core, .kind = STEP_STOP, .object = NONE };
    g_bytes_unref(answer->bytes);
}

void foresee(Execution *e)
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
