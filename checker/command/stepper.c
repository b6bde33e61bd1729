/* stepper.c - `heddle replay --step`: commands from standard input, one a line, so that a script can walk as well as a person. Only a
 * terminal sees the prompt.
 */
#include "stepper.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../report/timeline.h"
#include "../report/walkthrough.h"

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
    "    q          leave\n";

/* One command. False: leave. */
static bool obey(Walk *walk, const CheckResult *check, const char *line, GString *out)
{
    char word[8] = "n";
    unsigned number = 0, here = walk_position(walk);
    int read = sscanf(line, "%7s %u", word, &number);
    bool with = read == 2, known = true;
    if (!strcmp(word, "n")) {
        walk_to(walk, here + (with ? MIN(number, walk_steps(walk)) : 1));
    } else if (!strcmp(word, "b")) {
        unsigned by = with ? number : 1;
        walk_to(walk, by < here ? here - by : 0);
    } else if ((!strcmp(word, "d") || !strcmp(word, "db")) && with && number < check->program->devices) {
        if (!walk_next_of_device(walk, number, word[1] == 'b'))
            g_string_append_printf(out, "device %u does nothing %s\n", number, word[1] ? "before this" : "after this");
    } else if (!strcmp(word, "g") && with) {
        walk_to(walk, number);
    } else if (!strcmp(word, "e")) {
        walk_to(walk, walk_steps(walk));
    } else {
        known = false;
    }
    if (known)
        walk_step(walk, out);
    else if (!strcmp(word, "c"))
        walk_counts(walk, out);
    else if (!strcmp(word, "m"))
        walk_buffers(walk, out);
    else if (!strcmp(word, "w"))
        walk_waits(walk, out);
    else if (!strcmp(word, "h") || !strcmp(word, "?"))
        g_string_append(out, HELP);
    else if (strcmp(word, "q"))
        g_string_append_printf(out, "not understood: %.40s; h lists the commands\n", g_strchomp((char *)line));
    return strcmp(word, "q") != 0;
}

void step_through(Session *session, const CheckResult *check)
{
    const Finding *finding = check->outcome->findings->len ? check->outcome->findings->pdata[0] : NULL;
    Record *record = finding ? timeline_record(check, finding) : NULL;
    bool prompt = isatty(STDIN_FILENO) && isatty(fileno(session->stream)), more = true;
    char line[256];
    if (!record) {
        g_string_append(session->text.out, "There is no run to walk through.\n");
        return;
    }
    Walk *walk = walk_new(check, finding, record, session->text.source);
    walk_step(walk, session->text.out);
    while (more) {
        g_string_append(session->text.out, prompt ? "(n, b, d DEVICE, c, m, w, h, q) " : "");
        session_print(session);
        more = fgets(line, sizeof line, stdin) && obey(walk, check, line, session->text.out);
    }
    walk_free(walk);
    record_free(record);
}
