/* say.h - one line at a time, on standard error, never holding the loop for long, or into what a command
 * prints. */
#ifndef SLP_CLI_SAY_H
#define SLP_CLI_SAY_H

#include "base/buf.h"

/* "stream-tail: ..." and a newline. Control characters become '?', so one call is one line. Waits up to a
 * second for a standard error that is stuck, and not again until a line was taken: for what is said before
 * the loop runs or on the way out. A line that finds no room is counted, and the next one that finds some
 * comes behind a line with that number. */
void slp_say(const char *fmt, ...) SLP_PRINTF(1, 2);
/* The same and does not wait at all: for what is said while records flow. */
void slp_say_if_room(const char *fmt, ...) SLP_PRINTF(1, 2);
/* As slp_say(), of text that is for a program, without "stream-tail: " and newline. */
void slp_say_as_it_is(slp_str text);
/* From now on slp_say() waits `ms` at most, all calls together: the program is to end. */
void slp_say_hurry(uint32_t ms);
/* Adds a line to what goes to standard output and has texts in it that others wrote: it is one line whatever
 * they are, and moves no terminal (base/clean.h). 0, or the buffer's error. */
int slp_say_to(slp_buf *b, const char *fmt, ...) SLP_PRINTF(2, 3);
/* Writes what a command prints without a loop to standard output, and frees it. `bad`: the buffer's error.
 * Returns the exit status: a reader that has seen enough and left is no failure; another one is told. */
int slp_print(slp_buf *b, int bad);

#endif
