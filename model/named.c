/* named.c - the hook that changes what is named. */
#include "named.h"

bool (*named_amend)(Core *core, const Named *named);
