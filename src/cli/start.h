/* start.h - parses the position to begin or end at (-o): words, times, sequence numbers, files. */
#ifndef SLP_CLI_START_H
#define SLP_CLI_START_H

#include "cli/when.h"
#include "sloop.h"

typedef struct slp_start {
  sloop_position_kind_t kind;
  int64_t at_ms;    /* SLOOP_AT_TIME; with is_end, the time to end at */
  char shard[129];  /* SLOOP_AT_SEQ */
  char seq[130];    /* SLOOP_AT_SEQ */
  uint64_t sub;     /* SLOOP_AT_SEQ */
  const char *file; /* SLOOP_AT_TOKEN: points into the text that was parsed */
  uint8_t is_end;   /* 1: e@TIME: only at_ms is set, and is the time to end at */
} slp_start;

/* Parses oldest | beginning | latest | end | s@TIME | e@TIME | @FILE | SHARD:SEQ[.SUB]. A SHARD of digits
 * only gets the form of shardId-000000000000. `z` must live as long as the result. Returns 0, or SLP_EINVAL
 * and `why`. */
int slp_start_parse(const char *z, const slp_clock *clock, slp_start *ret, char why[200]);
/* Gives a shard's id of digits only the form of shardId-000000000000. Copies any other id. Writes "" if it is
 * too long for an id. */
void slp_start_full_shard(slp_str shard, char out[129]);
/* Parses SEQ[.SUB] alone into SLOOP_AT_SEQ without a shard. Returns 0, or SLP_EINVAL if it has another
 * form. */
int slp_start_parse_seq(slp_str text, slp_start *ret);

#endif
