/* fleet_table.h - one lease table in virtual time, for many workers: each request takes effect when it is
 * sent, is counted by units.h, and answered a while later. A partition key that gets more than the service serves is
 * throttled. */
#ifndef BENCH_FLEET_TABLE_H
#define BENCH_FLEET_TABLE_H

#include "lease/schema.h"
#include "swarm/host.h"

typedef struct fleet_table fleet_table;
typedef struct fleet_table_cost { /* units in halves */
  uint64_t writes, reads, write_calls, read_calls;
  uint64_t writes_throttled, beats_throttled, reads_throttled; /* heartbeats are among the writes */
  uint64_t ticks; /* times that a leader read everything and made an assignment */
  double tick_cpu_s, tick_cpu_s_max;
} fleet_table_cost;

/* It lives as long as the process: a benchmark's world is never taken down. */
fleet_table *fleet_table_new(slp_mem *mem, slp_sim *sim, slp_schema *schema, uint64_t answer_us);
slp_store *fleet_table_store(fleet_table *t, slp_host *h); /* lives as long as the table */
double fleet_table_cpu_s(slp_store *s);                    /* CPU that its worker spent on its answers */
void fleet_table_cpu_clear(slp_store *s);
void fleet_table_grants(fleet_table *t,
                        uint32_t writes_s); /* fewer writes a second, as a table's own units do */
const fleet_table_cost *fleet_table_cost_of(const fleet_table *t);
void fleet_table_cost_clear(fleet_table *t);

#endif
