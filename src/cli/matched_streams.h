/* matched_streams.h - finds the streams whose names match the patterns of the command line, once, before a
 * mode runs. What follows reads them as if the user had named them. stream_scan.h finds those that come
 * later. */
#ifndef SLP_CLI_MATCHED_STREAMS_H
#define SLP_CLI_MATCHED_STREAMS_H

#include "api/find_streams.h"
#include "base/mem.h"
#include "cli/args.h"

/* Returns 1 if the mode needs the names of the streams. 0: there is no pattern, or --iam prints a policy with
 * the pattern itself. */
int slp_matched_wanted(const slp_args *a);
/* Lists the streams, and replaces the patterns in a->streams by the names that match, sorted, after those
 * that the user named. Returns SLP_EXIT_FINE with *ret_go_on 1; or an exit status with *ret_go_on 0, if the
 * command was interrupted or failed. It fails if a pattern matches nothing, or if all of them match more
 * than SLP_ARGS_STREAMS_MAX streams. The reason has been reported. */
int slp_matched_resolve(slp_mem *mem, slp_args *a, int *ret_go_on);
/* Puts a name that was found to a->streams[at], in place of another one that was found there, or at the end.
 * Returns 0 or SLP_ENOMEM. */
int slp_matched_put(slp_args *a, size_t at, const char *name);
/* Sets what a listing need not ask for: a service that no pattern is about. */
void slp_matched_skips(const slp_args *a, slp_find_calls *calls);

#endif
