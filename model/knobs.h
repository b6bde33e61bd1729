/* knobs.h - the choices that semantics.md leaves open; the conservative default comes first. */
#pragma once
#include <stdbool.h>

typedef enum DmaOrder { DMA_ORDER_UNORDERED, DMA_ORDER_LINK_FIFO, DMA_ORDER_ISSUE_ORDER } DmaOrder;
typedef enum DmaProgress { DMA_PROGRESS_FLUID, DMA_PROGRESS_WHOLE } DmaProgress;
typedef enum Bounds { BOUNDS_LOGICAL, BOUNDS_PADDED } Bounds;
typedef enum AtBounds { AT_BOUNDS_GO_ON, AT_BOUNDS_STOP } AtBounds;   /* after a load out of bounds */
typedef enum Scopes { SCOPES_STATIC, SCOPES_STRICT } Scopes;
typedef enum Windows { WINDOWS_PIPELINED, WINDOWS_SEQUENTIAL } Windows;
typedef enum DataMode { DATA_REAL, DATA_OPAQUE } DataMode;

typedef struct Knobs {
    DmaOrder dma_order;
    DmaProgress dma_progress;
    Bounds bounds;
    AtBounds at_bounds;
    Scopes scopes;
    Windows windows;
    DataMode data;
} Knobs;
