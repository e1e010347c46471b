/* list_streams.h - lists the streams of the account (-L without STREAM). Also suggests similar names for a
 * stream that does not exist. */
#ifndef SLP_CLI_LIST_STREAMS_H
#define SLP_CLI_LIST_STREAMS_H

#include "base/mem.h"
#include "cli/args.h"
#include "source/stream_name.h"

#include <sloop.h>

/* Sets *ret to the options of a consumer whose credentials, region and endpoints are used to list streams. It
 * is never started, so its stream need not exist. Unless the user gave a region, the region is that of the
 * first STREAM that is an ARN. *ret points into `room`. */
void slp_listing_opts(const slp_args *a, char room[SLP_STREAM_ARN_MAX + 1], sloop_opts_t *ret);
/* Runs -L without STREAM to its end, and returns the exit code. */
int slp_list_streams_run(slp_mem *mem, const slp_args *args);
/* Prints the names of streams that are most like `missing`, a stream that does not exist. Asks the services
 * for at most two seconds. Prints nothing if they do not answer, or if no name is like `missing`. */
void slp_streams_suggest(slp_mem *mem, const slp_args *args, const char *missing);

#endif
