/* labels.h - how a program stores the labels of label.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "view.h"

/* The labels of one buffer's blocks; the first one is for blocks without a label of their own. */
typedef struct Labels {
    uint32_t first, count;
    uint32_t decl;                              /* whose blocks */
    bool fetch;                                 /* or a write-back */
    unsigned ndim;                              /* 0: the whole buffer at once */
    int64_t blocks[VIEW_DIMS_MAX];              /* how many along each dimension */
} Labels;
