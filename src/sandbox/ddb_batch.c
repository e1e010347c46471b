/* ddb_batch.c - BatchGetItem and BatchWriteItem: many reads or writes that do not depend on each other. */
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#define GETS_MAX 100
#define WRITES_MAX 25
#define GET_BYTES (16u << 20)

static int is_call_throttled(const slp_box_call *c) {
  return c->error && strcmp(c->error, "ProvisionedThroughputExceededException") == 0;
}

/* Clears the call's error: the call succeeds, because another part of the batch has succeeded. */
static void clear_call_failure(slp_box_call *c) {
  c->error = NULL;
  c->error_more = (slp_str){NULL, 0};
}

/* ---- reads ----------------------------------------------------------------------------------- */
typedef struct get {
  slp_key key;
  slp_av *map;
  uint8_t left; /* 1: not read; the answer returns the key in UnprocessedKeys */
  const slp_av *show;
} get;

typedef struct part { /* the keys of one table that are to be read */
  slp_table *t;
  uint32_t node;
  slp_str name;
  slp_paths *paths;
  int consistent;
  get *gets; /* the reads of this table; memory of the arena */
  uint32_t n, left;
  struct part *next;
} part;

static int read_gets(slp_box_call *c, part *p, uint32_t *total) {
  uint32_t list;
  if (slp_in_list(c, p->node, "Keys", &list)) return -1;
  if (!list || c->in->v[list].count == 0) {
    return slp_refuse(
        c,
        "1 validation error detected: Value at 'requestItems.%.*s.member.keys' failed to satisfy "
        "constraint: Member must have length greater than or equal to 1",
        (int)slp_min_u64(p->name.n, 255), p->name.p);
  }
  *total += c->in->v[list].count;
  if (*total > GETS_MAX) return slp_refuse(c, "Too many items requested for the BatchGetItem call");
  p->gets = slp_arena_get(slp_call_arena(c), c->in->v[list].count * sizeof *p->gets);
  if (!p->gets) return slp_box_no_memory(c);
  for (uint32_t i = c->in->v[list].child; i; i = c->in->v[i].next) {
    get *g = &p->gets[p->n++];
    g->map = slp_ddb_item_read(c, i);
    if (!g->map || slp_key_read(c, p->t, g->map, &g->key)) return -1;
    for (get *before = p->gets; before < g; before++) {
      if (slp_row_key_cmp(&before->key, &g->key) == 0) {
        return slp_refuse(c, "Provided list of item keys contains duplicates");
      }
    }
  }
  return 0;
}

/* Reads the keys of one table that are to be read. NULL: the call has failed. */
static part *read_part(slp_box_call *c, uint32_t node, uint32_t *total) {
  slp_words w;
  part *p = SLP_ARENA_NEW(slp_call_arena(c), part);
  if (!p) {
    slp_box_no_memory(c);
    return NULL;
  }
  if (c->in->v[node].kind != SLP_VALUE_MAP) {
    slp_box_fail(c, "SerializationException", "The keys of a table must be in a map.");
    return NULL;
  }
  p->node = node;
  p->name = c->in->v[node].key;
  p->consistent = slp_in_flag(c, node, "ConsistentRead");
  if (slp_words_read(&w, c, node) || slp_read_projection(c, node, &w, &p->paths) || slp_words_end(&w)) {
    return NULL;
  }
  p->t = slp_table_named(c, p->name);
  return p->t && !read_gets(c, p, total) ? p : NULL;
}

static int do_get(slp_box_call *c, part *p, get *g, slp_cost **costs, size_t *bytes) {
  slp_cost *cost = slp_cost_of(c, costs, p->t), one = {.t = p->t};
  if (!cost) return -1;
  if (*bytes >= GET_BYTES || slp_cost_may_read(c, p->t, 0) || slp_key_may_read(c, p->t, &g->key)) {
    g->left = 1;
    p->left++;
    return 0;
  }
  const slp_row *row = slp_row_find(p->t, &g->key);
  const slp_item *item = row ? slp_row_at(row, slp_read_moment(c, p->t, p->consistent)) : NULL;
  one.reads[0] = slp_cost_read(item ? item->size : 0, p->consistent);
  slp_cost_take_reads(c, &one);
  slp_key_take_read(c, p->t, &g->key, one.reads[0]);
  cost->reads[0] += one.reads[0];
  if (!item) return 0;
  *bytes += item->size;
  g->show = p->paths ? slp_project(slp_call_arena(c), p->paths, item->value) : item->value;
  return g->show ? 0 : slp_box_no_memory(c);
}

static void put_found(slp_box_call *c, const part *p) {
  slp_out_key(&c->out, "Responses");
  slp_out_map(&c->out);
  for (; p; p = p->next) {
    slp_out_key(&c->out, p->t->name);
    slp_out_list(&c->out);
    for (uint32_t i = 0; i < p->n; i++) {
      if (p->gets[i].show) slp_out_item(c, p->gets[i].show);
    }
    slp_out_end(&c->out);
  }
  slp_out_end(&c->out);
}

/* Writes a table's entry of UnprocessedKeys: its members as the request had them, with only those keys that
 * were not read. */
static void put_left(slp_box_call *c, const part *p) {
  static const char *const texts[] = {"ProjectionExpression"};
  uint32_t names;
  slp_out_key(&c->out, p->t->name);
  slp_out_map(&c->out);
  slp_out_key(&c->out, "Keys");
  slp_out_list(&c->out);
  for (uint32_t i = 0; i < p->n; i++) {
    if (p->gets[i].left) slp_out_item(c, p->gets[i].map);
  }
  slp_out_end(&c->out);
  for (size_t i = 0; i < SLP_COUNT(texts); i++) {
    const slp_value *v = slp_in_get(c, p->node, texts[i]);
    if (!v) continue;
    slp_out_key(&c->out, texts[i]);
    slp_out_text(&c->out, v->text);
  }
  if (p->consistent) {
    slp_out_key(&c->out, "ConsistentRead");
    slp_out_bool(&c->out, 1);
  }
  if (!slp_in_map(c, p->node, "ExpressionAttributeNames", &names) && names) {
    slp_out_key(&c->out, "ExpressionAttributeNames");
    slp_out_map(&c->out);
    for (uint32_t i = c->in->v[names].child; i; i = c->in->v[i].next) {
      slp_out_name(&c->out, c->in->v[i].key);
      slp_out_text(&c->out, c->in->v[i].text);
    }
    slp_out_end(&c->out);
  }
  slp_out_end(&c->out);
}

int slp_batch_op_get(slp_box_call *c) {
  uint32_t map, total = 0, left = 0;
  part *parts = NULL, **to = &parts;
  slp_cost *costs = NULL;
  size_t bytes = 0;
  if (slp_in_map(c, 0, "RequestItems", &map)) return -1;
  for (uint32_t i = c->in->v[map].child; i; i = c->in->v[i].next) {
    part *p = read_part(c, i, &total);
    if (!p) return -1;
    *to = p;
    to = &p->next;
  }
  for (part *p = parts; p; p = p->next) {
    for (uint32_t i = 0; i < p->n; i++) {
      if (do_get(c, p, &p->gets[i], &costs, &bytes)) return -1;
    }
    left += p->left;
  }
  if (is_call_throttled(c) && left == total) return -1;
  clear_call_failure(c);
  slp_out_map(&c->out);
  put_found(c, parts);
  slp_out_key(&c->out, "UnprocessedKeys");
  slp_out_map(&c->out);
  for (const part *p = parts; p; p = p->next) {
    if (p->left) put_left(c, p);
  }
  slp_out_end(&c->out);
  slp_cost_put(c, costs, 1, 0);
  slp_out_end(&c->out);
  return 0;
}

/* ---- writes ------------------------------------------------------------------------------------- */
typedef struct writing {
  slp_action a[WRITES_MAX];
  uint8_t left[WRITES_MAX];
  uint32_t n;
} writing;

static int read_write(slp_box_call *c, slp_str table, uint32_t node, writing *w) {
  uint32_t put, gone, map;
  if (c->in->v[node].kind != SLP_VALUE_MAP) {
    return slp_box_fail(c, "SerializationException", "A write must be a map.");
  }
  if (slp_in_map(c, node, "PutRequest", &put) || slp_in_map(c, node, "DeleteRequest", &gone)) return -1;
  if (!put == !gone) {
    return slp_refuse(
        c,
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
        "supported datatypes");
  }
  slp_action *a = &w->a[w->n++];
  a->kind = put ? SLP_ACT_PUT : SLP_ACT_DELETE;
  if (slp_in_map(c, put ? put : gone, put ? "Item" : "Key", &map)) return -1;
  slp_av *item = map ? slp_ddb_item_read(c, map) : NULL;
  if (!map)
    return slp_refuse(c,
                      "1 validation error detected: Value null at 'requestItems' failed to satisfy "
                      "constraint: Member must not be null");
  if (!item || slp_action_aim(c, a, table, item)) return -1;
  for (const slp_action *before = w->a; before < a; before++) {
    if (before->t == a->t && slp_row_key_cmp(&before->key, &a->key) == 0) {
      return slp_refuse(c, "Provided list of item keys contains duplicates");
    }
  }
  return 0;
}

static int read_writes(slp_box_call *c, writing *w) {
  uint32_t map;
  if (slp_in_map(c, 0, "RequestItems", &map)) return -1;
  for (uint32_t i = c->in->v[map].child; i; i = c->in->v[i].next) {
    if (c->in->v[i].kind != SLP_VALUE_LIST || c->in->v[i].count == 0) {
      return slp_refuse(c, "The batch write request list for a table cannot be null or empty: %.*s",
                        (int)slp_min_u64(c->in->v[i].key.n, 255), c->in->v[i].key.p);
    }
    for (uint32_t k = c->in->v[i].child; k; k = c->in->v[k].next) {
      if (w->n == WRITES_MAX) return slp_refuse(c, "Too many items requested for the BatchWriteItem call");
      if (read_write(c, c->in->v[i].key, k, w)) return -1;
    }
  }
  return 0;
}

static int do_write(slp_box_call *c, slp_action *a, slp_cost **costs) {
  slp_cost one = {.t = a->t}, *cost = slp_cost_of(c, costs, a->t);
  if (!cost || slp_action_judge(c, a) || slp_cost_change(c, &one, a->was, a->now, 1)) return -1;
  if (slp_cost_take_writes(c, &one) || slp_key_take_write(c, a->t, &a->key, one.writes[0])) return 1;
  for (uint32_t i = 0; i < a->t->indexes_n; i++) cost->writes[i] += one.writes[i];
  return slp_action_apply(c, a);
}

static void put_unwritten(slp_box_call *c, const writing *w) {
  /* the table whose list is open; NULL: no list is. Writes to one table are neighbours in w->a */
  const slp_table *t = NULL;
  slp_out_key(&c->out, "UnprocessedItems");
  slp_out_map(&c->out);
  for (uint32_t i = 0; i < w->n; i++) {
    int put = w->a[i].kind == SLP_ACT_PUT;
    if (!w->left[i]) continue;
    if (t != w->a[i].t) {
      if (t) slp_out_end(&c->out);
      t = w->a[i].t;
      slp_out_key(&c->out, t->name);
      slp_out_list(&c->out);
    }
    slp_out_map(&c->out);
    slp_out_key(&c->out, put ? "PutRequest" : "DeleteRequest");
    slp_out_map(&c->out);
    slp_out_key(&c->out, put ? "Item" : "Key");
    slp_out_item(c, put ? w->a[i].item : w->a[i].key_map);
    slp_out_end(&c->out);
    slp_out_end(&c->out);
  }
  if (t) slp_out_end(&c->out);
  slp_out_end(&c->out);
}

int slp_batch_op_write(slp_box_call *c) {
  slp_cost *costs = NULL;
  uint32_t left = 0;
  writing *w = SLP_ARENA_NEW(slp_call_arena(c), writing);
  if (!w) return slp_box_no_memory(c);
  if (read_writes(c, w)) return -1;
  for (uint32_t i = 0; i < w->n; i++) {
    int r = do_write(c, &w->a[i], &costs);
    if (r < 0) return -1;
    w->left[i] = (uint8_t)(r == 1);
    left += r == 1;
  }
  if (is_call_throttled(c) && left == w->n) return -1;
  clear_call_failure(c);
  slp_out_map(&c->out);
  put_unwritten(c, w);
  slp_cost_put(c, costs, 1, 0);
  slp_out_end(&c->out);
  return 0;
}
