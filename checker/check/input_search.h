/* input_search.h - many inputs of one program, one after the other in a child: one execution each, and one proof a shape.
 *
 *     parent: input_search_new -> [ child_start -> child_wait ]* until `finished` -> input_search_free
 *     child:  input_search_serve, from where the last child ended
 *
 * An input is clean if its execution finished without a fault, and the proof of its shape, or its own search if steps conflict, found
 * nothing and was complete. Any other one is a Doubt: an ordinary check of that input decides it. So the search alone never says
 * "faulty", and a child that dies costs one doubt.
 *
 * All inputs: in lexicographic order of their values. Some: small ones first, then changes of inputs that showed something new. Both depend
 * on the program and the seed alone.
 */
#pragma once
#include "input_state.h"
#include "worker_shared.h"

InputSearch *input_search_new(const CheckSpec *spec);           /* in shared memory */
void input_search_free(InputSearch *search);
void input_search_serve(WorkerShared *shared);
void input_search_take_death(WorkerShared *shared);             /* the last child died within an input */
void input_search_give(WorkerShared *shared);                   /* before PROGRAM: the values of the next input */
