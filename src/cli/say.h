/* say.h - lines for people: on standard error, without holding up the loop for long, and in what a command
 * prints. */
#ifndef SLP_CLI_SAY_H
#define SLP_CLI_SAY_H

#include "base/buf.h"

/* Writes "stream-tail: ..." and a newline to standard error. Control characters become '?', so one call is
 * one line. If standard error is stuck, waits up to a second, and then no more until a line was written. Use
 * it before the loop runs and on the way out. A line that finds no room is dropped and counted; the next line
 * that finds room comes after a line with the count. */
void slp_say(const char *fmt, ...) SLP_PRINTF(1, 2);
/* As slp_say(), but never waits. Use it while records flow. */
void slp_say_if_room(const char *fmt, ...) SLP_PRINTF(1, 2);
/* Writes text that is meant for a program, without "stream-tail: " and newline. Waits as slp_say() does. */
void slp_say_as_it_is(slp_str text);
/* The program is ending: from now on all calls of slp_say() together wait at most `ms`. */
void slp_say_hurry(uint32_t ms);
/* Appends a line for standard output that may contain texts from others. slp_clean (base/clean.h) makes it
 * one line that can't control a terminal. Returns 0, or why b failed. */
int slp_say_to(slp_buf *b, const char *fmt, ...) SLP_PRINTF(2, 3);
/* Writes the output of a command without a loop to standard output, and frees b. `bad`: why b failed, or 0.
 * Returns the exit code. A reader that has left is no failure; any other failure is told. */
int slp_print(slp_buf *b, int bad);

#endif
