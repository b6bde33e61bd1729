/* input_lines.c - a line is read when the one before is answered, so whoever asks can choose by the answer. */
#include "input_lines.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_value(InputSearch *search, char **at)
{
    char *end;
    errno = 0;
    int64_t value = g_ascii_strtoll(*at, &end, 10);
    if (end == *at || errno != 0 || (*end != ' ' && *end != '\0'))
        return false;
    *(int64_t *)store_push(&search->next, 1) = value;
    *at = end + strspn(end, " ");
    return true;
}

bool input_lines_read(InputSearch *search, char **error)
{
    char *line = NULL;
    size_t room = 0;
    bool read = getline(&line, &room, stdin) >= 0;
    store_reset(&search->next);
    if (read) {
        char *at = g_strstrip(line);
        while (*at != '\0' && read)
            read = read_value(search, &at);
        if (!read)
            *error = g_strdup_printf("--inputs -: \"%s\" is no list of integers; write those of one input on a line, with spaces between",
                                     line);
    }
    free(line);
    return read;
}

void input_lines_answer(const InputSearch *search)
{
    static const char *const word[] = { [DOUBT_NONE] = "right", [DOUBT_FAULTY] = "wrong", [DOUBT_UNDECIDED] = "unsure",
                                        [DOUBT_OTHER] = "unsure" };
    puts(search->refused ? "refused" : word[search->answer]);
    fflush(stdout);
}
