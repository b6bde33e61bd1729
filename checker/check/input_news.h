/* input_news.h - which inputs to try if not all are: those that resemble inputs that showed something new. */
#pragma once
#include "input_state.h"

uint64_t input_news_site(const Program *program, uint32_t site);               /* the same for the same operation in each program */
bool input_news_lines(InputSearch *search, const Program *program);            /* has the last run been at a line where none was before? */
bool input_news_seen(const InputSearch *search, const Program *program, uint32_t site);        /* was some run at that operation? */
/* Sets the next input, one that was not tried yet. program: has the last one. false: none was found. */
bool input_news_next(InputSearch *search, const Program *program);
