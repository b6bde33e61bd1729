/* one_file.h - a folder of a suite's own, with one file in it, which is not there at first. */
#pragma once

extern char *one_file_folder, *one_file;        /* paths */
int one_file_set_up(void **state);
int one_file_tear_down(void **state);           /* not 0: something else was left there */
