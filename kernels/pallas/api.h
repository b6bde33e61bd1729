/* api.h - the versioned table through which a compiled kernel reaches the checker that loaded it.
 *
 * A module has one pointer `pl_api`, which the checker sets at load, and one exported symbol `heddle_module` that lists its contents.
 * The checker exports nothing, so a kernel may define any name. Functions that take a `here` report misuse as an error at that line.
 */
#pragma once
#include "types.h"

#define PL_API_VERSION 6

typedef struct PlApi {
    uint32_t version, bytes;
    /* device.h */
    int (*num_devices)(const PlSite *here);
    int (*num_cores)(const PlSite *here);
    int (*device_id)(const PlSite *here);
    int (*core_index)(const PlSite *here);
    int (*axis_size)(const PlSite *here, const char *axis);
    bool (*has_axis)(const PlSite *here, const char *axis);
    int (*axis_index)(const PlSite *here, const char *axis);
    int (*program_id)(const PlSite *here, int dimension);
    int (*num_programs)(const PlSite *here, int dimension);
    PlDevice (*mesh)(const PlSite *here, int axes, const int64_t *coordinate);
    PlDevice (*along)(const PlSite *here, const char *axis, int64_t index);
    /* buffer.h */
    PlRef (*allocate)(const PlSite *here, PlSpace space, PlType type, int dims, const int64_t *size, int role);
    PlRef (*allocate_semaphores)(const PlSite *here, PlKind kind, int dims, const int64_t *size, int role, int64_t initial);
    void (*scope_end)(const PlRef *ref);
    PlRef (*opaque)(const PlSite *here, PlRef ref), (*constant)(const PlSite *here, PlRef ref);
    PlRef (*fill)(const PlSite *here, PlRef ref, PlGiven function), (*named)(const PlSite *here, PlRef ref, const char *name);
    PlRef (*among)(const PlSite *here, PlRef ref, int64_t least, int64_t greatest, bool same);
    /* ref.h */
    PlRef (*at)(const PlSite *here, PlRef ref, int indices, const PlIndex *index);
    PlRef (*reshape)(const PlSite *here, PlRef ref, int dims, const int64_t *size);
    PlRef (*bitcast)(const PlSite *here, PlRef ref, PlType type);
    PlRef (*select_ref)(const PlSite *here, int64_t which, int refs, const PlRef *ref);
    PlRef (*on_core)(const PlSite *here, PlRef ref, int64_t core);
    int64_t (*size)(const PlSite *here, PlRef ref, int dimension);
    /* copy.h */
    PlCopy (*make_copy)(const PlSite *here, PlRef source, PlRef target, PlRef send, PlRef receive, PlDevice to, bool remote);
    void (*copy_start)(const PlSite *here, PlCopy *copy);
    void (*copy_wait)(const PlSite *here, PlCopy copy, bool send, bool receive, bool meant);
    /* semaphore.h */
    void (*semaphore_signal)(const PlSite *here, PlRef semaphore, PlSignal signal);
    void (*semaphore_wait)(const PlSite *here, PlRef semaphore, PlWait wait);
    int64_t (*semaphore_read)(const PlSite *here, PlRef semaphore);
    PlRef (*get_barrier_semaphore)(const PlSite *here);
    void (*core_barrier)(const PlSite *here);
    void (*expect_count)(const PlSite *here, PlRef semaphore, int64_t value);
    void (*delay)(const PlSite *here, int64_t cycles);
    void (*debug_print)(const PlSite *here, const char *format, ...) __attribute__((format(printf, 2, 3)));
    void (*check)(const PlSite *here, bool holds, const char *text);
    /* flag.h */
    int64_t (*flag_load)(const PlSite *here, PlRef flag, PlDevice on);
    void (*flag_store)(const PlSite *here, PlRef flag, int64_t value, PlDevice on);
    int64_t (*flag_add)(const PlSite *here, PlRef flag, int64_t value, PlDevice on, bool observe);
    int64_t (*flag_compare_and_swap)(const PlSite *here, PlRef flag, int64_t expected, int64_t value, PlDevice on);
    void (*flag_wait)(const PlSite *here, PlRef flag, PlCompare compare, int64_t value, PlDevice on);
    /* value.h: mask.tile NULL is "all" */
    PlTile (*load)(const PlSite *here, PlRef ref, PlTile mask);
    void (*store)(const PlSite *here, PlRef ref, PlTile tile, PlTile mask);
    PlTile (*swap)(const PlSite *here, PlRef ref, PlTile tile, PlTile mask);
    int64_t (*load_int)(const PlSite *here, PlRef ref);
    double (*load_float)(const PlSite *here, PlRef ref);
    void (*store_int)(const PlSite *here, PlRef ref, int64_t value);
    void (*store_float)(const PlSite *here, PlRef ref, double value);
    PlTile (*tile_full)(const PlSite *here, PlType type, double value, int dims, const int64_t *size);
    PlTile (*tile_binary)(const PlSite *here, PlTileOp op, PlTile a, PlTile b);
    PlTile (*tile_cast)(const PlSite *here, PlTile tile, PlType type);
    int64_t (*tile_int)(const PlSite *here, PlTile tile, int dims, const int64_t *index);
    double (*tile_float)(const PlSite *here, PlTile tile, int dims, const int64_t *index);
    void (*tile_put)(const PlSite *here, PlTile tile, double value, int dims, const int64_t *index);
    /* expect.h */
    void (*expect)(const PlSite *here, PlCollective collective, PlRef output, PlRef input, int64_t shift, const char *axis);
    void (*expect_values)(const PlSite *here, PlRef output, PlExpected function, double tolerance, int refs, const PlRef *ref);
    double (*given)(const PlSite *here, PlRef ref, int64_t device, int dims, const int64_t *index);
    void (*expect_fault)(const PlSite *here, PlFault fault, int64_t from);
    void (*exempt)(const PlSite *here, PlRef ref, PlFault fault, const char *reason);
    void (*limit)(const PlSite *here, PlRef semaphore, int64_t count);
    /* kernel.h */
    int64_t (*parameter)(const PlSite *here, const char *name, int64_t value, int64_t least, int64_t greatest);
    int64_t (*choose)(const PlSite *here, const char *name, int64_t least, int64_t greatest);
    int64_t (*parameter_value)(const PlSite *here, const char *name);
    void (*needs)(const PlSite *here, const char *why);
    void (*launch)(const PlSite *here, const PlDevices *on, const PlKernel *kernel, const PlLaunch *launch, const char *text);
    void (*host)(const PlSite *here, const PlKernel *kernel, int refs, const PlRef *ref);
    /* windows.h */
    PlRef (*windows)(const PlSite *copies, const PlSite *waits, PlRef array, const PlWindows *windows);
    /* call.h */
    char (*call)(const PlSite *here);
    void (*end_call)(void);
    /* compute.h */
    const struct PlCompute *compute;
} PlApi;

extern const PlApi *pl_api __attribute__((weak, visibility("hidden")));
const PlApi *pl_api __attribute__((weak, visibility("hidden")));

extern const PlProgram *const __start_heddle_programs[] __attribute__((weak, visibility("hidden")));
extern const PlProgram *const __stop_heddle_programs[] __attribute__((weak, visibility("hidden")));
extern const PlSite *const __start_heddle_steps[] __attribute__((weak, visibility("hidden")));
extern const PlSite *const __stop_heddle_steps[] __attribute__((weak, visibility("hidden")));
extern const PlTwin *const __start_heddle_twins[] __attribute__((weak, visibility("hidden")));
extern const PlTwin *const __stop_heddle_twins[] __attribute__((weak, visibility("hidden")));

typedef struct PlModule {
    char magic[8];                              /* "heddle" */
    uint32_t version, bytes;                    /* PL_API_VERSION, sizeof(PlApi) */
    const PlApi **api;
    const PlProgram *const *program, *const *program_end;
    const PlTwin *const *twin, *const *twin_end;
    const PlSite *const *step, *const *step_end;
} PlModule;

extern const PlModule heddle_module __attribute__((weak, visibility("default")));
const PlModule heddle_module __attribute__((weak, visibility("default"))) = {
    "heddle", PL_API_VERSION, sizeof(PlApi), &pl_api,
    __start_heddle_programs, __stop_heddle_programs, __start_heddle_twins, __stop_heddle_twins,
    __start_heddle_steps, __stop_heddle_steps,
};
