/* do_semaphore.c - signals, waits and looks at semaphores and flag words: guards, then the step.
 *
 * Source: Pallas TPU semaphore_signal, semaphore_wait, semaphore_read. A semaphore belongs to one core; signals may name another device,
 * waits are on the caller's device.
 */
#include "guard.h"

uint32_t guard_semaphore(Core *core, uint32_t site, Ref ref, uint32_t on_core, const char *what)
{
    Program *program = core->program;
    const Decl *decl = program_decl(program, ref.decl);
    const View *view = program_get_view(program, ref.view);
    const char *name = program_text(program, decl->name);
    if (decl->space != SPACE_SEMAPHORE)
        core_usage(core, site, "%s needs a semaphore, %s is a buffer", what, name);
    if (view_elements(view) != 1)
        core_usage(core, site, "%s needs one semaphore, %s is an array of %lld: index it with pl_at", what, name,
                   (long long)view_elements(view));
    if (view->over)
        guard_out_of_bounds(core, site, ref, what);
    uint32_t element = (uint32_t)(view_element_offset(view, 0) / (int64_t)dtype_size_bytes(decl->dtype));
    return decl->first_semaphore + on_core * decl->elements + element;
}

uint32_t guard_own_core(const Core *core, Ref ref)
{
    return ref.core == NONE ? core->id : core->device * core->program->cores_per_device + ref.core;
}

uint32_t guard_target_core(Core *core, uint32_t site, Target target, uint32_t default_index, const char *what)
{
    const Program *program = core->program;
    uint32_t device = target.device == NONE ? core->device : target.device, index = target.core == NONE ? default_index : target.core;
    if (device >= program->devices)
        core_stop(core, site, FAULT_SHAPE, "%s names device %d, but there are devices 0 to %u", what, (int)device, program->devices - 1);
    if (index >= program->cores_per_device)
        core_stop(core, site, FAULT_SHAPE, "%s names core %d, but a device has cores 0 to %u", what, (int)index,
                  program->cores_per_device - 1);
    if (target.device != NONE)
        program_launch(core->program, core->launch)->communicates = true;
    return device * program->cores_per_device + index;
}

static SemaphoreKind kind_of(const Core *core, Ref ref)
{
    return program_decl(core->program, ref.decl)->semaphore_kind;
}

static void want_kind(Core *core, uint32_t site, Ref ref, bool flag, const char *what)
{
    SemaphoreKind kind = kind_of(core, ref);
    const char *name = program_text(core->program, program_decl(core->program, ref.decl)->name);
    if (flag != (kind == SEMAPHORE_FLAG))
        core_usage(core, site, flag ? "%s needs a flag word, %s is a semaphore" : "%s needs a semaphore, %s is a flag word", what, name);
    if (!flag && kind == SEMAPHORE_DMA)
        core_stop(core, site, FAULT_SHAPE,
                  "%s on the DMA semaphore %s: DMA semaphores are signalled by copies and waited on through a descriptor",
                  what, name);
    if (!flag && kind == SEMAPHORE_BARRIER)
        program_launch(core->program, core->launch)->uses_barrier_semaphore = true;
}

void core_signal(Core *core, uint32_t site, Ref ref, int64_t inc, Target target)
{
    if (!guard_amend(core, STEP_SIGNAL, site, &ref, &target, NULL))
        return;
    uint32_t on_core = guard_target_core(core, site, target, ref.core == NONE ? core->index : ref.core, "semaphore_signal");
    uint32_t semaphore = guard_semaphore(core, site, ref, on_core, "semaphore_signal");
    want_kind(core, site, ref, false, "semaphore_signal");
    if (inc < 0 || inc > INT32_MAX)
        core_stop(core, site, FAULT_SHAPE, "semaphore_signal with inc %lld: it must be 0 to 2147483647", (long long)inc);
    if (inc == 0)
        return;
    Request request = { .step = guard_step(core, STEP_SIGNAL, site, semaphore, (uint32_t)inc) };
    core_submit(core, &request);
}

void core_wait(Core *core, uint32_t site, Ref ref, int64_t value, bool decrement)
{
    if (!guard_amend(core, decrement ? STEP_WAIT : STEP_WAIT_KEEP, site, &ref, NULL, NULL))
        return;
    uint32_t semaphore = guard_semaphore(core, site, ref, guard_own_core(core, ref), "semaphore_wait");
    want_kind(core, site, ref, false, "semaphore_wait");
    if (value < 0 || value > INT32_MAX)
        core_stop(core, site, FAULT_SHAPE, "semaphore_wait for %lld: it must be 0 to 2147483647", (long long)value);
    Request request = { .step = guard_step(core, decrement ? STEP_WAIT : STEP_WAIT_KEEP, site, semaphore, (uint32_t)value) };
    request.step.extra = NONE;
    core_submit(core, &request);
}

int64_t core_semaphore_read(Core *core, uint32_t site, Ref ref)
{
    uint32_t semaphore = guard_semaphore(core, site, ref, guard_own_core(core, ref), "semaphore_read");
    Request request = { .step = guard_step(core, STEP_SEMAPHORE_READ, site, semaphore, 0) };
    core_submit(core, &request);
    return request.observed;
}

void core_expect_count(Core *core, uint32_t site, Ref ref, int64_t value)
{
    uint32_t semaphore = guard_semaphore(core, site, ref, guard_own_core(core, ref), "expect_count");
    Request request = { .step = guard_step(core, STEP_EXPECT_COUNT, site, semaphore, (uint32_t)value) };
    core_submit(core, &request);
}

/* A flag word lives on core 0 of its device unless a core is named. */
static uint32_t flag_word(Core *core, uint32_t site, Ref ref, Target target, const char *what)
{
    uint32_t word = guard_semaphore(core, site, ref, guard_target_core(core, site, target, ref.core == NONE ? 0 : ref.core, what), what);
    want_kind(core, site, ref, true, what);
    return word;
}

static int64_t do_flag(Core *core, Step step)
{
    Request request = { .step = step };
    core_submit(core, &request);
    return request.observed;
}

static int64_t flag_value(Core *core, uint32_t site, int64_t value, const char *what)
{
    if (value < INT32_MIN || value > INT32_MAX)
        core_stop(core, site, FAULT_SHAPE, "%s with %lld: flag words are 32-bit integers", what, (long long)value);
    return value;
}

int64_t core_flag_load(Core *core, uint32_t site, Ref flag, Target target)
{
    return do_flag(core, guard_step(core, STEP_FLAG_LOAD, site, flag_word(core, site, flag, target, "flag_load"), 0));
}

void core_flag_store(Core *core, uint32_t site, Ref flag, Target target, int64_t value)
{
    if (!guard_amend(core, STEP_FLAG_STORE, site, &flag, &target, NULL))
        return;
    uint32_t word = flag_word(core, site, flag, target, "flag_store");
    do_flag(core, guard_step(core, STEP_FLAG_STORE, site, word, (uint32_t)flag_value(core, site, value, "flag_store")));
}

int64_t core_flag_add(Core *core, uint32_t site, Ref flag, Target target, int64_t value, bool observe)
{
    guard_amend(core, STEP_FLAG_ADD, site, &flag, &target, NULL);
    uint32_t word = flag_word(core, site, flag, target, "flag_add");
    Step step = guard_step(core, STEP_FLAG_ADD, site, word, (uint32_t)flag_value(core, site, value, "flag_add"));
    step.extra = observe;
    return do_flag(core, step);
}

int64_t core_flag_compare_and_swap(Core *core, uint32_t site, Ref flag, Target target, int64_t expected, int64_t value)
{
    uint32_t word = flag_word(core, site, flag, target, "flag_compare_and_swap");
    Step step = guard_step(core, STEP_FLAG_CAS, site, word, (uint32_t)flag_value(core, site, value, "flag_compare_and_swap"));
    step.extra = (uint32_t)flag_value(core, site, expected, "flag_compare_and_swap");
    return do_flag(core, step);
}

void core_flag_wait(Core *core, uint32_t site, Ref flag, Target target, Compare compare, int64_t value)
{
    if (!guard_amend(core, STEP_FLAG_WAIT, site, &flag, &target, NULL))
        return;
    uint32_t word = flag_word(core, site, flag, target, "flag_wait");
    Step step = guard_step(core, STEP_FLAG_WAIT, site, word, (uint32_t)flag_value(core, site, value, "flag_wait"));
    step.extra = compare;
    do_flag(core, step);
}
