/* do_copy.c - asynchronous copies: the guards of a start, and waits through a descriptor.
 *
 * Source: Pallas TPU make_async_copy and make_async_remote_copy. A wait counts the bytes of its descriptor, whatever was started; naming
 * refs in a descriptor is no access.
 */
#include "guard.h"
#include "label.h"
#include <glib.h>

/* Is it another line? */
static bool is_apart(const Program *program, uint32_t site, uint32_t described)
{
    const Site *start = program_get_site(program, site), *made = described == NONE ? start : program_get_site(program, described);
    return made->file != start->file || made->line != start->line;
}

const char *guard_described(const Core *core, uint32_t site, uint32_t described)
{
    Program *program = core->program;
    if (!is_apart(program, site, described))
        return "";
    g_autofree char *place = program_describe_site(program, described);
    g_autofree char *text = g_strdup_printf(FAULT_WHY "The copy was described at %s.", place);
    return program_text(program, program_string(program, text));
}

static void want_buffer(Core *core, uint32_t site, Ref ref, const char *what)
{
    const Decl *decl = program_decl(core->program, ref.decl);
    if (decl->space == SPACE_SEMAPHORE)
        core_usage(core, site, "the %s of a copy must be a buffer, %s is a semaphore", what, program_text(core->program, decl->name));
}

static uint32_t completion(Core *core, uint32_t site, Ref ref, uint32_t on_core, uint32_t bytes, uint32_t *count, const char *what)
{
    uint32_t semaphore = guard_semaphore(core, site, ref, on_core, what);
    const Decl *decl = program_decl(core->program, ref.decl);
    if (decl->semaphore_kind != SEMAPHORE_DMA && decl->semaphore_kind != SEMAPHORE_REGULAR)
        core_stop(core, site, FAULT_SHAPE, "%s is %s, which is not a DMA or REGULAR semaphore", what,
                  program_text(core->program, decl->name));
    *count = decl->semaphore_kind == SEMAPHORE_DMA ? bytes : 1;
    return semaphore;
}

static uint32_t shape_text(Program *program, const View *view)
{
    GString *text = g_string_new(dtype_name(view->dtype));
    g_string_append_c(text, '[');
    for (unsigned d = 0; d < view->ndim; d++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, d ? ", " : "", view->size[d]);
    g_string_append_c(text, ']');
    uint32_t string = program_string(program, text->str);
    g_string_free(text, TRUE);
    return string;
}

static int64_t view_bytes(const View *view)
{
    return view_elements(view) * (int64_t)dtype_size_bytes(view->dtype);
}

static void want_same_shape(Core *core, uint32_t site, const CopyDesc *desc)
{
    Program *program = core->program;
    const View *source = program_get_view(program, desc->source.view), *target = program_get_view(program, desc->target.view);
    if (!view_same_shape(source, target)) {
        uint32_t from = shape_text(program, source), to = shape_text(program, target);
        core_stop(core, site, FAULT_SHAPE, "copy from %s %s to %s %s: shapes and types must agree%s",
                  program_text(program, program_decl(program, desc->source.decl)->name), program_text(program, from),
                  program_text(program, program_decl(program, desc->target.decl)->name), program_text(program, to),
                  guard_described(core, site, desc->site));
    }
    if (view_bytes(source) > UINT32_MAX)
        core_usage(core, site, "a copy of %lld bytes: at most 4294967295 are supported", (long long)view_bytes(source));
}

static uint32_t region_text(Program *program, uint32_t object, uint32_t region)
{
    g_autofree char *text = program_describe_region(program, object, region);
    return program_string(program, text);
}

/* As guard_described; of a remote copy also that it goes where it comes from. */
static const char *overlap_why(const Core *core, uint32_t site, const CopyDesc *desc)
{
    if (!desc->remote)
        return guard_described(core, site, desc->site);
    g_autofree char *place = program_describe_site(core->program, desc->site == NONE ? site : desc->site);
    g_autofree char *own = program_describe_device(core->program, core->device);
    g_autofree char *text = g_strdup_printf(FAULT_WHY "The copy of %s names %s, which is its own.", place, own);
    return program_text(core->program, program_string(core->program, text));
}

static void want_no_overlap(Core *core, uint32_t site, const CopyDesc *desc, const Copy *copy)
{
    Program *program = core->program;
    if (copy->source != copy->target
        || !region_overlaps(program_get_region(program, copy->source_region), program_get_region(program, copy->target_region)))
        return;
    uint32_t from = region_text(program, copy->source, copy->source_region), to = region_text(program, copy->target, copy->target_region);
    core_stop(core, site, FAULT_SHAPE, "copy from %s to %s: source and destination overlap%s", program_text(program, from),
              program_text(program, to), overlap_why(core, site, desc));
}

/* One half of a copy, for the message if it reaches too far. */
static uint32_t region_of_half(Core *core, uint32_t site, Ref ref, const char *what)
{
    if (core->label == 0 || !program_get_view(core->program, ref.view)->over)
        return guard_region(core, site, ref, NULL, what);
    g_autofree char *block = label_describe(core->program, core->label);
    return guard_region(core, site, ref, NULL, program_text(core->program, program_string(core->program, block)));
}

void core_copy_start(Core *core, uint32_t site, CopyDesc *desc)
{
    Program *program = core->program;
    if (!guard_amend(core, STEP_COPY_START, site, NULL, desc->remote ? &desc->to : NULL, desc))
        return;
    want_buffer(core, site, desc->source, "source");
    want_buffer(core, site, desc->target, "destination");
    want_same_shape(core, site, desc);
    uint32_t to = guard_own_core(core, desc->target);
    if (desc->remote)
        to = guard_target_core(core, site, desc->to, desc->target.core == NONE ? core->index : desc->target.core, "remote copy");
    uint32_t bytes = (uint32_t)view_bytes(program_get_view(program, desc->source.view));
    Request request = { .step = guard_step(core, STEP_COPY_START, site, NONE, 0) };
    Copy *copy = &request.copy;
    *copy = (Copy){ .core = core->id, .ordinal = core->copies, .position = core->position, .site = site, .bytes = bytes,
                    .described = is_apart(program, site, desc->site) ? desc->site : site,
                    .target_device = to / program->cores_per_device, .remote = desc->remote, .send_semaphore = NONE,
                    .source_view = desc->source.view, .target_view = desc->target.view, .label = core->label };
    copy->source = program_object(program, desc->source.decl, guard_own_core(core, desc->source));
    copy->target = program_object(program, desc->target.decl, to);
    copy->source_region = region_of_half(core, site, desc->source, "copy (its read)");
    copy->target_region = region_of_half(core, site, desc->target, "copy (its write)");
    if (desc->remote)
        copy->send_semaphore = completion(core, site, desc->send, guard_own_core(core, desc->send), bytes, &copy->send_count,
                                          "send semaphore");
    uint32_t receiver = desc->remote ? to : guard_own_core(core, desc->receive);
    copy->receive_semaphore = completion(core, site, desc->receive, receiver, bytes, &copy->receive_count,
                                         desc->remote ? "receive semaphore" : "semaphore");
    want_no_overlap(core, site, desc, copy);
    if (bytes > 0) {
        request.step.object = core->copies;
        desc->core = core->id, desc->ordinal = core->copies;
        core->copies++;
    }
    core_submit(core, &request);
}

void core_copy_wait(Core *core, uint32_t site, const CopyDesc *given, CopyWait which, bool meant)
{
    Program *program = core->program;
    CopyDesc own = *given;
    const CopyDesc *desc = &own;
    if (!guard_amend(core, STEP_WAIT, site, NULL, NULL, &own))
        return;
    const char *what = which == COPY_WAIT_SEND ? "wait_send" : desc->remote ? "wait_recv" : "wait";
    if (which == COPY_WAIT_SEND && !desc->remote)
        core_usage(core, site, "wait_send on a local copy: it has one semaphore, use pl_copy_wait");
    Ref semaphore_ref = which == COPY_WAIT_SEND ? desc->send : desc->receive;
    Ref counted = which == COPY_WAIT_SEND ? desc->source : desc->target;
    if (desc->remote)
        program_launch(program, core->launch)->communicates = true;
    uint32_t semaphore = guard_semaphore(core, site, semaphore_ref, guard_own_core(core, semaphore_ref), what);
    const Decl *decl = program_decl(program, semaphore_ref.decl);
    if (decl->semaphore_kind != SEMAPHORE_DMA)
        core_stop(core, site, FAULT_SHAPE, "%s on %s, which is not a DMA semaphore: a copy counts 1 there, use semaphore_wait(%s, 1)", what,
                  program_text(program, decl->name), program_text(program, decl->name));
    const View *view = program_get_view(program, counted.view);
    if (view->over)
        core->advise(core, site, ADVICE_WAIT_DESCRIPTOR_RANGE);
    if (view_bytes(view) > UINT32_MAX)
        core_usage(core, site, "a wait for %lld bytes: at most 4294967295 are supported", (long long)view_bytes(view));
    Request request = { .step = guard_step(core, STEP_WAIT, site, semaphore, (uint32_t)view_bytes(view)), .desc = desc };
    request.step.extra = meant ? desc->ordinal : NONE;
    core_submit(core, &request);
}
