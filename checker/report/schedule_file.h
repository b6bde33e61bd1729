/* schedule_file.h - saved schedules: written for each finding, and replayed by `heddle replay`. schedule_file.c has the format.
 *
 * Ownership:   results belong to the caller.
 * Errors:      one line: a file that cannot be written, that is no schedule, or that does not fit the program.
 */
#pragma once
#include "../check/spec.h"

bool schedule_write(const CheckResult *result, const Finding *finding, const char *path, char **error);

typedef struct ReplayOptions {
    const char *source;                         /* the user's source, as it is named now; NULL: built in */
    bool in_process;                            /* without a child, for a debugger */
    Limits limits;                              /* of memory and time */
} ReplayOptions;

typedef struct ReplayResult {
    CheckResult *check;                         /* its outcome holds the finding if it was shown */
    bool shown;
    GPtrArray *lines;                           /* of char*: what happened, a line for each move */
    char *error;
} ReplayResult;

/* Replays the finding of a schedule file, which has program, size, parameters, knobs, source path and hash. */
ReplayResult *schedule_replay(ProgramModuleOpen open, const char *path, const char *module, const ReplayOptions *options);
void replay_result_free(ReplayResult *result);

/* The head of a schedule file, from which the command line finds the source to compile. folder: where the check ran, relative to the folder
 * of the schedule; NULL: not given, or the source's path is absolute. */
typedef struct ScheduleHeader { char *program, *source, *source_hash, *folder, *fault; uint32_t devices; } ScheduleHeader;
ScheduleHeader *schedule_read_header(const char *path, char **error);
bool schedule_is_of(const ScheduleHeader *header, const char *path);      /* the file is the unchanged source */
void schedule_header_free(ScheduleHeader *header);
