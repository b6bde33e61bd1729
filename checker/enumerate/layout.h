/* layout.h - packs the ids of a state's parts into a key: bit fields, none across two words.
 *
 * Fields are the components of the cores, then the memories of the devices (where a program has any). Ids begin at 1, so that a key's
 * first word is never 0, which marks a free slot of the table.
 *
 * Invariants:  1. fields follow each other, from the lowest bit up; a word begins where a field would not fit.  2. words, bits: those used.
 */
#pragma once
#include "../../model/store.h"

#define LAYOUT_WORDS_MAX 256

typedef struct LayoutField { uint8_t word, shift, bits; } LayoutField;

typedef struct Layout {
    unsigned fields, words, bits;               /* bits: used in the first word */
    LayoutField *field;
} Layout;

bool layout_fields_fit(unsigned fields);        /* into LAYOUT_WORDS_MAX words, at least at first */
void layout_assert_sane(const Layout *layout);
/* Equal fields, as wide as the fewest words with at least 6 bits each allow. False: more than LAYOUT_WORDS_MAX words. */
bool layout_init(Layout *layout, unsigned fields);
void layout_clear(Layout *layout);
/* A layout in which each field holds its id of `largest` and twice that. False: it would need more than LAYOUT_WORDS_MAX words. */
bool layout_widen(Layout *layout, const uint32_t *largest);
/* A layout in which they fit, of one word and at most `bits`; the rest is for growth, one bit each in turn. False: they do not fit. */
bool layout_tighten(Layout *layout, const uint32_t *largest, unsigned bits);
void layout_set(Layout *layout, const unsigned *bits);         /* of each field */
void layout_pack(const Layout *layout, const uint32_t *id, uint64_t *key);      /* all ids must fit */
void layout_unpack(const Layout *layout, const uint64_t *key, uint32_t *id);

static inline bool layout_fits(const Layout *layout, unsigned field, uint32_t id)
{
    return id >> layout->field[field].bits == 0;
}
