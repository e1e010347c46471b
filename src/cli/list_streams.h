/* list_streams.h - lists the streams of the account (-L without STREAM), and names streams that are like one
 * that does not exist. */
#ifndef SLP_CLI_LIST_STREAMS_H
#define SLP_CLI_LIST_STREAMS_H

#include "base/mem.h"
#include "cli/args.h"
#include "source/stream_name.h"

#include <sloop.h>

/* Sets *ret to the options of a consumer that gives keys, region and endpoints for a listing of streams. It
 * is never started, so its stream, which need not exist, is never asked for. The region is that of the first
 * STREAM that is an ARN, unless the user gave another one. *ret points into `room`. */
void slp_listing_opts(const slp_args *a, char room[SLP_STREAM_ARN_MAX + 1], sloop_opts_t *ret);
/* Runs -L without STREAM to its end, and returns the exit code. */
int slp_list_streams_run(slp_mem *mem, const slp_args *args);
/* Tells the user the streams whose names are most like `missing`, a stream that the service does not have.
 * Asks the services for at most two seconds; tells nothing if they do not answer, or if no name is like it.
 * */
void slp_streams_suggest(slp_mem *mem, const slp_args *args, const char *missing);

#endif
