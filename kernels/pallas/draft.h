/* draft.h - the checker's side of the kernel API: in which program a call stands, and how misuse ends.
 *
 * A call stands in a kernel (core_running is set), in PROGRAM (draft_open is set), or in an author's function of given or expected
 * values (draft_judge is set). Each .c file beside a public header fills its part of the table.
 *
 * Ownership:   one draft at a time, on the stack of pl_module's build.
 * Errors:      misuse sets the program's usage_error at the author's line and unwinds: to the scheduler, or out of PROGRAM.
 */
#pragma once
#include <glib.h>
#include <setjmp.h>
#include "../../model/core.h"
#include "api.h"

typedef struct DraftCopy { uint32_t decl, copy; } DraftCopy;      /* scratch of one launch, made anew for another */

/* What pl_windows was asked for, until a launch takes it. */
typedef struct DraftWindows { const PlSite *copies, *waits; PlRef array; PlWindows asked; } DraftWindows;

typedef struct Draft {
    Program *program;
    sigjmp_buf unwind;
    DraftCopy *copies;
    size_t copies_count;
    GHashTable *taken;                          /* declarations that launches have got, as a set */
    int64_t from[FAULT_COUNT];                  /* expected faults: smallest number of devices, 0: not expected */
    bool overridden[64];                        /* which overrides were asked for */
    DraftWindows *windows;                      /* what pl_windows was asked for */
    uint32_t windows_count;
} Draft;

/* Set while an author's function of values is called. */
typedef struct Judge { Program *program; Machine *given; sigjmp_buf unwind; } Judge;

extern Draft *draft_open;
extern Judge *draft_judging;

/* What a core has open in the current grid step, in its arena: innermost first, the grid step itself (no decl) last. */
typedef struct DraftScope { struct DraftScope *outer; uint64_t id; uint32_t decl, site; } DraftScope;

Program *draft_program(void);
uint32_t draft_site(const PlSite *here);                        /* in a kernel: by way of the call that it is in */
uint32_t draft_line(const PlSite *here);                        /* whoever called */
const char *draft_function_name(const char *function);          /* as authors wrote it: without what KERNEL puts before it */
extern unsigned draft_generation;               /* raised for each program that is built: what was remembered of another is void */
void draft_misuse(const PlSite *here, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
Core *draft_core(const PlSite *here, const char *what);          /* misuse outside a kernel */
Draft *draft_of(const PlSite *here, const char *what);            /* misuse outside PROGRAM */

/* A ref made by us; misuse names `what` otherwise. */
Ref draft_ref(const PlSite *here, PlRef ref, const char *what);
PlRef draft_make_ref(uint32_t decl, uint32_t view, uint32_t core);
const char *draft_name(const Program *program, uint32_t decl);   /* "output", or "a buffer" before it was given a name */
const View *draft_view(const PlSite *here, PlRef ref, const char *what);
bool draft_is_barrier_placeholder(PlRef ref);
PlRef draft_barrier_placeholder(void);
PlRef draft_windows_placeholder(uint32_t number);               /* of the draft's windows */
bool draft_is_windows_placeholder(PlRef ref);
Target draft_target(Core *core, const PlSite *here, PlDevice device, const char *what);

DraftScope *draft_new_scope(Core *core, uint32_t site);         /* not yet the innermost */
/* Tiles in the core's arena. A PlTile knows the scope it was made in, so one that outlived it is noticed. */
Tile *draft_new_tile(Core *core);
PlTile draft_hold(Tile *tile);
Tile *draft_tile(const PlSite *here, PlTile tile, const char *what);

/* Around calls of an author's function of values, while draft_judging is set; misuse if it left something otherwise than PROGRAM did. */
void draft_begin_function(void);
void draft_end_function(uint32_t site);
void draft_refuse(const char *function, const char *what);      /* see outside.h */

void draft_begin_body(Core *core);
void draft_end_body(Core *core);

void pl_call_install(PlApi *api);
void pl_mesh_install(PlApi *api);
void pl_buffer_install(PlApi *api);
void pl_ref_install(PlApi *api);
void pl_copy_install(PlApi *api);
void pl_semaphore_install(PlApi *api);
void pl_flag_install(PlApi *api);
void pl_tile_install(PlApi *api);
void pl_compute_install(PlApi *api);
void pl_expect_install(PlApi *api);
void pl_program_install(PlApi *api);
void pl_windows_install(PlApi *api);
