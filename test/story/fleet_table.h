/* fleet_table.h - the way of one worker's requests to the shared table and back. */
#ifndef SLP_TEST_STORY_FLEET_TABLE_H
#define SLP_TEST_STORY_FLEET_TABLE_H

#include "story/fleet_world.h"

slp_store *fw_store_new(fw_node *n);
void fw_wires_cancel(fw_world *w); /* before the store closes; what is on its way may still arrive */
void fw_wires_free(fw_world *w);
void fw_judge_rows(fw_world *w); /* after every write: what the table says, against the truth */

#endif
