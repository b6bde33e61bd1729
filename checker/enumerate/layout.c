/* layout.c - fields are put into words in order, a new word where one does not fit. */
#include "layout.h"
#include <glib.h>
#include <string.h>
#include "../../model/sane.h"

enum { FIELD_BITS_MIN = 6, FIELD_BITS_MAX = 31, WORD_BITS = 64 };

void layout_set(Layout *layout, const unsigned *bits)
{
    unsigned word = 0, used = 0;
    for (unsigned f = 0; f < layout->fields; f++) {
        if (used + bits[f] > WORD_BITS)
            word++, used = 0;
        layout->field[f] = (LayoutField){.word = (uint8_t)word, .shift = (uint8_t)used, .bits = (uint8_t)bits[f]};
        used += bits[f];
    }
    layout->words = word + 1;
    const LayoutField *last = &layout->field[layout->fields - 1];
    layout->bits = layout->words > 1 ? WORD_BITS : last->shift + last->bits;
    SANE(layout_assert_sane(layout));
}

void layout_assert_sane(const Layout *layout)
{
    unsigned word = 0, used = 0;
    for (unsigned f = 0; f < layout->fields; f++) {
        const LayoutField *at = &layout->field[f];
        g_assert(at->bits >= 1 && at->bits <= FIELD_BITS_MAX);
        if (used + at->bits > WORD_BITS)
            word++, used = 0;
        g_assert(at->word == (uint8_t)word && at->shift == used);
        used += at->bits;
    }
    g_assert(layout->words == word + 1 && layout->bits == (word > 0 ? (unsigned)WORD_BITS : used));
}

bool layout_fields_fit(unsigned fields)
{
    return fields <= LAYOUT_WORDS_MAX * (WORD_BITS / FIELD_BITS_MIN);
}

bool layout_init(Layout *layout, unsigned fields)
{
    g_assert(fields > 0);
    *layout = (Layout){.fields = fields, .field = g_new0(LayoutField, fields)};
    unsigned words = 1, width = 0, *bits = g_new(unsigned, fields);
    for (;; words++) {
        unsigned per_word = (fields + words - 1) / words;
        width = WORD_BITS / per_word;
        if (width >= FIELD_BITS_MIN)
            break;
    }
    for (unsigned f = 0; f < fields; f++)
        bits[f] = MIN(width, FIELD_BITS_MAX);
    layout_set(layout, bits);
    g_free(bits);
    return layout->words <= LAYOUT_WORDS_MAX;
}

void layout_clear(Layout *layout)
{
    g_free(layout->field);
    *layout = (Layout){0};
}

bool layout_widen(Layout *layout, const uint32_t *largest)
{
    unsigned *bits = g_new(unsigned, layout->fields);
    for (unsigned f = 0; f < layout->fields; f++)
        bits[f] = MIN((unsigned)g_bit_storage(largest[f]) + 1, FIELD_BITS_MAX);
    layout_set(layout, bits);
    g_free(bits);
    return layout->words <= LAYOUT_WORDS_MAX;
}

bool layout_tighten(Layout *layout, const uint32_t *largest, unsigned bits_max)
{
    unsigned *bits = g_new(unsigned, layout->fields), sum = 0;
    for (unsigned f = 0; f < layout->fields; f++)
        sum += bits[f] = MAX((unsigned)g_bit_storage(largest[f]), 1);
    bool fits = sum <= bits_max;
    for (unsigned f = 0; sum < MIN(bits_max, layout->fields * FIELD_BITS_MAX); f = (f + 1) % layout->fields)
        if (bits[f] < FIELD_BITS_MAX)
            sum++, bits[f]++;
    if (fits)
        layout_set(layout, bits);
    g_free(bits);
    return fits && layout->words == 1;
}

void layout_pack(const Layout *layout, const uint32_t *id, uint64_t *key)
{
    for (unsigned w = 0; w < layout->words; w++)
        key[w] = 0;
    for (unsigned f = 0; f < layout->fields; f++)
        key[layout->field[f].word] |= (uint64_t)id[f] << layout->field[f].shift;
}

void layout_unpack(const Layout *layout, const uint64_t *key, uint32_t *id)
{
    for (unsigned f = 0; f < layout->fields; f++) {
        LayoutField at = layout->field[f];
        id[f] = (uint32_t)(key[at.word] >> at.shift) & (uint32_t)((1ull << at.bits) - 1);
    }
}
