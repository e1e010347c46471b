/* registered_text.h - texts of --consumers and --deregister about registered consumers: consumers that the
 * service knows for enhanced fan-out of a stream. list_shards.c runs the two commands. Functions that write
 * return 0, or the buffer's error. */
#ifndef SLP_CLI_REGISTERED_TEXT_H
#define SLP_CLI_REGISTERED_TEXT_H

#include "base/buf.h"
#include "cli/args.h"

#include <sloop_admin.h>

/* Writes a consumer as a line of text, or as JSON. several: 1 if the command has several streams, so that the
 * line begins with the stream's name. */
int slp_consumers_show(slp_buf *b, const char *stream, int several, const sloop_registered_t *c, int json);
/* Writes how workers with the options `a` get records, and why, such as "push as consumer NAME, which is
 * ACTIVE". `all` has the n consumers of the stream. `error` is the reason why they are not known, or NULL. */
int slp_consumers_explain(slp_buf *b, const slp_args *a, const sloop_registered_t *const *all, size_t n,
                          const char *error);
/* Writes that a consumer was deregistered, and the state it was in. */
int slp_consumers_show_removed(slp_buf *b, const sloop_registered_t *c);
/* Returns 1 if --deregister may delete the consumer. Deleting it interrupts programs that read through it, so
 * the user at the terminal must confirm. Without a terminal, --force is needed. */
int slp_consumers_removal_is_meant(const slp_args *args);

#endif
