/* changes.c - streams of changes. */
#include "sandbox/changes.h"

#include "sandbox/ddb.h"

int slp_changes_add(slp_box *box, slp_table *t, int64_t now_ms, slp_str keys_json, slp_str old_json_or_null,
                    slp_str new_json_or_null, int by_ttl) {
  (void)box, (void)t, (void)now_ms, (void)keys_json, (void)old_json_or_null, (void)new_json_or_null,
      (void)by_ttl;
  return 0;
}

int slp_changes_enable(slp_box *box, slp_table *t, int64_t now_ms, slp_str view_type) {
  (void)box, (void)now_ms;
  size_t n = slp_min_u64(view_type.n, sizeof t->view_type - 1);
  memcpy(t->view_type, view_type.p, n);
  t->view_type[n] = 0;
  t->stream_on = 1;
  return 0;
}

void slp_changes_disable(slp_box *box, slp_table *t, int64_t now_ms) {
  (void)box, (void)now_ms;
  t->stream_on = 0;
  t->view_type[0] = 0;
}

void slp_changes_table_gone(slp_box *box, slp_table *t, int64_t now_ms) { (void)box, (void)t, (void)now_ms; }
void slp_changes_describe(slp_box_call *c, slp_table *t) { (void)c, (void)t; }
void slp_changes_settle(slp_box *box, int64_t now_ms) { (void)box, (void)now_ms; }
void slp_changes_box_free(slp_box *box) { (void)box; }

static int none(slp_box_call *c) {
  return slp_box_fail(c, "UnknownOperationException", "%s", "The sandbox keeps no streams of changes.");
}
int slp_changes_op_list(slp_box_call *c) { return none(c); }
int slp_changes_op_describe(slp_box_call *c) { return none(c); }
int slp_changes_op_iterator(slp_box_call *c) { return none(c); }
int slp_changes_op_get(slp_box_call *c) { return none(c); }
