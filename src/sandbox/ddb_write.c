/* ddb_write.c - PutItem, UpdateItem, DeleteItem. Each request has one action; ddb_transact.c uses the same
 * functions for the actions of a transaction. */
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

/* ---- reading an action ----------------------------------------------------------------------- */
static int refuse_mixed_parameters(slp_box_call *c, const char *expression, const char *older) {
  return slp_refuse(
      c,
      "Can not use both expression and non-expression parameters in the same request: Non-expression "
      "parameters: {%s} Expression parameters: {%s}",
      older, expression);
}

static int read_condition(slp_box_call *c, uint32_t node, slp_words *w, slp_x **ret) {
  int bad = 0;
  slp_str text = slp_in_text(c, node, "ConditionExpression", &bad);
  *ret = NULL;
  if (bad) return -1;
  if (!text.p) return slp_legacy_expected(c, node, ret);
  if (slp_in_get(c, node, "Expected")) return refuse_mixed_parameters(c, "ConditionExpression", "Expected");
  return slp_parse_condition(w, "ConditionExpression", text, ret);
}

static int read_update(slp_box_call *c, uint32_t node, slp_words *w, slp_up **ret) {
  int bad = 0;
  slp_str text = slp_in_text(c, node, "UpdateExpression", &bad);
  *ret = NULL;
  if (bad) return -1;
  if (!text.p) return slp_legacy_updates(c, node, ret);
  if (slp_in_get(c, node, "AttributeUpdates"))
    return refuse_mixed_parameters(c, "UpdateExpression", "AttributeUpdates");
  return slp_parse_update(w, text, ret);
}

static int keys_stay(slp_box_call *c, const slp_action *a) {
  for (const slp_up *u = a->update; u; u = u->next) {
    for (uint8_t i = 0; i < a->t->index[0].parts_n; i++) {
      if (!slp_str_is(u->path->name, a->t->index[0].part[i].name)) continue;
      return slp_refuse(
          c,
          "One or more parameter values were invalid: Cannot update attribute %s. This attribute is part "
          "of the key",
          a->t->index[0].part[i].name);
    }
  }
  return 0;
}

static slp_av *read_map(slp_box_call *c, uint32_t node, const char *name) {
  uint32_t map;
  if (slp_in_map(c, node, name, &map)) return NULL;
  if (map) return slp_ddb_item_read(c, map);
  slp_refuse(
      c,
      "1 validation error detected: Value null at '%s' failed to satisfy constraint: Member must not be null",
      strcmp(name, "Item") == 0 ? "item" : "key");
  return NULL;
}

int slp_action_aim(slp_box_call *c, slp_action *a, slp_str table, slp_av *map) {
  a->t = slp_table_named(c, table);
  if (!a->t) return -1;
  if (a->kind != SLP_ACT_PUT) {
    a->key_map = map;
    return slp_key_read(c, a->t, map, &a->key);
  }
  a->item = map;
  if (slp_key_of_item(c, a->t, map, &a->key)) return -1;
  return slp_item_size(map) > SLP_DDB_ITEM_BYTES
             ? slp_refuse(c, "Item size has exceeded the maximum allowed size")
             : 0;
}

static int read_target(slp_box_call *c, uint32_t node, slp_action *a) {
  int bad = 0;
  slp_str name = slp_in_text(c, node, "TableName", &bad);
  slp_av *map = bad ? NULL : read_map(c, node, a->kind == SLP_ACT_PUT ? "Item" : "Key");
  return map ? slp_action_aim(c, a, name, map) : -1;
}

int slp_action_read(slp_box_call *c, uint32_t node, slp_act_kind kind, slp_action *a) {
  slp_words w;
  int bad = 0;
  *a = (slp_action){.kind = kind};
  if (slp_words_read(&w, c, node)) return -1;
  if (kind == SLP_ACT_UPDATE && read_update(c, node, &w, &a->update)) return -1;
  if (read_condition(c, node, &w, &a->condition) || slp_words_end(&w)) return -1;
  slp_str show = slp_in_text(c, node, "ReturnValuesOnConditionCheckFailure", &bad);
  if (bad) return -1;
  a->show_on_fail = slp_str_is(show, "ALL_OLD");
  if (show.p && !a->show_on_fail && !slp_str_is(show, "NONE")) {
    return slp_refuse(
        c,
        "1 validation error detected: Value '%.*s' at 'returnValuesOnConditionCheckFailure' failed to "
        "satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]",
        (int)slp_min_u64(show.n, 60), show.p);
  }
  if (kind == SLP_ACT_CHECK && !a->condition) {
    return slp_refuse(c, "The expression can not be empty; a ConditionCheck needs a ConditionExpression");
  }
  if (read_target(c, node, a)) return -1;
  return keys_stay(c, a);
}

/* ---- carrying out an action ------------------------------------------------------------------ */
static uint32_t depth_of(const slp_av *v) {
  uint32_t deepest = 0;
  if (v->kind != SLP_AV_M && v->kind != SLP_AV_L) return 1;
  for (const slp_av *m = v->first; m; m = m->next) {
    uint32_t d = depth_of(m);
    if (d > deepest) deepest = d;
  }
  return deepest + 1;
}

static int check_updated(slp_box_call *c, const slp_action *a) {
  if (slp_item_size(a->now) > SLP_DDB_ITEM_BYTES) {
    return slp_refuse(c, "Item size to update has exceeded the maximum allowed size");
  }
  if (depth_of(a->now) - 1 > SLP_AV_DEPTH) {
    return slp_refuse(
        c,
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
        "beyond supported limit");
  }
  return slp_check_index_keys(c, a->t, a->now);
}

int slp_action_judge(slp_box_call *c, slp_action *a) {
  const slp_row *row = slp_row_find(a->t, &a->key);
  const slp_item *was = row ? slp_row_at(row, INT64_MAX) : NULL;
  a->was = was ? was->value : NULL;
  a->now = a->was;
  if (a->condition && !slp_x_holds(a->condition, a->was)) return 1;
  if (a->kind == SLP_ACT_PUT) a->now = a->item;
  if (a->kind == SLP_ACT_DELETE) a->now = NULL;
  if (a->kind != SLP_ACT_UPDATE) return 0;
  a->now = slp_update_apply(c, a->update, a->was, a->key_map);
  return a->now && !check_updated(c, a) ? 0 : -1;
}

int slp_action_apply(slp_box_call *c, const slp_action *a) {
  if (a->kind == SLP_ACT_CHECK) return 0;
  return slp_row_write(c->box, a->t, c->now_ms, &a->key, a->now, 0) ? slp_box_no_memory(c) : 0;
}

/* ---- one action as a request -------------------------------------------------------------------- */
/* Finds the item to return for ReturnValues (ALL_OLD, UPDATED_NEW and so on). *ret NULL: no item. Returns -1
 * if there is no memory. */
static int find_item_to_return(slp_box_call *c, const slp_action *a, slp_str how, const slp_av **ret) {
  slp_paths *paths = NULL, **to = &paths;
  *ret = NULL;
  if (!how.p || slp_str_is(how, "NONE")) return 0;
  int of_now = slp_str_is(how, "ALL_NEW") || slp_str_is(how, "UPDATED_NEW");
  const slp_av *of = of_now ? a->now : a->was;
  if (!of) return 0;
  *ret = of;
  if (how.p[0] == 'A') return 0;
  for (const slp_up *u = a->update; u; u = u->next) {
    *to = SLP_ARENA_NEW(slp_call_arena(c), slp_paths);
    if (!*to) return slp_box_no_memory(c);
    (*to)->path = u->path;
    to = &(*to)->next;
  }
  const slp_av *part = slp_project(slp_call_arena(c), paths, of);
  if (!part) return slp_box_no_memory(c);
  *ret = part->count ? part : NULL;
  return 0;
}

static int has_local_index(const slp_table *t) {
  for (uint32_t i = 1; i < t->indexes_n; i++) {
    if (t->index[i].local) return 1;
  }
  return 0;
}

static void put_collection(slp_box_call *c, const slp_action *a) {
  slp_av key = {.kind = SLP_AV_M, .count = 1};
  slp_av hash = *a->key.hash;
  if (!slp_str_is(slp_box_text(c, "ReturnItemCollectionMetrics"), "SIZE") || !has_local_index(a->t)) return;
  hash.name = slp_str_of(a->t->index[0].part[0].name);
  hash.next = NULL;
  key.first = &hash;
  slp_out_key(&c->out, "ItemCollectionMetrics");
  slp_out_map(&c->out);
  slp_out_key(&c->out, "ItemCollectionKey");
  slp_out_item(c, &key);
  slp_out_key(&c->out, "SizeEstimateRangeGB");
  slp_out_raw(&c->out, SLP_STR("[0.0,1.0]"));
  slp_out_end(&c->out);
}

static int failed_condition(slp_box_call *c, const slp_action *a) {
  slp_box_fail(c, "ConditionalCheckFailedException", "The conditional request failed");
  if (a->show_on_fail && a->was) slp_error_item(c, a->was);
  return -1;
}

static int check_return_values(slp_box_call *c, slp_act_kind kind) {
  slp_str how = slp_box_text(c, "ReturnValues");
  if (kind == SLP_ACT_UPDATE || !how.p || slp_str_is(how, "NONE") || slp_str_is(how, "ALL_OLD")) return 0;
  return slp_refuse(c, "Return values set to invalid value");
}

static int run_write_action(slp_box_call *c, slp_act_kind kind) {
  slp_action a;
  slp_cost *cost = NULL;
  const slp_av *show;
  if (check_return_values(c, kind) || slp_action_read(c, 0, kind, &a)) return -1;
  int judged = slp_action_judge(c, &a);
  if (judged < 0 || !slp_cost_of(c, &cost, a.t)) return -1;
  if (judged == 1)
    cost->writes[0] = slp_cost_write(a.was ? slp_item_size(a.was) : 0);
  else if (slp_cost_change(c, cost, a.was, a.now, 1))
    return -1;
  if (slp_cost_take_writes(c, cost) || slp_key_take_write(c, a.t, &a.key, cost->writes[0])) return -1;
  if (judged == 1) return failed_condition(c, &a);
  if (find_item_to_return(c, &a, slp_box_text(c, "ReturnValues"), &show)) return -1;
  /* The answer is written before the change, because the change frees the old item. */
  slp_out_map(&c->out);
  if (show) {
    slp_out_key(&c->out, "Attributes");
    slp_out_item(c, show);
  }
  slp_cost_put(c, cost, 0, 0);
  put_collection(c, &a);
  slp_out_end(&c->out);
  return slp_out_failed(&c->out) ? slp_box_no_memory(c) : slp_action_apply(c, &a);
}

int slp_write_op_put(slp_box_call *c) { return run_write_action(c, SLP_ACT_PUT); }
int slp_write_op_update(slp_box_call *c) { return run_write_action(c, SLP_ACT_UPDATE); }
int slp_write_op_delete(slp_box_call *c) { return run_write_action(c, SLP_ACT_DELETE); }
