/* glossary.h - the words of reports and options, in alphabetical order. Names of faults and advice are explained in fault.h.
 *
 * Ownership:   all texts are constants.
 */
#pragma once
#include <stddef.h>

typedef struct GlossaryWord { const char *name, *meaning; } GlossaryWord;

extern const GlossaryWord glossary[];           /* the last one has no name */

const char *glossary_meaning(const char *name);                 /* NULL: no such word */
