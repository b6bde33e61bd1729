/* cause.c - see cause.h. */
#include "cause.h"
#include <stddef.h>

const char *cause_name(CauseKind kind)
{
    static const char *const NAME[] = { NULL, "wait-passes", "wait-late", "unawaited", "unordered", "count", "stuck", "unserved" };
    return NAME[kind];
}
