/* core.h - one core: the operations of a kernel. Each is one step, checked first (bounds, shape, space, kinds), then submitted.
 *
 * The kernel runs on the core's own stack and calls these. The runner of the core (a live execution, an unrolling) provides `submit`, which
 * returns when the step is done, and never returns to a core that is abandoned. A failed check submits STEP_STOP with the fault.
 *
 * Ownership:   Request and Tile belong to the caller; tiles' arrays to the core's arena, released at the end of each grid step.
 * Errors:      the kernel's faults through core_stop; misuse of the API through core_usage (exit 2). Both never return.
 */
#pragma once
#include "program.h"
#include "tile.h"

/* A buffer or semaphore as a kernel names it. core: index of the sibling core whose VMEM, SMEM or semaphore it is; NONE: the caller's. */
typedef struct Ref { uint32_t decl, view, core; } Ref;

typedef struct CopyDesc CopyDesc;

typedef struct Request {
    Step step;
    Copy copy;                                  /* COPY_START */
    const CopyDesc *desc;                       /* WAIT: for the bytes of that descriptor; NULL: none */
    uint32_t view;                              /* LOAD, STORE, SWAP */
    const uint8_t *mask;                        /* one byte an element of the view; NULL: all */
    Tile *tile;                                 /* LOAD: filled by the runner; STORE: written; SWAP: written, then filled with the old */
    Tile *old;                                  /* SWAP */
    int64_t observed;                           /* SEMAPHORE_READ, FLAG_LOAD, FLAG_ADD, FLAG_CAS */
    FaultId fault;                              /* STOP */
    const char *message;                        /* STOP: in the program's memory; FAULT_WHY in it */
} Request;

enum { CORE_EDITS_MAX = 24, CORE_HELD_MAX = 8 };

struct Core {
    uint32_t id, device, index;
    Program *program;
    void (*submit)(Core *core, Request *request);
    void (*raise)(Core *core, uint32_t site, FaultId fault, const char *message);       /* a fault that does not stop the core */
    void (*advise)(Core *core, uint32_t site, AdviceId advice);
    void *runner;
    uint32_t launch, position, copies;          /* position: steps done so far; copies: of bytes > 0 started so far */
    int64_t grid_index, grid[GRID_DIMS_MAX];    /* linear index and program ids of the current grid step */
    uint32_t barriers;                          /* core barriers so far */
    bool opaque_data;                           /* unrolling without contents: every load gives an opaque tile */
    bool observed_data, needs_contents;         /* it observed data; it tried to, under opaque_data */
    uint8_t steered;                            /* marks of the elements that it observed: see racing.h */
    struct CoreScopes *scopes;                  /* scopes opened so far, by launch and site */
    struct CoreChunk *chunk;                    /* arena of tiles: the newest block */
    struct CoreChunk *spare;                    /* an empty block for later use, NULL: none */
    uint64_t marks;                             /* kernel API: number of scopes so far, to tell them apart */
    uint32_t edited[CORE_EDITS_MAX];            /* run/edit: occurrences so far, by edit */
    uint64_t blocks;                            /* of the author's code since the last step, see spin.h */
    uint32_t caller;                            /* site + 1 of the innermost marked call that the kernel is in; 0: none */
    uint32_t label;                             /* of copies started from here on, see Copy */
    bool editing;                               /* the next step comes from an edit */
    uint32_t held;                              /* run/edit: steps that are to come later, and by which edit each is held */
    struct { Request request; uint32_t edit; } later[CORE_HELD_MAX];
    void *open;                                 /* kernel API: the innermost open scope */
    void *windows;                              /* kernel API: the state of the launch's windows; NULL: none */
    void (*drop_windows)(Core *core);           /* frees that */
    struct HeapBlock *heap;                     /* blocks that the kernel has allocated and not freed: see heap.h */
};

extern _Thread_local Core *core_running;        /* the core on whose stack this thread runs; NULL: none */
void core_run_as(Core *core);                   /* sets that, and the heap's current core */

void core_init(Core *core, Program *program, uint32_t id);
void core_clear(Core *core);
/* Submits a step of the kernel; a usage error if the kernel has changed state outside its stack (outside.h). */
void core_submit(Core *core, Request *request);
void core_main(Core *core);                     /* all launches: enter, the grid, exit. The entry of a core's stack */
/* Empties the arena and returns its first block, to become the `spare` of another run, so that addresses repeat. NULL: there is none. */
struct CoreChunk *core_take_block(Core *core);
/* The core's share of the launch's grid: how many steps it has, and the program ids of one of them. */
int64_t core_grid_steps(const Core *core);
void core_grid_at(const Core *core, int64_t step, int64_t *grid);
uint64_t core_state_hash(const Core *core, uint64_t seed);        /* of all that its future depends on, besides its stack */
void *core_alloc(Core *core, size_t bytes);     /* zeroed; lives until the end of the grid step */
void *core_tile_alloc(void *core, size_t bytes);        /* the same as a TileAlloc */

/* Where a signal or a copy goes. device NONE: the caller's; core NONE: the core with the caller's index. */
typedef struct Target { uint32_t device, core; } Target;

void core_load(Core *core, uint32_t site, Ref ref, const uint8_t *mask, Tile *out);
void core_store(Core *core, uint32_t site, Ref ref, const uint8_t *mask, const Tile *tile);
void core_swap(Core *core, uint32_t site, Ref ref, const uint8_t *mask, const Tile *tile, Tile *old);
/* One element that the kernel observes: uninitialised if unwritten, a usage error if opaque. what: "value", "index", ... for messages. */
int64_t core_tile_int(Core *core, uint32_t site, const Tile *tile, int64_t element, const char *what);
double core_tile_double(Core *core, uint32_t site, const Tile *tile, int64_t element, const char *what);

void core_signal(Core *core, uint32_t site, Ref semaphore, int64_t inc, Target target);
void core_wait(Core *core, uint32_t site, Ref semaphore, int64_t value, bool decrement);
int64_t core_semaphore_read(Core *core, uint32_t site, Ref semaphore);
void core_expect_count(Core *core, uint32_t site, Ref semaphore, int64_t value);
void core_barrier(Core *core, uint32_t site);

struct CopyDesc {
    Ref source, target, send, receive;          /* local copies: receive only, send.decl NONE */
    Target to;
    bool remote;
    uint32_t core, ordinal;                     /* once started: its issuer, and the ordinal among its copies; NONE before */
    uint32_t site;                              /* where it was described */
};
typedef enum CopyWait { COPY_WAIT_SEND, COPY_WAIT_RECEIVE } CopyWait;
void core_copy_start(Core *core, uint32_t site, CopyDesc *copy);
/* Waits for the bytes of the descriptor, started or not. meant: the author declares the wait to be for this copy (mismatch). */
void core_copy_wait(Core *core, uint32_t site, const CopyDesc *copy, CopyWait which, bool meant);

uint32_t core_scope_open(Core *core, const DeclSpec *spec);     /* decl; spec->site names the allocation site */
void core_scope_close(Core *core, uint32_t decl, uint32_t site);
uint32_t core_barrier_semaphore(Core *core, uint32_t site);     /* decl; usage error without a collective_id */

int64_t core_flag_load(Core *core, uint32_t site, Ref flag, Target target);
void core_flag_store(Core *core, uint32_t site, Ref flag, Target target, int64_t value);
int64_t core_flag_add(Core *core, uint32_t site, Ref flag, Target target, int64_t value, bool observe);
int64_t core_flag_compare_and_swap(Core *core, uint32_t site, Ref flag, Target target, int64_t expected, int64_t value);
void core_flag_wait(Core *core, uint32_t site, Ref flag, Target target, Compare compare, int64_t value);

/* The message may go on behind FAULT_WHY: sentences that name the line to look at. */
void core_stop(Core *core, uint32_t site, FaultId fault, const char *format, ...) __attribute__((noreturn, format(printf, 4, 5)));
void core_usage(Core *core, uint32_t site, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
