/* session.h - what all commands share: options, where text and reports go, the exit code so far.
 *
 *     session_begin -> a command: session_print, session_fail, session_note_exit ... -> session_end
 *
 * Ownership:   a Session owns its parts; options are borrowed.
 * Errors:      what is wrong with the world goes to standard error as one line "heddle: ..." and makes the exit code 2.
 */
#pragma once
#include <stdio.h>
#include "options.h"
#include "../report/baseline.h"
#include "../report/outfile.h"
#include "../report/text.h"

typedef struct Session {
    const Options *options;
    ProgramModuleOpen open;
    Text text;
    FILE *stream;                               /* of the text: standard output, or standard error if a report goes there */
    Output *output[OUTPUT_KINDS];               /* reports; NULL: not wanted */
    OutputSettings settings;
    Baseline *baseline;                         /* NULL: none given */
    Outfile *results;                           /* NULL: no arrays asked for */
    GString *arrays;                            /* of all checks so far, for results */
    ExitCode exit_code;
    bool progress;                              /* a line of progress may be shown, on a terminal */
    ChildWatch watch;                           /* of searches: shows that line */
    char *what;                                 /* is being done, as the line says; NULL: nothing */
    double rate, rated_seconds, rated_done;     /* of the search, smoothed; when and of what it was last taken */
} Session;

bool session_begin(Session *session, const Options *options, ProgramModuleOpen open);           /* false: already failed */
int session_end(Session *session);              /* writes the reports; the exit code */
void session_print(Session *session);           /* what text holds by now */
void session_fail(Session *session, char *message);             /* takes message; exit code 2 */
void session_note_exit(Session *session, ExitCode code);        /* the worst counts */
void session_add_results(Session *session, const CheckResult *result);
/* The check goes into all reports but the text. schedules as in text_check. */
void session_add_reports(Session *session, const CheckResult *result, const GPtrArray *schedules);
/* A check that came to no verdict: one line, with the program's name and size. */
void session_fail_check(Session *session, const CheckResult *result);
void session_warn(Session *session, const CheckResult *result);  /* of what failed beside the check, if anything did */
void session_progress(Session *session, const char *what);      /* NULL: clears the line */

int command_check(Session *session);
int command_test(Session *session);
int command_replay(Session *session);
int command_list(Session *session);
int command_explain(Session *session);
int command_compile(Session *session);
