/* changes.h - the streams of changes of tables: what tables call, and the operations of DynamoDB Streams. */
#ifndef SLP_SANDBOX_CHANGES_H
#define SLP_SANDBOX_CHANGES_H

#include "sandbox/model.h"

typedef struct slp_changes slp_changes;
typedef struct slp_table slp_table;

/* One item changed: no old: INSERT, no new: REMOVE, both: MODIFY. Each is an item as JSON. Called for tables
 * with stream_on, never when nothing changed. by_ttl: it ran out. SLP_ENOMEM: the change must not happen. */
int slp_changes_add(slp_box *box, slp_table *t, int64_t now_ms, slp_str keys_json, slp_str old_json_or_null,
                    slp_str new_json_or_null, int by_ttl);

/* Sets t->changes, t->stream_on, t->view_type. SLP_ENOMEM: as before. */
int slp_changes_enable(slp_box *box, slp_table *t, int64_t now_ms, slp_str view_type);
void slp_changes_disable(slp_box *box, slp_table *t, int64_t now_ms);
/* The table is deleted: its streams stay readable for a day. t is freed after this. */
void slp_changes_table_gone(slp_box *box, slp_table *t, int64_t now_ms);
/* StreamSpecification, LatestStreamArn and LatestStreamLabel, when there are any, into the open map. */
void slp_changes_describe(slp_box_call *c, slp_table *t);

void slp_changes_settle(slp_box *box, int64_t now_ms); /* before each request */
void slp_changes_box_free(slp_box *box);

int slp_changes_op_list(slp_box_call *c);
int slp_changes_op_describe(slp_box_call *c);
int slp_changes_op_iterator(slp_box_call *c);
int slp_changes_op_get(slp_box_call *c);

#endif
