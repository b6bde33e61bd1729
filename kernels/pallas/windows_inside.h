/* windows_inside.h - the windows of one launch; private to kernel.c and windows.c. */
#pragma once
#include "builder.h"

typedef struct Window {
    uint32_t argument;                          /* which ref of the kernel */
    PlRef array;
    unsigned ndim;                              /* of the array */
    int64_t block[PL_DIMS_MAX], stride[PL_DIMS_MAX];            /* block: 1 where squeezed */
    bool squeezed[PL_DIMS_MAX];
    PlBlockIndex index;
    const int64_t *table;                       /* block indices for each grid step; NULL, and index NULL: always block 0 */
    bool output, revisit;
    unsigned buffers;
    uint32_t room, semaphore;                   /* decls: the first of `buffers` rooms; one DMA semaphore for each room */
    uint32_t copies, waits;                     /* sites */
    uint32_t fetches, write_backs;              /* labels; NONE: the window has no such copies */
} Window;

/* The array of a placeholder among the arguments; and its window, with rooms declared for its blocks. array: that one, or the copy of it
 * that belongs to the launch. name: of the argument. */
PlRef windows_array(const Builder *builder, PlRef placeholder);
Window windows_make(Builder *builder, const Launch *launch, PlRef placeholder, PlRef array, uint32_t argument, const char *kernel,
                    const char *name);
/* Before and after the body of a grid step. Sets those of the kernel's refs that are windows. */
void windows_enter(Core *core, const Window *window, unsigned count, PlRef *ref);
void windows_leave(Core *core, const Window *window, unsigned count);
