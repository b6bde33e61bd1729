/* plumbing.h - how the macros of the public headers work: nothing here is for authors.
 *
 * A name that ends in an underscore, or a macro with capitals that no public header explains, is called by those headers only.
 */
#pragma once
#include "api.h"
#include "map.h"

/* ---- ref.h ---- */

static inline PlIndex pl_index_integer_(int64_t at)
{
    return (PlIndex){ at, 1, 1, PL_INDEX_INTEGER };
}

static inline PlIndex pl_index_slice_(PlIndex slice)
{
    return slice;
}

#define PL_INDEX(number, index) _Generic((index), PlIndex: pl_index_slice_, \
    bool: pl_index_integer_, char: pl_index_integer_, signed char: pl_index_integer_, unsigned char: pl_index_integer_, \
    short: pl_index_integer_, unsigned short: pl_index_integer_, int: pl_index_integer_, unsigned: pl_index_integer_, \
    long: pl_index_integer_, unsigned long: pl_index_integer_, long long: pl_index_integer_, \
    unsigned long long: pl_index_integer_)(index)

/* ---- copy.h ---- */

static inline PlCopy pl_make_local_copy_(const PlSite *here, PlRef source, PlRef target, PlRef semaphore)
{
    const PlRef no_send = { 0, 0, 0, 0 };
    const PlDevice own = { 0, 0, false, false };
    return pl_api->make_copy(here, source, target, no_send, semaphore, own, false);
}

static inline PlCopy pl_start_(const PlSite *here, PlCopy copy)
{
    pl_api->copy_start(here, &copy);
    return copy;
}

/* ---- semaphore.h ---- */

#define PL_SIGNAL_1(inc) pl_signal_(inc, (PlDevice){ .device = 0 })
#define PL_SIGNAL_2(inc, device) pl_signal_(inc, device)

/* Does the text of the arguments name this field? The compiler evaluates it. */
#define PL_SETS(text, field) (__builtin_strstr(text, ", ." field) != NULL || __builtin_strstr(text, ",." field) != NULL)

static inline PlSignal pl_signal_(int64_t inc, PlDevice device)
{
    return (PlSignal){ .inc = inc, .device = device };
}

static inline PlWait pl_wait_(PlWait wait, bool decrement_given)
{
    wait.decrement = wait.decrement || !decrement_given;
    return wait;
}

/* ---- device.h ---- */

#define PL_DEVICE_1(id) pl_device_(id)
#define PL_DEVICE_2(id, core) pl_on_core(pl_device_(id), core)

static inline PlDevice pl_device_(int64_t id)
{
    return (PlDevice){ .device = id, .has_device = true };
}

/* ---- buffer.h ---- */

enum { PL_ROLE_SCRATCH, PL_ROLE_INPUT, PL_ROLE_OUTPUT };

static inline void pl_scope_end_(PlRef *ref)
{
    pl_api->scope_end(ref);
}

#define PL_ALLOCATE(space, role, ...) PL_PASTE(PL_ALLOCATE_, PL_ONE_OR_MORE(__VA_ARGS__))(space, role, __VA_ARGS__)
#define PL_ALLOCATE_1(space, role, type) (pl_api->allocate(PL_HERE, space, type, 0, NULL, role))
#define PL_ALLOCATE_N(space, role, type, ...) (pl_api->allocate(PL_HERE, space, type, PL_LIST(__VA_ARGS__), role))
#define PL_SEMAPHORES(kind, role, initial, ...) (pl_api->allocate_semaphores(PL_HERE, kind, PL_LIST(__VA_ARGS__), role, initial))
#define PL_SEMAPHORE_OUTPUT_1(kind) PL_SEMAPHORES(kind, PL_ROLE_OUTPUT, 0, )
#define PL_SEMAPHORE_OUTPUT_N(kind, ...) PL_SEMAPHORES(kind, PL_ROLE_OUTPUT, 0, __VA_ARGS__)

/* ---- expect.h ---- */

typedef struct PlFrom { int64_t from; } PlFrom;

#define PL_EXPECT(name, output, input, shift, axis) (pl_api->expect(PL_HERE, PL_COLLECTIVE_##name, output, input, shift, axis))

/* Lists the program as a wrong twin, so that this is known without running it. */
#define pl_mark_twin_() (__extension__({ \
    static const PlTwin pl_twin_ = { __FILE__, __func__ }; \
    static const PlTwin *const pl_twin_entry_ __attribute__((section("heddle_twins"), used)) = &pl_twin_; \
    (void)0; }))

/* ---- kernel.h ---- */

#define PL_KERNEL_1(name) \
    static void pl_body_##name(void); \
    static void pl_call_##name(const PlRef *pl_end_) { (void)pl_end_; pl_body_##name(); } \
    PL_DESCRIBE_KERNEL(name, "", 0) \
    static void pl_body_##name(void)
#define PL_KERNEL_N(name, ...) \
    static void pl_body_##name(PL_EACH(PL_REF_PARAMETER, __VA_ARGS__)); \
    static void pl_call_##name(const PlRef *pl_end_) { pl_body_##name(PL_EACH(PL_REF_ARGUMENT, __VA_ARGS__)); } \
    PL_DESCRIBE_KERNEL(name, #__VA_ARGS__, PL_NARGS(__VA_ARGS__)) \
    static void pl_body_##name(PL_EACH(PL_REF_PARAMETER, __VA_ARGS__))
#define PL_REF_PARAMETER(number, ref) PlRef ref __attribute__((unused))
#define PL_REF_ARGUMENT(number, ref) pl_end_[-(number)]
#define PL_DESCRIBE_KERNEL(name, refs, count) \
    static const PlKernel pl_kernel_##name __attribute__((unused)) = \
        { #name, refs, { __FILE__, "pl_body_" #name, __LINE__, __COUNTER__ }, count, pl_call_##name };

/* ---- compute.h ---- */

#define PL_TILES_(...) (int)(sizeof((const PlTile[]){ __VA_ARGS__ }) / sizeof(PlTile)), (const PlTile[]){ __VA_ARGS__ }
