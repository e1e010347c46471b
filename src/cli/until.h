/* until.h - --until: finds out whether every shard of a consumer has passed a point in time, TIME. */
#ifndef SLP_CLI_UNTIL_H
#define SLP_CLI_UNTIL_H

#include "cli/names.h"
#include "sloop.h"

/* A shard has passed when its first record arrives that is of TIME or later; that record and those after it
 * are not printed. A shard at its tip has passed when TIME is over. */
typedef struct slp_until {
  slp_mem *mem;
  int64_t at_ms; /* TIME */
  slp_names names;
  uint8_t *state;  /* owned, by the shard's number: 0: not read, 1: being read, 2: has passed */
  uint32_t *round; /* owned, by the shard's number: the last round in which its next record was looked at */
  /* open_n: shards being read or passed; passed_n: of these, those that have passed; rounds_n: number of the
   * round */
  uint32_t state_cap, open_n, passed_n, rounds_n;
  sloop_stats_t before;    /* statistics when the quiet began */
  uint64_t quiet_since_us; /* since when nothing has arrived or failed; 0: it is not quiet */
} slp_until;

void slp_until_init(slp_until *u, slp_mem *mem, int64_t at_ms);
void slp_until_free(slp_until *u);
/* Notes an event of a shard. Returns 0 or SLP_ENOMEM. */
int slp_until_shard(slp_until *u, const char *shard, sloop_shard_event_kind_t what);
/* Returns 1 if the record, or one before it in its shard, arrived at TIME or later; 0 if it is to be printed;
 * or SLP_ENOMEM. */
int slp_until_passed(slp_until *u, const char *shard, int64_t arrived_at_ms);
/* Looks at the next record of each shard in a batch: call begin_round, then next for each record in order.
 * next returns 1 if this is the shard's next record and the shard has passed with it, 0 otherwise, or
 * SLP_ENOMEM. */
void slp_until_begin_round(slp_until *u);
int slp_until_next(slp_until *u, const char *shard, int64_t arrived_at_ms);
/* Returns 1 if every shard that may still hand out records has passed. */
int slp_until_all_passed(const slp_until *u, const sloop_stats_t *now);
/* Decides for shards without records, because they can't show that TIME is over. Returns 1 if TIME is over,
 * every shard that has not passed was at its tip when asked after TIME, and nothing has arrived or failed for
 * quiet_ms. */
int slp_until_quiet(slp_until *u, const sloop_stats_t *now, int at_tip, int64_t wall_ms, uint64_t mono_us,
                    uint64_t quiet_ms);

#endif
