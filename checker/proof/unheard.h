/* unheard.h - why a core does not learn that another has passed a step: a signal says so that is not waited for, or its wait hears others.
 *
 *     a step `first` of one core, a step `other` of another that nothing makes come after it -> a sentence, and what is to blame
 *
 * The texts go on behind a clause that lacks its full stop; nothing is added, and the result is false, if nothing is found.
 */
#pragma once
#include "prover.h"

/* A signal that the core of `first` gives behind it to the other core, and that no wait takes. */
bool unheard_untaken(const Prover *prover, GString *text, const Event *first, const Event *other);
/* The same, or the last wait before `other`, if signals of cores open it, but none that is of use. */
bool unheard_append(const Prover *prover, GString *text, const Event *first, const Event *other);
/* A sentence of its own: the last wait before that step that hears only of its own core, of a semaphore or a flag word. */
bool unheard_of_others(const Prover *prover, GString *text, const Event *step);
/* The same as the end of a clause, without its full stop. */
bool unheard_but_itself(const Prover *prover, GString *text, const Event *step);
