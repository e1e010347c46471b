/* say.h - one line on standard error at a time, never holding the loop for long. */
#ifndef SLP_CLI_SAY_H
#define SLP_CLI_SAY_H

#include "base/base.h"

/* "stream-tail: ..." and a newline. Control characters become '?', so one call is one line. Waits up
 * to a second for a standard error that is stuck. */
void slp_say(const char *fmt, ...) SLP_PRINTF(1, 2);
/* The same for lines that may be dropped (progress): does not wait at all. */
void slp_say_if_room(const char *fmt, ...) SLP_PRINTF(1, 2);

#endif
