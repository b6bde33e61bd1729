/* pallas.h - the API for kernel authors: Pallas TPU in C.
 *
 *     KERNEL(name, ref, ...) { ... }          runs on every core, once for each grid step
 *     PROGRAM(name, "summary") { ... }        the plan: inputs, outputs, scratch, launches, expected results
 *
 * A kernel is a function of its refs and of the state that PROGRAM leaves: it may read statics, and write to locals, to memory that it
 * allocates itself, and to refs; any other write that outlives an operation is a usage error.
 *
 * Needs the C standard headers only. All names begin with pl_, Pl or PL_, except KERNEL, PROGRAM and PARAMETER.
 */
#pragma once
#ifdef __cplusplus
#error "heddle/pallas.h is for kernels in C: name the file .c and compile it as C11, not as C++"
#else
#include "types.h"
#include "api.h"
#include "call.h"
#include "device.h"
#include "buffer.h"
#include "ref.h"
#include "copy.h"
#include "semaphore.h"
#include "flag.h"
#include "value.h"
#include "compute.h"
#include "elementwise.h"
#include "windows.h"
#include "expect.h"
#include "kernel.h"
#endif
