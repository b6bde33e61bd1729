/* program.h - what is checked: a plan of declarations and launches at one size, and what runs have learnt about it.
 *
 * Built once per size and parameters by a PROGRAM function; runs add scoped declarations, views, regions and sites as they meet them, and
 * none goes away until a search starts over (rewind.h). Lives in shared Stores: a child builds it, its parent reads it.
 *
 * Ids.  A *decl* is one declaration; it has one buffer object a unit (a device for HBM and ANY, a core for VMEM, SMEM and SEMAPHORE):
 *       object = decl.first_object + unit.  A semaphore (or flag word) is one element of a SEMAPHORE decl on one core:
 *       semaphore = decl.first_semaphore + core * decl.elements + element.  core = device * cores_per_device + index.
 *
 * Invariants:  1. the objects and semaphores of a decl follow those of the decl before.  2. string 0 is "".
 * Errors:      bad plans set usage_error (one line with file and line) and unwind; what PL_NEEDS refuses sets not_applicable.
 */
#pragma once
#include "fault.h"
#include "knobs.h"
#include "clash.h"
#include "mesh.h"
#include "step.h"
#include "view.h"

typedef struct Core Core;
typedef struct Machine Machine;
typedef struct Program Program;
typedef struct ProgramEdits ProgramEdits;       /* changes of steps on their way to the runner (run/edit); opaque to the model */

typedef enum Space { SPACE_HBM, SPACE_ANY, SPACE_VMEM, SPACE_SMEM, SPACE_SEMAPHORE } Space;
typedef enum SemaphoreKind { SEMAPHORE_REGULAR, SEMAPHORE_DMA, SEMAPHORE_BARRIER, SEMAPHORE_FLAG } SemaphoreKind;

/* When an object's life on its device begins and ends. */
typedef enum Life {
    LIFE_ALWAYS,        /* inputs of a bare program, flags, barrier semaphores of a collective_id (until the end of the program) */
    LIFE_LAUNCHES,      /* from the entry of the first launch that uses it on that device to the exit of the last one */
    LIFE_SCOPE          /* from STEP_ALLOC to STEP_FREE of its core (HBM: first core's alloc to last core's free) */
} Life;

struct Contents;
typedef void (*DeclFill)(Program *program, uint32_t decl, uint32_t device, struct Contents *contents);      /* given inputs */

typedef struct Decl {
    uint8_t space, semaphore_kind, life, dtype;
    bool opaque, input, once, constant;         /* input: given before the first launch; once: scratch of a launch; constant: pl_constant */
    uint32_t ndim;
    int64_t size[VIEW_DIMS_MAX];
    int64_t bytes;                              /* of one object; padded size under BOUNDS_PADDED */
    uint32_t view;                              /* of the whole buffer */
    uint32_t name, site;                        /* string, site of the declaration */
    uint32_t launch, ordinal;                   /* of a scope: its launch; its ordinal among those of its site on a core */
    uint32_t first_object, units;
    uint32_t first_semaphore, elements;         /* SEMAPHORE decls; else first_semaphore NONE and elements 0 */
    int32_t collective_id;                      /* barrier semaphores; else -1 */
    int64_t limit;                              /* a higher count is an overflow; -1: none */
    int64_t initial;                            /* flags: first value */
    DeclFill fill;                              /* inputs; NULL: the seeded generator */
    const void *closure;
    uint32_t exempt[FAULT_COUNT];               /* string id of the reason, 0: not exempt */
} Decl;

/* counter: textual order in a file. caller: site + 1 of the innermost marked call (PL_CALL), 0: none. library: 1 for copies of windows. */
typedef struct Site { uint32_t file, function, line, counter, caller, library; } Site;

#define GRID_DIMS_MAX 8
typedef struct Launch {
    uint32_t name, site, kernel;                /* kernel: site of its function */
    void (*body)(Core *core, const struct Launch *launch);              /* one grid step, on the core's own stack */
    const void *closure;
    uint32_t grid_dims;
    int64_t grid[GRID_DIMS_MAX];
    int32_t parallel_dim;                       /* split among a device's cores; -1: every core runs the whole grid */
    bool one_core, host;                        /* core 0 of each device runs the whole grid; pl_host: likewise, without entry barrier */
    bool skip_device_barrier, allow_unused_collective_id;
    int32_t collective_id;                      /* -1: none */
    const uint8_t *on_device;                   /* which devices launch it, one byte each; NULL: all */
    uint32_t decls, *decl;                      /* its arguments, in order */
    bool communicates, uses_barrier_semaphore, presumed, entry_barrier;         /* learnt from runs; the last two: see entry.h */
} Launch;

struct Unexpected;                              /* expectation.h */
typedef struct Expectation {
    uint32_t name, site;
    bool (*holds)(Machine *machine, const struct Expectation *expectation, uint32_t device, struct Unexpected *unexpected);
    const void *closure;
    bool any_value;                             /* it holds whatever the values are; decl: the buffers that it reads */
    uint32_t decls, decl[4];
} Expectation;

typedef struct Parameter { uint32_t name; int64_t value, least, greatest; bool choice; } Parameter;    /* choice: all values are checked */

struct Program {
    const char *name, *summary, *source;        /* source: path as given to the compiler */
    Mesh mesh; uint32_t devices, cores_per_device, cores;
    Knobs knobs;
    bool bare;                                  /* of the machine tests: no launch steps, everything lives always */
    uint64_t seed;                              /* of generated inputs */
    Intern strings, views, regions, site_keys, scopes;
    Store text;                                 /* bytes: program_alloc */
    Store sites, decls, launches, expectations, parameters, overrides, labels, steered;
    Store input, drawn;                         /* int64_t: given values; Drawn: all that PROGRAM asked for (input.h) */
    bool least_input, many_inputs, note_steering;       /* beyond the given values the least, not generated; values are made to fit */
    Store passed;                               /* uint32_t a core: how many launches it has passed in some run: see entry.h */
    uint32_t objects, semaphores, generation;   /* ids given out; their generation, unique in this process (rewind.h) */
    uint32_t sites_in_order;                    /* later sites were met by several threads at once, in any order; 0: all are in order */
    Store object_decls;                         /* decl of each object id */
    Store view_regions, semaphore_decls, scope_decls, barrier_decls;    /* caches and lookups of program.c */
    Store home;                                 /* where this struct itself lives */
    Racing racing;
    ProgramEdits *edits;                        /* NULL: none */
    uint32_t expected_faults;                   /* bit per FaultId: of a wrong twin; 0: expected to be right */
    uint32_t expected_from;                     /* smallest number of devices at which the faults show */
    const char *usage_error, *not_applicable;   /* NULL or one line */
};

Program *program_new(const Mesh *mesh, uint32_t cores_per_device, const Knobs *knobs);      /* in shared memory */
void program_free(Program *program);
void program_start_over(Program *program);      /* as program_new left it */
void program_make_private(Program *program);    /* in a forked child, all but the launches: see store_make_private */
void program_renew(Program *program);           /* gives it another generation */

void *program_alloc(Program *program, size_t bytes);            /* zeroed, lives as long as the program */
uint32_t program_string(Program *program, const char *text);    /* made valid UTF-8 without control characters */
const char *program_text(const Program *program, uint32_t string);
uint32_t program_site(Program *program, const char *file, const char *function, unsigned line, unsigned counter);
uint32_t program_site_called(Program *program, uint32_t site, uint32_t caller);  /* the same operation, inside that call */
bool program_same_line(const Program *program, uint32_t site, uint32_t other);  /* the same operation, whatever the caller */
uint32_t program_view(Program *program, const View *view);
const View *program_get_view(const Program *program, uint32_t view);
const Region *program_get_region(const Program *program, uint32_t region);
uint32_t program_view_region(Program *program, uint32_t view);                  /* cached; NONE: too ragged */

typedef struct DeclSpec {
    Space space; SemaphoreKind semaphore_kind; DType dtype; Life life;
    unsigned ndim; int64_t size[VIEW_DIMS_MAX];
    bool opaque, input, once;
    int32_t collective_id; int64_t initial;
    DeclFill fill; const void *closure;
    uint32_t site; const char *name;
} DeclSpec;
uint32_t program_add_decl(Program *program, const DeclSpec *spec);
void program_assert_sane(const Program *program);
/* The decl of a scope: the same (launch, site, ordinal) gives the same decl on every core. */
uint32_t program_scope_decl(Program *program, uint32_t launch, uint32_t ordinal, const DeclSpec *spec);
uint32_t program_barrier_decl(Program *program, int32_t collective_id);         /* made on first use */
Launch *program_add_launch(Program *program);

static inline Decl *program_decl(const Program *program, uint32_t decl) { return &STORE(Decl, &program->decls, decl); }
static inline Launch *program_launch(const Program *program, uint32_t launch) { return &STORE(Launch, &program->launches, launch); }
static inline const Site *program_get_site(const Program *program, uint32_t site) { return &STORE(Site, &program->sites, site); }
/* The site of the innermost marked call; NONE: there is none. */
static inline uint32_t program_caller(const Program *program, uint32_t site) { return program_get_site(program, site)->caller - 1; }
/* Each core has its own (VMEM, SMEM); else the cores of a device share one (HBM, ANY). */
static inline bool program_decl_of_cores(const Decl *decl) { return decl->space != SPACE_HBM && decl->space != SPACE_ANY; }
uint32_t program_object(const Program *program, uint32_t decl, uint32_t core);                  /* the object that core sees */
uint32_t program_object_decl(const Program *program, uint32_t object);
int64_t program_padded_size(const Decl *decl, unsigned dim);    /* how far a dimension reaches physically (VMEM tiles) */
uint32_t program_object_device(const Program *program, uint32_t object);
uint32_t program_semaphore_decl(const Program *program, uint32_t semaphore);
uint32_t program_semaphore_core(const Program *program, uint32_t semaphore);                    /* the core that owns it */
bool program_decl_is_result(const Decl *decl);   /* a buffer with contents that belongs to launches and is not scratch */
bool program_launch_on_device(const Program *program, uint32_t launch, uint32_t device);
/* First and last launch in which a LIFE_LAUNCHES decl lives on a device; false: in none. */
bool program_decl_launches(const Program *program, uint32_t decl, uint32_t device, uint32_t *first, uint32_t *last);

/* For messages. "device 5", on two axes "device 5 (1,2)"; of several cores "device 5 core 1"; "output[2, 0:8] on device 1"; g_malloc. */
char *program_describe_device(const Program *program, uint32_t device);
char *program_describe_core(const Program *program, uint32_t core);
char *program_describe_site(const Program *program, uint32_t site);
char *program_describe_region(const Program *program, uint32_t object, uint32_t region);
char *program_describe_semaphore(const Program *program, uint32_t semaphore);
void program_set_usage_error(Program *program, uint32_t site, const char *format, ...) __attribute__((format(printf, 3, 4)));
