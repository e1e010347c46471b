/* start.h - where to begin (-o): words, times and sequence numbers as people write them. */
#ifndef SLP_CLI_START_H
#define SLP_CLI_START_H

#include "base/base.h"
#include "sloop.h"

typedef struct slp_start {
  sloop_start_kind kind;
  int64_t at_ms;   /* SLOOP_AT_TIME */
  char shard[129]; /* SLOOP_AT_SEQ */
  char seq[130];   /* SLOOP_AT_SEQ */
} slp_start;

/* oldest | beginning | latest | end | s@TIME | SHARD:SEQ. A SHARD of digits only is completed to
 * shardId-000000000000's form. SLP_EINVAL and a sentence in `why`. */
int slp_start_parse(slp_str text, int64_t now_ms, slp_start *ret, char why[200]);
/* Unix seconds or milliseconds (from 100000000000 on), ISO 8601, or how long ago: 90s, 10m, 2h30m, 1d, 1w. */
int slp_time_parse(slp_str text, int64_t now_ms, int64_t *ret_ms);

#endif
