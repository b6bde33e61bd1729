/* replay_source.h - where the source of a schedule is: here, where the check was made as seen from the schedule, or where --source says.
 *
 * Steps are named by the source's path as the check was given it. So a replay goes to the folder in which that path holds.
 */
#pragma once
#include "../report/schedule_file.h"
#include "session.h"

/* Goes to that folder; header->source is then the file to compile. NULL, or one line that says which path is wanted (g_malloc). */
char *replay_source_find(const Session *session, const char *schedule, ScheduleHeader *header);
