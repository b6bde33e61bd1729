/* stepper.c - `heddle replay --step`: reads commands from standard input, one on each line, from a person or a script. The prompt is shown
 * only on a terminal.
 */
#include "stepper.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../report/cursor.h"
#include "../report/timeline.h"

static const char HELP[] =
    "    n [K]      K steps forward (also: an empty line)\n"
    "    b [K]      K steps back\n"
    "    d D        to the next step of device D\n"
    "    db D       to the last step of device D before this one\n"
    "    g P        to step P; 0: before the first\n"
    "    e          to the end, where the fault is\n"
    "    c          counts that are not zero\n"
    "    m          memory: who wrote what last\n"
    "    w          what each core does next, and who waits for what\n"
    "    h          this list\n"
    "    q          quit\n";

/* Runs one command; false: quit. */
static bool obey(Cursor *cursor, const CheckResult *check, const char *line, GString *out)
{
    char word[8] = "n";
    unsigned number = 0, here = cursor_position(cursor);
    int read = sscanf(line, "%7s %u", word, &number);
    bool with = read == 2, known = true;
    if (!strcmp(word, "n")) {
        cursor_to(cursor, here + (with ? MIN(number, cursor_steps(cursor)) : 1));
    } else if (!strcmp(word, "b")) {
        unsigned by = with ? number : 1;
        cursor_to(cursor, by < here ? here - by : 0);
    } else if ((!strcmp(word, "d") || !strcmp(word, "db")) && with && number < check->program->devices) {
        if (!cursor_next_of_device(cursor, number, word[1] == 'b'))
            g_string_append_printf(out, "device %u does nothing %s\n", number, word[1] ? "before this" : "after this");
    } else if (!strcmp(word, "g") && with) {
        cursor_to(cursor, number);
    } else if (!strcmp(word, "e")) {
        cursor_to(cursor, cursor_steps(cursor));
    } else {
        known = false;
    }
    if (known)
        cursor_show_step(cursor, out);
    else if (!strcmp(word, "c"))
        cursor_show_counts(cursor, out);
    else if (!strcmp(word, "m"))
        cursor_show_buffers(cursor, out);
    else if (!strcmp(word, "w"))
        cursor_show_waits(cursor, out);
    else if (!strcmp(word, "h") || !strcmp(word, "?"))
        g_string_append(out, HELP);
    else if (strcmp(word, "q"))
        g_string_append_printf(out, "not understood: %.40s; h lists the commands\n", g_strchomp((char *)line));
    return strcmp(word, "q") != 0;
}

void stepper_run(Session *session, const CheckResult *check)
{
    const Finding *finding = check->outcome->findings->len ? check->outcome->findings->pdata[0] : NULL;
    Record *record = finding ? timeline_record(check, finding) : NULL;
    bool prompt = isatty(STDIN_FILENO) && isatty(fileno(session->stream)), more = true;
    char line[256];
    if (!record) {
        g_string_append(session->text.out, "There is no run to step through.\n");
        return;
    }
    Cursor *cursor = cursor_new(check, finding, record, session->text.source);
    cursor_show_step(cursor, session->text.out);
    while (more) {
        g_string_append(session->text.out, prompt ? "(n, b, d DEVICE, c, m, w, h, q) " : "");
        session_print(session);
        more = fgets(line, sizeof line, stdin) && obey(cursor, check, line, session->text.out);
    }
    cursor_free(cursor);
    record_free(record);
}
