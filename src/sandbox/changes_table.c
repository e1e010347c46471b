/* changes_table.c - what tables do with their streams: enable and disable them, and report each change of an
 * item. */
#include "sandbox/ddb.h"

static void set_view(slp_table *t, const char *view) {
  size_t n = strlen(view);
  SLP_CHECK(n < sizeof t->view_type);
  memcpy(t->view_type, view, n + 1);
}

static void let_go(slp_table *t) {
  if (t->changes) t->changes->held = 0;
  t->changes = NULL;
}

int slp_changes_enable(slp_box *box, slp_table *t, int64_t now_ms, slp_str view_type) {
  slp_change_view view;
  slp_changes *s;
  const slp_index *key = &t->index[0];
  if (slp_changes_view_of(view_type, &view)) return SLP_EINVAL;
  int r = slp_changes_new(box, now_ms, slp_str_of(t->name), slp_str_of(key->part[0].name),
                          key->parts_n > 1 ? slp_str_of(key->part[1].name) : (slp_str){NULL, 0}, view, &s);
  if (r) return r;
  if (t->changes) { /* the table had a stream before: the new stream takes over its partitions and quirks */
    s->partitions = t->changes->partitions;
    s->quirks = t->changes->quirks;
  }
  let_go(t);
  t->changes = s;
  s->held = 1;
  t->stream_on = 1;
  set_view(t, slp_changes_view_name(view));
  return 0;
}

void slp_changes_disable(slp_box *box, slp_table *t, int64_t now_ms) {
  if (t->changes) slp_changes_stop(t->changes, now_ms, box->o.change_ms);
  t->stream_on = 0;
  set_view(t, "");
}

void slp_changes_table_gone(slp_box *box, slp_table *t, int64_t now_ms) {
  (void)box;
  if (t->changes) slp_changes_stop(t->changes, now_ms, 0);
  let_go(t);
}

void slp_changes_describe(slp_box_call *c, slp_table *t) {
  char arn[SLP_CHANGES_ARN];
  if (t->stream_on) {
    slp_out_key(&c->out, "StreamSpecification");
    slp_out_map(&c->out);
    slp_out_key(&c->out, "StreamEnabled");
    slp_out_bool(&c->out, 1);
    slp_out_put_z(&c->out, "StreamViewType", t->view_type);
    slp_out_end(&c->out);
  }
  if (!t->changes) return;
  slp_changes_arn(t->changes, c->region, arn);
  slp_out_put_z(&c->out, "LatestStreamArn", arn);
  slp_out_put_z(&c->out, "LatestStreamLabel", t->changes->label);
}

int slp_changes_add(slp_box *box, slp_table *t, int64_t now_ms, slp_str keys, slp_str old_image,
                    slp_str new_image, int by_ttl) {
  slp_changes *s = t->changes;
  if (!s) return 0;
  int r = slp_changes_tick(box, s, now_ms);
  if (r) return r;
  if (s->status != SLP_CHANGES_ENABLED) return 0; /* changes are recorded only while the stream is enabled */
  return slp_change_store(box, s, now_ms, keys, old_image, new_image, by_ttl);
}
