/* suggest.c - Damerau-Levenshtein distance. Three rows of the table are kept, since a transposition needs the one before the last. */
#include "suggest.h"
#include <string.h>

#define LENGTH_MAX 64

static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned before[LENGTH_MAX + 1], last[LENGTH_MAX + 1], now[LENGTH_MAX + 1];
    memset(before, 0, sizeof before);
    for (unsigned j = 0; j <= b_length; j++)
        last[j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        now[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            now[j] = MIN(MIN(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = MIN(now[j], before[j - 2] + 1);
        }
        memcpy(before, last, sizeof before);
        memcpy(last, now, sizeof last);
    }
    return last[b_length];
}

const char *suggest_nearest(const GPtrArray *names, const char *text)
{
    const char *best = NULL;
    size_t length = strlen(text);
    if (length == 0 || length > LENGTH_MAX)
        return NULL;
    unsigned best_distance = length / 3 + 2;
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        size_t name_length = strlen(name);
        if (name_length > LENGTH_MAX)
            continue;
        unsigned d = distance(text, length, name, name_length);
        if (d < best_distance) {
            best_distance = d;
            best = name;
        }
    }
    return best;
}
