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
/* Appends a shard as a line of JSON. Returns 0, or the error of b. */
int slp_list_json(slp_buf *b, const char *stream, const sloop_shard_t *shard);
/* Appends a table of the shards. Its lines have at most `width` bytes if that is possible; width 0: no limit.
 * Returns 0, or the error of b. */
int slp_list_table(slp_buf *b, const sloop_shard_t *const *shards, size_t n, size_t width);

#endif
