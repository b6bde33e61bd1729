/* levels.h - runs a search, level by level. */
#pragma once
#include "walk.h"

void levels_run(Walk *walk);                    /* from the start; again after `restart` */
void levels_clear(Walk *walk);                  /* what it left */
