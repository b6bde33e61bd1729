/* outside.c - this process's watch. */
#include "outside.h"

const OutsideWatch *outside_watch;
volatile bool outside_suspect;
void (*outside_refuse)(const char *function, const char *what);
