/* types.h - the types that kernels and programs pass around, and the source line of a call. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PL_DIMS_MAX 8
#define PL_REFS_MAX 64

/* The source line of a call: one constant for each, so that its address identifies it. `#line` is honoured. */
typedef struct PlSite { const char *file, *function; unsigned line, counter; } PlSite;
#define PL_HERE (__extension__({ static const PlSite pl_here_ = { __FILE__, __func__, __LINE__, __COUNTER__ }; &pl_here_; }))
/* The same for an operation that is a step, listed in a section: a report lists those that were never executed. */
#define PL_STEP (__extension__({ static const PlSite pl_here_ = { __FILE__, __func__, __LINE__, __COUNTER__ }; \
                                 static const PlSite *const pl_step_ __attribute__((section("heddle_steps"), used)) = &pl_here_; \
                                 (void)pl_step_; &pl_here_; }))

typedef enum PlType {
    PL_BOOL, PL_I8, PL_I16, PL_I32, PL_I64, PL_U8, PL_U16, PL_U32, PL_U64, PL_F8E4M3FN, PL_F8E5M2, PL_BF16, PL_F16, PL_F32, PL_F64
} PlType;
typedef enum PlSpace { PL_HBM, PL_ANY, PL_VMEM, PL_SMEM, PL_SEMAPHORE } PlSpace;
typedef enum PlKind { PL_REGULAR, PL_DMA, PL_BARRIER, PL_FLAG } PlKind;                         /* of a semaphore */
typedef enum PlDimension { PL_ARBITRARY, PL_PARALLEL } PlDimension;                             /* of a grid */
typedef enum PlCompare { PL_EQ, PL_NE, PL_GT, PL_GE, PL_LT, PL_LE } PlCompare;
typedef enum PlTileOp { PL_ADD, PL_SUB, PL_MUL, PL_DIV, PL_MIN, PL_MAX } PlTileOp;
typedef enum PlFault {
    PL_RACE, PL_LIFETIME, PL_DEADLOCK, PL_LEFTOVER, PL_IN_FLIGHT, PL_OUT_OF_BOUNDS, PL_UNINITIALISED, PL_SHAPE, PL_SPACE, PL_REVISIT,
    PL_ASSERT, PL_MISMATCH, PL_OVERFLOW, PL_DIVERGENCE, PL_NO_PROGRESS, PL_CRASH
} PlFault;

/* A view of a buffer or of an array of semaphores. Made by pl_input, pl_vmem, pl_at, ...; never by hand. */
typedef struct PlRef { uint32_t buffer, view, core, mark; } PlRef;

/* One index or slice of pl_at. */
typedef enum PlIndexKind { PL_INDEX_SLICE, PL_INDEX_INTEGER, PL_INDEX_ALL } PlIndexKind;
typedef struct PlIndex { int64_t start, size, stride; PlIndexKind kind; } PlIndex;

/* Which device, and which core of it; all zero: the caller's own. */
typedef struct PlDevice { int64_t device, core; bool has_device, has_core; } PlDevice;
typedef struct PlDevices { int64_t first, count, step; const int *list; } PlDevices;

/* A value: a dense array of one core, until the end of the grid step or of the scope in which it was made. */
typedef struct PlTile { void *tile; uint64_t scope; } PlTile;

/* A copy that can be started and waited for. */
typedef struct PlCopy {
    PlRef source, target, send, receive;
    PlDevice to;
    bool remote;
    uint32_t issuer, ordinal;                   /* once started */
    uint32_t site;                              /* where it was described */
} PlCopy;
#define PL_THIS true                            /* pl_copy_wait_for(copy, PL_THIS) */

typedef struct PlSignal { int64_t inc; PlDevice device; } PlSignal;
typedef struct PlWait { int64_t value; bool decrement; } PlWait;

/* Given values; expected values (PL_ANY_VALUE where nothing is promised) with the refs that the program passes. */
typedef double (*PlGiven)(int device, const int64_t *index);
typedef double (*PlExpected)(const PlRef *refs, int device, const int64_t *index);
typedef enum PlCollective {
    PL_COLLECTIVE_EQUAL, PL_COLLECTIVE_ALL_GATHER, PL_COLLECTIVE_ALL_REDUCE, PL_COLLECTIVE_REDUCE_SCATTER, PL_COLLECTIVE_ALL_TO_ALL,
    PL_COLLECTIVE_PERMUTE
} PlCollective;

/* Windows of an array: see windows.h. */
typedef void (*PlBlockIndex)(const int64_t *step, int64_t *block, const PlRef *refs);
typedef struct PlBlocks { int64_t count; const int64_t *index; } PlBlocks;
typedef struct PlWindows {
    int64_t block[PL_DIMS_MAX];
    PlBlockIndex index;
    PlBlocks blocks;
    int64_t stride[PL_DIMS_MAX];
    bool output, revisit;
    int buffers;                                /* 0: two */
    PlSpace space;                              /* 0: VMEM */
} PlWindows;

typedef struct PlKernel {
    const char *name, *refs;                    /* "all_gather"; "input, output, send_sem" */
    PlSite site;
    int ref_count;
    void (*call)(const PlRef *end);             /* end: one past the last ref */
} PlKernel;

typedef struct PlLaunch {
    int64_t grid[PL_DIMS_MAX];
    PlRef args[PL_REFS_MAX];
    PlDimension dimension_semantics[PL_DIMS_MAX];
    int collective_id;
    bool one_core;                              /* core 0 of each device runs the whole grid, the others nothing */
    bool skip_device_barrier, allow_collective_id_without_custom_barrier;
    const char *name;
} PlLaunch;

typedef struct PlProgram { const char *name, *summary; PlSite site; void (*build)(void); } PlProgram;
typedef struct PlTwin { const char *file, *function; } PlTwin;      /* this program expects a fault */
