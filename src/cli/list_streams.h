/* list_streams.h - lists the streams of the account (-L without STREAM), and names streams that are like one
 * that does not exist. */
#ifndef SLP_CLI_LIST_STREAMS_H
#define SLP_CLI_LIST_STREAMS_H

#include "base/mem.h"
#include "cli/args.h"

/* Runs -L without STREAM to its end, and returns the exit code. */
int slp_list_streams_run(slp_mem *mem, const slp_args *args);
/* Tells the user the streams whose names are most like `missing`, a stream that the service does not have.
 * Asks the services for at most two seconds; tells nothing if they do not answer, or if no name is like it.
 * */
void slp_streams_suggest(slp_mem *mem, const slp_args *args, const char *missing);

#endif
