/* start.h - parses the positions to begin or end at (-o): words, times, sequence numbers, files. */
#ifndef SLP_CLI_START_H
#define SLP_CLI_START_H

#include "cli/when.h"
#include "sloop.h"

typedef struct slp_start {
  sloop_position_kind_t kind;
  int64_t at_ms;    /* SLOOP_AT_TIME; or where to end */
  char shard[129];  /* SLOOP_AT_SEQ */
  char seq[130];    /* SLOOP_AT_SEQ */
  uint64_t sub;     /* SLOOP_AT_SEQ */
  const char *file; /* SLOOP_AT_TOKEN: points into the text */
  uint8_t is_end;   /* e@TIME: `at_ms` is where to end, and nothing else holds */
} slp_start;

/* oldest | beginning | latest | end | s@TIME | e@TIME | @FILE | SHARD:SEQ[.SUB]. A SHARD of digits only is
 * completed to shardId-000000000000's form. `z` lives as long as the result. SLP_EINVAL
 * and a sentence in `why`. */
int slp_start_parse(const char *z, const slp_clock *clock, slp_start *ret, char why[200]);
/* Completes a shard's id of digits only to shardId-000000000000's form; others stay. "": too long for one. */
void slp_start_full_shard(slp_str shard, char out[129]);
/* Parses SEQ[.SUB] alone: SLOOP_AT_SEQ without a shard. SLP_EINVAL when it is none. */
int slp_start_parse_seq(slp_str text, slp_start *ret);

#endif
