/* matched_streams.h - finds, once before a mode runs, the streams whose names match the patterns of the
 * command line. The mode then reads these streams as if the user had named them. stream_scan.h finds streams
 * that are created later. */
#ifndef SLP_CLI_MATCHED_STREAMS_H
#define SLP_CLI_MATCHED_STREAMS_H

#include "api/find_streams.h"
#include "base/mem.h"
#include "cli/args.h"

/* Returns 1 if the mode needs the names of the streams. Returns 0 if the command line has no pattern, or if
 * --iam prints a policy that contains the pattern itself. */
int slp_matched_wanted(const slp_args *a);
/* Lists the streams, and replaces the patterns in a->streams by the names that match. The names are sorted,
 * and come after those that the user named. Returns SLP_EXIT_FINE with *ret_go_on 1. Or returns an exit
 * status with *ret_go_on 0 if the command was interrupted or failed; then the reason has been reported. It
 * fails if a pattern matches nothing, or if more than SLP_ARGS_STREAMS_MAX streams match. */
int slp_matched_resolve(slp_mem *mem, slp_args *a, int *ret_go_on);
/* Stores a copy of `name`, a stream that a pattern found, as a->streams[at]. `at` is the place of an earlier
 * stream that a pattern found, which is replaced, or a->streams_n to append. Returns 0 or SLP_ENOMEM. */
int slp_matched_put(slp_args *a, size_t at, const char *name);
/* Sets calls->skips[i] to 1 for each service that no pattern is about, so that a listing does not call it. */
void slp_matched_skips(const slp_args *a, slp_find_calls *calls);

#endif
