/* sanitized.h - is this a build with the address sanitizer? All takes five to ten times as long there: of what is large a share is done. */
#pragma once
#include <stdint.h>

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* Of so many random programs. */
static inline unsigned sanitized_share(unsigned number)
{
    return SANITIZED ? (number + 7) / 8 : number;
}
