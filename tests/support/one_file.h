/* one_file.h - a folder of a suite's own, with one file in it. */
#pragma once

char *one_file_make(const char *name, char **file);     /* the folder; *file: the path of its file, which is not there yet. NULL: none */
int one_file_remove(char *folder, char *file);  /* both, and frees the paths; not 0: something else was left there */
