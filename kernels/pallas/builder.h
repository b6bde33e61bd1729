/* builder.h - the checker's side of the kernel API: which program a call belongs to, and how misuse ends.
 *
 * A call comes from a kernel (core_running is set), from PROGRAM (builder_open is set), or from an author's function of given or expected
 * values (builder_function is set). Each .c file beside a public header fills its part of the API table.
 *
 * Ownership:   one builder at a time, on the stack of pl_module's build.
 * Errors:      misuse sets the program's usage_error at the author's line and unwinds: to the scheduler, or out of PROGRAM.
 */
#pragma once
#include <glib.h>
#include <setjmp.h>
#include "../../model/core.h"
#include "api.h"

typedef struct BuilderCopy { uint32_t decl, copy; } BuilderCopy;  /* scratch of one launch, and its copy for a later launch */

/* The arguments of a pl_windows, until a launch takes it. */
typedef struct BuilderWindows { const PlSite *copies, *waits; PlRef array; PlWindows asked; } BuilderWindows;

typedef struct Builder {
    Program *program;
    sigjmp_buf unwind;
    BuilderCopy *copies;
    size_t copies_count;
    GHashTable *taken;                          /* set of the declarations that launches have taken */
    int64_t from[FAULT_COUNT];                  /* expected faults: the smallest number of devices, 0: not expected */
    bool overridden[64];                        /* which overrides name a parameter */
    BuilderWindows *windows;
    uint32_t windows_count;
} Builder;

/* Set while an author's function of values is called. core: of whose memory; NONE: memory of the whole device. */
typedef struct BuilderFunction { Program *program; Machine *given; uint32_t core; sigjmp_buf unwind; } BuilderFunction;

extern Builder *builder_open;
extern BuilderFunction *builder_function;

/* A core's open scopes in the current grid step, in its arena: innermost first, the grid step itself (no decl) last. */
typedef struct BuilderScope { struct BuilderScope *outer; uint64_t id; uint32_t decl, site; } BuilderScope;

Program *builder_program(void);
uint32_t builder_site(const PlSite *here);                      /* in a kernel: inside the marked call that it is in */
uint32_t builder_line(const PlSite *here);                      /* the same for all callers */
const char *builder_function_name(const char *function);        /* as the author wrote it: without the prefix of KERNEL or PROGRAM */
void builder_misuse(const PlSite *here, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
Core *builder_core(const PlSite *here, const char *what);        /* misuse outside a kernel */
Builder *builder_of(const PlSite *here, const char *what);        /* misuse outside PROGRAM */

/* Misuse, in the name of `what`, unless the ref was made by the API. */
Ref builder_ref(const PlSite *here, PlRef ref, const char *what);
PlRef builder_make_ref(uint32_t decl, uint32_t view, uint32_t core);
const char *builder_name(const Program *program, uint32_t decl); /* "output", or "this ref" before it has a name */
const View *builder_view(const PlSite *here, PlRef ref, const char *what);
bool builder_is_barrier_placeholder(PlRef ref);
PlRef builder_barrier_placeholder(void);
PlRef builder_windows_placeholder(uint32_t number);             /* index in the builder's windows */
bool builder_is_windows_placeholder(PlRef ref);
Target builder_target(Core *core, const PlSite *here, PlDevice device, const char *what);
Target builder_copy_target(Core *core, const PlSite *here, const PlCopy *copy);

BuilderScope *builder_new_scope(Core *core, uint32_t site);     /* not yet the innermost */
/* Tiles in the core's arena. A PlTile knows the scope it was made in, so that its use after the scope is detected. */
Tile *builder_new_tile(Core *core);
PlTile builder_hold(Tile *tile);
Tile *builder_tile(const PlSite *here, PlTile tile, const char *what);

/* Around calls of an author's function of values, while builder_function is set; misuse if it changed state that PROGRAM left. */
void builder_begin_function(void);
void builder_end_function(uint32_t site);
void builder_refuse(const char *function, const char *what);    /* see outside.h */

void builder_begin_body(Core *core);
void builder_end_body(Core *core);

/* An element of an input with a domain, before any run; false: the decl has none. */
bool builder_among(const Program *program, uint32_t decl, uint32_t device, int64_t element, int64_t *value);
/* The next value of the program's input. table: the decl, NONE: a choice. what: its name, for misuse. */
int64_t builder_draw(const PlSite *here, const char *what, int64_t least, int64_t greatest, uint32_t table);

void pl_call_install(PlApi *api);
void pl_device_install(PlApi *api);
void pl_buffer_install(PlApi *api);
void pl_ref_install(PlApi *api);
void pl_copy_install(PlApi *api);
void pl_semaphore_install(PlApi *api);
void pl_flag_install(PlApi *api);
void pl_value_install(PlApi *api);
void pl_compute_install(PlApi *api);
void pl_expect_install(PlApi *api);
void pl_kernel_install(PlApi *api);
void pl_windows_install(PlApi *api);
