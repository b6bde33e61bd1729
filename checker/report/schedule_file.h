/* schedule_file.h - schedules that are saved, and replayed from a file. */
#pragma once
#include "../check/spec.h"

/* See schedule_file.c for the format. */
bool schedule_write(const CheckResult *result, const Finding *finding, const char *path, char **error);
typedef struct ReplayResult {
    CheckResult *check;                         /* program, record of the replayed run; outcome holds the one finding, if it was shown */
    bool shown;
    GPtrArray *lines;                           /* of char*: what happened, one line a move */
    char *error;
} ReplayResult;
typedef struct ReplayOptions {
    bool in_process;                            /* without a child, for a debugger */
    double seconds_max;                         /* 0: no limit */
    size_t memory_max;
} ReplayOptions;
ReplayResult *schedule_replay(ProgramModuleOpen open, const char *path, const char *module, const ReplayOptions *options);
void replay_result_free(ReplayResult *result);
/* What a schedule file says of itself, for the command line to compile the right source first. */
typedef struct ScheduleHeader { char *program, *source, *source_hash, *fault; uint32_t devices; } ScheduleHeader;
ScheduleHeader *schedule_read_header(const char *path, char **error);
void schedule_header_free(ScheduleHeader *header);
