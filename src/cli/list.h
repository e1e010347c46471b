/* list.h - -L, --consumers, --deregister: what belongs to a stream. */
#ifndef SLP_CLI_LIST_H
#define SLP_CLI_LIST_H

#include "cli/args.h"

int slp_list_run(slp_mem *mem, const slp_args *args); /* the exit code */
/* Writes a shard as a line of text, with its stream when there are several, or as JSON. */
int slp_list_show(slp_buf *b, const char *stream, int several, const sloop_shard_t *shard, int json);

#endif
