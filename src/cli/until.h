/* until.h - --until: has every shard of a consumer passed a point in time? */
#ifndef SLP_CLI_UNTIL_H
#define SLP_CLI_UNTIL_H

#include "cli/names.h"
#include "sloop.h"

/* A shard has passed TIME with its first record that arrived at TIME or later, which is not printed, nor are
 * those after it. A shard at its tip has passed when TIME is over. */
typedef struct slp_until {
  slp_mem *mem;
  int64_t at_ms;
  slp_names names;
  uint8_t *state;  /* owned, by number: 0 not read, 1 being read, 2 has passed */
  uint32_t *round; /* owned, by number: in which its next record was looked at last */
  uint32_t state_cap, open_n, passed_n, rounds_n;
  sloop_stats_t before; /* when the quiet began */
  uint64_t quiet_since_us;
} slp_until;

void slp_until_init(slp_until *u, slp_mem *mem, int64_t at_ms);
void slp_until_free(slp_until *u);
int slp_until_shard(slp_until *u, const char *shard, sloop_shard_event_kind_t what); /* SLP_ENOMEM */
/* 1: the record, or one before it in its shard, arrived at TIME or later; 0: print it. SLP_ENOMEM. */
int slp_until_passed(slp_until *u, const char *shard, int64_t arrived_at_ms);
/* Looks through records for the next one of each shard: begin_round, then next for each record. Returns 1 if
 * the shard has passed with its next record; 0: it has not, or its next record was one before. SLP_ENOMEM. */
void slp_until_begin_round(slp_until *u);
int slp_until_next(slp_until *u, const char *shard, int64_t arrived_at_ms);
/* Has every shard passed that may still hand something over? */
int slp_until_all_passed(const slp_until *u, const sloop_stats_t *now);
/* For shards without records, which can't show that TIME is over. 1: TIME is over, every shard that has not
 * passed was at its tip when asked after it, and for quiet_ms nothing has arrived or failed. */
int slp_until_quiet(slp_until *u, const sloop_stats_t *now, int at_tip, int64_t wall_ms, uint64_t mono_us,
                    uint64_t quiet_ms);

#endif
