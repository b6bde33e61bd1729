/* bodies.h - kernels as C functions of a test: a small bare program around one, run eagerly and proved.
 *
 *     body_run -> execution, record, outcome -> body_clear;  inside of a body: body_world, body_ref, body_line
 */
#pragma once
#include "../../checker/proof/prove.h"
#include "../../checker/run/execution.h"

typedef struct BodyWorld {
    Program *program;
    Record *record;
    Execution *execution;
    Outcome *outcome;
    uint32_t semaphore, dma, flag;              /* decls, one element each */
    uint32_t buffer, scratch;                   /* four elements each; the buffer is an input */
} BodyWorld;

extern BodyWorld *body_world;                   /* bodies take no arguments */
static const Target BODY_OWN = { NONE, NONE };

void body_run(BodyWorld *world, uint32_t devices, void (*body)(Core *core, const Launch *launch));
void body_clear(BodyWorld *world);
Ref body_ref(uint32_t decl);
uint32_t body_line(Core *core, unsigned number);                /* the site test:number */
