/* session.h - shared by all commands: options, the text, the reports, the exit code so far.
 *
 *     session_begin -> a command: session_print, session_fail, session_note_exit ... -> session_end
 *
 * Ownership:   a Session owns its parts; options are borrowed.
 * Errors:      an error is one line "heddle: ..." on standard error, and exit code 2.
 */
#pragma once
#include <stdio.h>
#include "options.h"
#include "../report/baseline.h"
#include "../report/outfile.h"
#include "../report/text_check.h"

typedef struct Session {
    const Options *options;
    ProgramModuleOpen open;
    Text text;
    FILE *stream;                               /* of the text: standard output, or standard error if a report takes that */
    Output *output[OUTPUT_KINDS];               /* reports; NULL: not requested */
    OutputSettings settings;
    Baseline *baseline;                         /* NULL: none given */
    Outfile *results;                           /* NULL: arrays not requested */
    GString *arrays;                            /* of all checks so far, for results */
    ExitCode exit_code;
    bool progress;                              /* a line of progress may be shown, on a terminal */
    ChildWatch watch;                           /* of searches: shows the line */
    char *what;                                 /* the current check, as the line names it; NULL: none */
    double rate, rated_seconds, rated_done;     /* smoothed; when it was last updated, and from what */
} Session;

bool session_begin(Session *session, const Options *options, ProgramModuleOpen open);           /* false: already failed */
int session_end(Session *session);              /* writes the reports; returns the exit code */
void session_print(Session *session);           /* prints and empties the text */
void session_fail(Session *session, char *message);             /* takes message; exit code 2 */
void session_note_exit(Session *session, ExitCode code);        /* keeps the worst */
void session_add_results(Session *session, const CheckResult *result);
/* Adds the check to all reports but the text. schedules: as in text_check. */
void session_add_reports(Session *session, const CheckResult *result, const GPtrArray *schedules);
/* For a check without a verdict: one line, with the program's name and size. */
void session_fail_check(Session *session, const CheckResult *result);
void session_warn(Session *session, const CheckResult *result);  /* about a checkpoint that could not be written */
void session_progress(Session *session, const char *what);      /* NULL: clears the line */

int command_check(Session *session);
int command_test(Session *session);
int command_replay(Session *session);
int command_list(Session *session);
int command_explain(Session *session);
int command_compile(Session *session);
int command_init(Session *session);
