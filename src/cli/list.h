/* list.h - -L, --consumers and --deregister: lists a stream's shards, lists its registered consumers, removes
 * a registered consumer. */
#ifndef SLP_CLI_LIST_H
#define SLP_CLI_LIST_H

#include "cli/args.h"

int slp_list_run(slp_mem *mem, const slp_args *args); /* runs to the end; returns the exit code */
/* Appends a shard to b: a JSON object if `json`, else a line of text, which begins with the stream's name if
 * `several` is not 0. Returns 0, or why b failed. */
int slp_list_show(slp_buf *b, const char *stream, int several, const sloop_shard_t *shard, int json);

#endif
