/* consumers.h - words of --consumers and --deregister: the consumers registered with a stream (enhanced
 * fan-out). The commands themselves are in list.c. */
#ifndef SLP_CLI_CONSUMERS_H
#define SLP_CLI_CONSUMERS_H

#include "cli/args.h"

/* Writes one as a line of text, with its stream when there are several, or as JSON. */
int slp_consumers_show(slp_buf *b, const char *stream, int several, const sloop_registered_t *c, int json);
/* How workers with these options get records, and why, by the consumers that the stream has: "push as
 * consumer NAME, which is ACTIVE", ... error: why they are not known, or NULL. */
int slp_consumers_explain(slp_buf *b, const slp_args *a, const sloop_registered_t *const *all, size_t n,
                          const char *error);
int slp_consumers_show_removed(slp_buf *b, const sloop_registered_t *c);
/* Whoever reads by it is interrupted, so it is asked about on a terminal; elsewhere --force has to say it.
 * 1: go on. */
int slp_consumers_removal_is_meant(const slp_args *args);

#endif
