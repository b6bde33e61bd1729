/* replay_source.h - finds the source of a schedule: here, where the check ran relative to the schedule, or where --source says.
 *
 * A schedule names steps by the path of the source as the check was given it, so a replay changes to the folder where that path is valid.
 */
#pragma once
#include "../report/schedule_file.h"
#include "session.h"

/* Changes to that folder; header->source is then the file to compile. Returns NULL, or one line with the path that is missing
 * (g_malloc). */
char *replay_source_find(const Session *session, const char *schedule, ScheduleHeader *header);
