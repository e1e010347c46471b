/* start_option.h - parses the position of -o at which reading begins or ends: words, times, sequence numbers,
 * files. */
#ifndef SLP_CLI_START_OPTION_H
#define SLP_CLI_START_OPTION_H

#include "cli/point_in_time.h"
#include "sloop.h"

#define SLP_START_LAST_MAX 1000000u /* the most records of -n and -o -N */

typedef struct slp_start {
  sloop_position_kind_t kind;
  int64_t at_ms;   /* time to begin at, for the kind SLOOP_AT_TIME; if is_end is 1, the time to end at */
  char shard[129]; /* id of the shard, for the kind SLOOP_AT_SEQ */
  char seq[130];   /* sequence number, for the kind SLOOP_AT_SEQ */
  uint64_t sub;    /* number of a record inside an aggregate, for the kind SLOOP_AT_SEQ */
  /* path of a file of tokens, for the kind SLOOP_AT_TOKEN; it points into the text that was parsed */
  const char *file;
  /* N, if the text was -N (the last N records); then nothing else is set; 0: the text was not -N */
  uint64_t last;
  uint8_t is_end; /* 1: the text was e@TIME; then only at_ms is set */
} slp_start;

/* Parses oldest | beginning | latest | end | -N | s@TIME | e@TIME | @FILE | SHARD:SEQ[.SUB]. A SHARD that has
 * only digits is completed to the form shardId-000000000000. `z` must live as long as the result. Returns
 * 0, or SLP_EINVAL with a message in `why`. */
int slp_start_parse(const char *z, const slp_clock *clock, slp_start *ret, char why[200]);
/* Completes a shard's id that has only digits to the form shardId-000000000000. Copies any other id.
 * Writes "" if the text is too long for an id. */
void slp_start_full_shard(slp_str shard, char out[129]);
/* Parses SEQ[.SUB] into a start of the kind SLOOP_AT_SEQ that has no shard. Returns 0, or SLP_EINVAL if
 * the text has another form. */
int slp_start_parse_seq(slp_str text, slp_start *ret);

#endif
