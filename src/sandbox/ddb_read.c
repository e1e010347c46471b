/* ddb_read.c - GetItem, and how all reads read their projections. */
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

int slp_read_projection(slp_box_call *c, uint32_t node, slp_words *w, slp_paths **ret) {
  int bad = 0;
  slp_str text = slp_in_text(c, node, "ProjectionExpression", &bad);
  *ret = NULL;
  if (bad) return -1;
  if (!text.p) return slp_legacy_attributes(c, node, ret);
  if (slp_in_get(c, node, "AttributesToGet")) {
    return slp_refuse(
        c,
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}");
  }
  return slp_parse_projection(w, text, ret);
}

int slp_read_op_get(slp_box_call *c) {
  slp_words w;
  slp_paths *paths;
  slp_key key;
  uint32_t node;
  slp_cost *cost = NULL;
  int consistent = slp_in_flag(c, 0, "ConsistentRead");
  if (slp_words_read(&w, c, 0) || slp_read_projection(c, 0, &w, &paths) || slp_words_end(&w)) return -1;
  if (slp_in_map(c, 0, "Key", &node)) return -1;
  slp_av *map = slp_ddb_item_read(c, node);
  slp_table *t = map ? slp_table_of(c) : NULL;
  if (!t || slp_key_read(c, t, map, &key)) return -1;
  if (slp_cost_may_read(c, t, 0) || slp_key_may_read(c, t, &key) || !slp_cost_of(c, &cost, t)) return -1;
  const slp_row *row = slp_row_find(t, &key);
  const slp_item *item = row ? slp_row_at(row, slp_read_moment(c, t, consistent)) : NULL;
  cost->reads[0] = slp_cost_read(item ? item->size : 0, consistent);
  slp_cost_take_reads(c, cost);
  slp_key_take_read(c, t, &key, cost->reads[0]);
  const slp_av *show = item ? item->value : NULL;
  if (show && paths && !(show = slp_project(slp_call_arena(c), paths, show))) return slp_box_no_memory(c);
  slp_out_map(&c->out);
  if (show) {
    slp_out_key(&c->out, "Item");
    slp_out_item(c, show);
  }
  slp_cost_put(c, cost, 0, 0);
  slp_out_end(&c->out);
  return 0;
}
