/* schedule_file.h - saved schedules: written for each finding, and replayed by `heddle replay`. schedule_file.c has the format.
 *
 * Ownership:   results belong to the caller.
 * Errors:      one line: a file that cannot be written, that is no schedule, or that does not fit the program.
 */
#pragma once
#include "../check/spec.h"

bool schedule_write(const CheckResult *result, const Finding *finding, const char *path, char **error);

typedef struct ReplayOptions {
    const char *source;                         /* a user's source by its name of now; NULL: built in */
    bool in_process;                            /* without a child, for a debugger */
    Limits limits;                              /* of memory and time */
} ReplayOptions;

typedef struct ReplayResult {
    CheckResult *check;                         /* program, record of the replayed run; outcome holds the one finding, if it was shown */
    bool shown;
    GPtrArray *lines;                           /* of char*: what happened, one line a move */
    char *error;
} ReplayResult;

/* The same finding, seen again. The schedule file embeds program, size, parameters, knobs, source path and hash. */
ReplayResult *schedule_replay(ProgramModuleOpen open, const char *path, const char *module, const ReplayOptions *options);
void replay_result_free(ReplayResult *result);

/* What a schedule file says of itself, for the command line to compile the right source first. folder: where the check was made, as seen
 * from the folder of the schedule; NULL: not told, or the source's path is absolute. */
typedef struct ScheduleHeader { char *program, *source, *source_hash, *folder, *fault; uint32_t devices; } ScheduleHeader;
ScheduleHeader *schedule_read_header(const char *path, char **error);
bool schedule_is_of(const ScheduleHeader *header, const char *path);      /* that file is the source as it was */
void schedule_header_free(ScheduleHeader *header);
