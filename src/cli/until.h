/* until.h - --until: finds out whether every shard of a consumer has passed a point in time, TIME. A shard is
 * at its tip when it is read up to its newest record. */
#ifndef SLP_CLI_UNTIL_H
#define SLP_CLI_UNTIL_H

#include "base/mem.h"
#include "cli/shard_numbers.h"

#include <sloop.h>

/* A shard has passed when its first record that arrived at TIME or later comes. This record and the
 * records after it are not printed. A shard without such a record has passed when it is at its tip and
 * TIME is over. */
typedef struct slp_until {
  slp_mem *mem;
  int64_t at_ms; /* the point in time TIME */
  slp_names names;
  /* owned; state[i] is the state of shard number i (`names`): 0: it is not read, 1: it is read, 2: it has
   * passed */
  uint8_t *state;
  /* owned; round[i] is the number of the last round in which a record of shard number i was seen. A round is
   * one look at a batch (slp_until_begin_round) */
  uint32_t *round;
  /* open_n: how many shards are read or have passed. passed_n: how many shards have passed. rounds_n:
   * number of the present round */
  uint32_t state_cap, open_n, passed_n, rounds_n;
  sloop_stats_t before; /* the statistics at the beginning of the quiet time */
  /* since when no record has arrived and no call has failed; 0: there is no quiet time now */
  uint64_t quiet_since_us;
} slp_until;

void slp_until_init(slp_until *u, slp_mem *mem, int64_t at_ms);
void slp_until_free(slp_until *u);
/* Updates the state of the shard after an event. Returns 0 or SLP_ENOMEM. */
int slp_until_shard(slp_until *u, const char *shard, sloop_shard_event_kind_t what);
/* Returns 1 if this record, or an earlier one of its shard, arrived at TIME or later. Returns 0 if it did
 * not, so that the record is to be printed; or SLP_ENOMEM. */
int slp_until_passed(slp_until *u, const char *shard, int64_t arrived_at_ms);
/* Two functions to look at the next record of each shard in a batch. Call begin_round once, then next for
 * each record in order. next returns 1 if the record is its shard's first one in this round and the shard has
 * passed. Otherwise next returns 0, or SLP_ENOMEM. */
void slp_until_begin_round(slp_until *u);
int slp_until_next(slp_until *u, const char *shard, int64_t arrived_at_ms);
/* Returns 1 if every shard that may still hand out records has passed. */
int slp_until_all_passed(const slp_until *u, const sloop_stats_t *now);
/* Decides about shards of which no record has shown that they have passed TIME. Returns 1 if three
 * conditions hold:
 *   1. TIME is over;
 *   2. every shard that has not passed was found at its tip by a call after TIME;
 *   3. no record has arrived and no call has failed for quiet_ms. */
int slp_until_quiet(slp_until *u, const sloop_stats_t *now, int at_tip, int64_t wall_ms, uint64_t mono_us,
                    uint64_t quiet_ms);

#endif
