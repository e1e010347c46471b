/* people_lines.h - writes lines for people. Lines on standard error never block the event loop for long, and
 * may be dropped. Lines on standard output are the command's result: they are never dropped, and may wait for
 * a slow reader. */
#ifndef SLP_CLI_PEOPLE_LINES_H
#define SLP_CLI_PEOPLE_LINES_H

#include "base/buf.h"

/* Writes "stream-tail: ", the line and a newline to standard error. Control characters become '?', so one
 * call writes one line. If standard error takes nothing, waits for up to a second. After that no call waits,
 * until a line could be written again. A line for which there is no room is dropped and counted; the count is
 * printed before the next line that can be written. For use before the event loop runs, and when the program
 * ends. */
void slp_say(const char *fmt, ...) SLP_PRINTF(1, 2);
/* Writes a line as slp_say() does, but never waits. For use while records flow. */
void slp_say_if_room(const char *fmt, ...) SLP_PRINTF(1, 2);
/* Writes text that is meant for a program, without "stream-tail: " and without a newline. Waits as
 * slp_say() does. */
void slp_say_as_it_is(slp_str text);
/* Called when the program ends. From then on, all calls of slp_say() together wait at most `ms`. */
void slp_say_hurry(uint32_t ms);
/* Appends a line to b, for standard output. The line may contain texts from outside: slp_clean
 * (base/clean.h) makes it one line that can't control a terminal. Returns 0, or the error of b. */
int slp_say_to(slp_buf *b, const char *fmt, ...) SLP_PRINTF(2, 3);
/* Writes b to standard output and frees b. For a command that runs no event loop. bad: the error of b, or 0.
 * Returns the exit code. If the reader of standard output has closed it, that is no failure. Any other
 * failure is reported on standard error. */
int slp_print(slp_buf *b, int bad);

#endif
