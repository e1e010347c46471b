/* fleet_table.h - the way of one worker's requests to the shared table and back. */
#ifndef SLP_TEST_SIM_FLEET_TABLE_H
#define SLP_TEST_SIM_FLEET_TABLE_H

#include "sim/fleet_world.h"

slp_store *fw_store_new(fw_node *n);
void fw_wires_free(fw_world *w);
void fw_judge_rows(fw_world *w); /* after every write: what the table says, against the truth */
/* The epoch in which n reads the shard whose lease's row that is; 0: it does not, or it is the row of
 * something else. */
uint64_t fw_epoch_of(fw_node *n, slp_str row, int *ret_shard);
/* By its row, that instance has the shard in that epoch; or an operator's hand was in it. */
int fw_is_processor(fw_world *w, int shard, const char *instance, uint64_t epoch);

#endif
