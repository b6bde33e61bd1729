/* exit_code.h - what the program ends with. Of several checks the one of the highest rank decides. */
#pragma once

/* All codes: name, code, rank, what it means. */
#define EXIT_CODES(CODE) \
    CODE(VERIFIED, 0, 0, "verified: every schedule and every order of copies was covered") \
    CODE(FAULTY, 1, 2, "faulty: at least one fault, each with a schedule that was replayed and showed it") \
    CODE(ERROR, 2, 3, "bad arguments, an unreadable or malformed file, a compiler error") \
    CODE(BOUNDED, 3, 1, "bounded: a limit was reached first, and no fault was seen; not a proof") \
    CODE(INTERRUPTED, 130, EXIT_RANKS, "interrupted, after the report so far")

enum { EXIT_RANKS = 4 };                        /* of checks; INTERRUPTED is of the whole run */

#define EXIT_CODE(name, code, rank, meaning) EXIT_##name = code,
typedef enum ExitCode { EXIT_CODES(EXIT_CODE) } ExitCode;
#undef EXIT_CODE
