/* list_shards.h - -L, --consumers and --deregister: lists the shards of a stream, lists its registered
 * consumers, deregisters a consumer. */
#ifndef SLP_CLI_LIST_SHARDS_H
#define SLP_CLI_LIST_SHARDS_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"

#include <sloop.h>

/* runs the command to its end and returns the exit code */
int slp_list_run(slp_mem *mem, const slp_args *args);
/* Appends a shard to b. With `json` it is a JSON object, otherwise a line of text, which begins with the
 * stream's name if `several` is not 0. Returns 0, or the error of b. */
int slp_list_show(slp_buf *b, const char *stream, int several, const sloop_shard_t *shard, int json);

#endif
