/* dynamo_ask.c - requests to DynamoDB. */
#include "store/dynamo_ask.h"

#include "codec/json.h"
#include "store/item.h"

/* Writes as long as nothing failed. */
typedef struct pen {
  slp_buf *b;
  int r;
} pen;

static void raw(pen *p, const char *z) {
  if (!p->r) p->r = slp_buf_add_z(p->b, z);
}
static void raw_str(pen *p, slp_str s) {
  if (!p->r) p->r = slp_buf_add_str(p->b, s);
}
static void string(pen *p, slp_str s) {
  if (!p->r) p->r = slp_json_put_string(p->b, s);
}
static void number(pen *p, size_t n) {
  if (!p->r) p->r = slp_buf_add_u64(p->b, n);
}
static void name_and(pen *p, const char *name) { /* of an attribute; its value comes next */
  string(p, slp_str_of(name));
  raw(p, ":");
}
static void value(pen *p, const slp_val *v) {
  if (!p->r) p->r = slp_val_put(p->b, v);
}
static void text_value(pen *p, slp_str s) { value(p, &(slp_val){.kind = SLP_VAL_S, .s = s}); }

static void table(pen *p, const slp_table_spec *t) {
  raw(p, "{\"TableName\":");
  string(p, slp_str_of(t->name));
}

static void key(pen *p, const slp_table_spec *t, const slp_row_key *k) {
  raw(p, "{");
  name_and(p, t->hash_name);
  text_value(p, k->hash);
  if (t->range_name) {
    raw(p, ",");
    name_and(p, t->range_name);
    text_value(p, k->range);
  }
  raw(p, "}");
}

int slp_dynamo_ask_describe(slp_buf *b, const slp_table_spec *t) {
  pen p = {b, 0};
  table(&p, t);
  raw(&p, "}");
  return p.r;
}

int slp_dynamo_ask_create(slp_buf *b, const slp_table_spec *t) {
  pen p = {b, 0};
  const char *names[2] = {t->hash_name, t->range_name}, *const roles[2] = {"HASH", "RANGE"};
  table(&p, t);
  raw(&p, ",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[");
  for (int i = 0; i < 2 && names[i]; i++) {
    raw(&p, i ? ",{\"AttributeName\":" : "{\"AttributeName\":");
    string(&p, slp_str_of(names[i]));
    raw(&p, ",\"AttributeType\":\"S\"}");
  }
  raw(&p, "],\"KeySchema\":[");
  for (int i = 0; i < 2 && names[i]; i++) {
    raw(&p, i ? ",{\"AttributeName\":" : "{\"AttributeName\":");
    string(&p, slp_str_of(names[i]));
    raw(&p, ",\"KeyType\":\"");
    raw(&p, roles[i]);
    raw(&p, "\"}");
  }
  raw(&p, "]}");
  return p.r;
}

/* ---- reading ---------------------------------------------------------------------------------------------
 */
static const char *consistent(uint8_t on) { return on ? ",\"ConsistentRead\":true" : ""; }

/* The service refuses a batch that names a key twice. */
static int is_before(const slp_store_get *g, size_t n) {
  const slp_row_key *k = g->keys;
  for (size_t i = 0; i < n; i++)
    if (slp_str_eq(k[i].hash, k[n].hash) && slp_str_eq(k[i].range, k[n].range)) return 1;
  return 0;
}

int slp_dynamo_ask_get(slp_buf *b, const slp_table_spec *t, const slp_store_get *g) {
  pen p = {b, 0};
  if (g->keys_n == 1) {
    table(&p, t);
    raw(&p, ",\"Key\":");
    key(&p, t, &g->keys[0]);
    raw(&p, consistent(g->consistent));
    raw(&p, ",\"ReturnConsumedCapacity\":\"TOTAL\"}");
    return p.r;
  }
  raw(&p, "{\"RequestItems\":{");
  name_and(&p, t->name);
  raw(&p, "{\"Keys\":[");
  for (size_t i = 0; i < g->keys_n; i++) {
    if (is_before(g, i)) continue;
    if (i) raw(&p, ",");
    key(&p, t, &g->keys[i]);
  }
  raw(&p, "]");
  raw(&p, consistent(g->consistent));
  raw(&p, "}},\"ReturnConsumedCapacity\":\"TOTAL\"}");
  return p.r;
}

int slp_dynamo_ask_rest(slp_buf *b, slp_str unprocessed) {
  pen p = {b, 0};
  raw(&p, "{\"RequestItems\":");
  raw_str(&p, unprocessed);
  raw(&p, ",\"ReturnConsumedCapacity\":\"TOTAL\"}");
  return p.r;
}

int slp_dynamo_ask_list(slp_buf *b, const slp_table_spec *t, const slp_store_list *l, slp_str from) {
  pen p = {b, 0};
  int begins = l->prefix.n > 0; /* an empty one is refused by the service */
  table(&p, t);
  if (t->range_name) {
    raw(&p, ",\"KeyConditionExpression\":\"#h=:h");
    raw(&p, begins ? " AND begins_with(#r,:r)\"" : "\"");
    raw(&p, ",\"ExpressionAttributeNames\":{\"#h\":");
    string(&p, slp_str_of(t->hash_name));
    if (begins) raw(&p, ",\"#r\":");
    if (begins) string(&p, slp_str_of(t->range_name));
    raw(&p, "},\"ExpressionAttributeValues\":{\":h\":");
    text_value(&p, l->hash);
    if (begins) raw(&p, ",\":r\":");
    if (begins) text_value(&p, l->prefix);
    raw(&p, "}");
  }
  raw(&p, consistent(l->consistent));
  if (from.n) raw(&p, ",\"ExclusiveStartKey\":");
  raw_str(&p, from);
  raw(&p, ",\"ReturnConsumedCapacity\":\"TOTAL\"}");
  return p.r;
}

/* ---- writing ---------------------------------------------------------------------------------------------
 * Change i is #u<i> and :u<i>, atom i is #c<i> and :c<i>. */
static void holder(pen *p, char sign, char kind, size_t i) {
  char text[3] = {sign, kind, 0};
  raw(p, text);
  number(p, i);
}

static int compares(slp_test test) { return test != SLP_TEST_THERE && test != SLP_TEST_ABSENT; }

static void atom(pen *p, const slp_atom *a, size_t i) {
  static const char *const signs[] = {
      [SLP_TEST_EQ] = "=",  [SLP_TEST_NE] = "<>", [SLP_TEST_LT] = "<",
      [SLP_TEST_LE] = "<=", [SLP_TEST_GT] = ">",  [SLP_TEST_GE] = ">=",
  };
  if (!compares(a->test)) raw(p, a->test == SLP_TEST_THERE ? "attribute_exists(" : "attribute_not_exists(");
  holder(p, '#', 'c', i);
  if (compares(a->test)) {
    raw(p, signs[a->test]);
    holder(p, ':', 'c', i);
  } else {
    raw(p, ")");
  }
}

static void condition(pen *p, const slp_store_write *w) {
  if (!w->when_n) return;
  raw(p, ",\"ConditionExpression\":\"");
  for (size_t i = 0; i < w->when_n; i++) {
    int opens = (i == 0 || !w->when[i - 1].or_next) && w->when[i].or_next && i + 1 < w->when_n;
    int closes = i > 0 && w->when[i - 1].or_next && (!w->when[i].or_next || i + 1 == w->when_n);
    if (i) raw(p, w->when[i - 1].or_next ? " OR " : " AND ");
    if (opens) raw(p, "(");
    atom(p, &w->when[i], i);
    if (closes) raw(p, ")");
  }
  raw(p, "\",\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"");
}

/* All changes of one section; nothing when there is none. */
static void section(pen *p, const slp_store_write *w, const char *word, slp_change_kind kind,
                    slp_change_kind or_kind) {
  int n = 0;
  for (size_t i = 0; i < w->changes_n; i++) {
    slp_change_kind k = w->changes[i].kind;
    if (k != kind && k != or_kind) continue;
    raw(p, n++ ? "," : word);
    holder(p, '#', 'u', i);
    if (k == SLP_REMOVE) continue;
    raw(p, k == SLP_SET ? "=" : k == SLP_SET_IF_ABSENT ? "=if_not_exists(" : " ");
    if (k == SLP_SET_IF_ABSENT) holder(p, '#', 'u', i);
    if (k == SLP_SET_IF_ABSENT) raw(p, ",");
    holder(p, ':', 'u', i);
    if (k == SLP_SET_IF_ABSENT) raw(p, ")");
  }
}

static void changes(pen *p, const slp_store_write *w) {
  if (!w->changes_n) return;
  raw(p, ",\"UpdateExpression\":\"");
  section(p, w, " SET ", SLP_SET, SLP_SET_IF_ABSENT);
  section(p, w, " REMOVE ", SLP_REMOVE, SLP_REMOVE);
  section(p, w, " ADD ", SLP_ADD_N, SLP_ADD_SS);
  section(p, w, " DELETE ", SLP_DROP_SS, SLP_DROP_SS);
  raw(p, "\"");
}

static void names(pen *p, const slp_store_write *w, size_t changes_n) {
  if (!w->when_n && !changes_n) return;
  raw(p, ",\"ExpressionAttributeNames\":{");
  for (size_t i = 0; i < changes_n + w->when_n; i++) {
    int of_change = i < changes_n;
    size_t k = of_change ? i : i - changes_n;
    raw(p, i ? ",\"" : "\"");
    holder(p, '#', of_change ? 'u' : 'c', k);
    raw(p, "\":");
    string(p, of_change ? w->changes[k].name : w->when[k].name);
  }
  raw(p, "}");
}

static void values(pen *p, const slp_store_write *w, size_t changes_n) {
  int n = 0;
  for (size_t i = 0; i < changes_n + w->when_n; i++) {
    int of_change = i < changes_n;
    size_t k = of_change ? i : i - changes_n;
    if (of_change ? w->changes[k].kind == SLP_REMOVE : !compares(w->when[k].test)) continue;
    raw(p, n++ ? ",\"" : ",\"ExpressionAttributeValues\":{\"");
    holder(p, ':', of_change ? 'u' : 'c', k);
    raw(p, "\":");
    value(p, of_change ? &w->changes[k].val : &w->when[k].val);
  }
  if (n) raw(p, "}");
}

static void whole_row(pen *p, const slp_table_spec *t, const slp_store_write *w) {
  raw(p, ",\"Item\":{");
  name_and(p, t->hash_name);
  text_value(p, w->key.hash);
  if (t->range_name) raw(p, ",");
  if (t->range_name) name_and(p, t->range_name);
  if (t->range_name) text_value(p, w->key.range);
  for (size_t i = 0; i < w->changes_n; i++) {
    raw(p, ",");
    string(p, w->changes[i].name);
    raw(p, ":");
    value(p, &w->changes[i].val);
  }
  raw(p, "}");
}

int slp_dynamo_ask_write(slp_buf *b, const slp_table_spec *t, const slp_store_write *w) {
  pen p = {b, 0};
  int updates = w->kind == SLP_WRITE_UPDATE;
  size_t changes_n = updates ? w->changes_n : 0;
  table(&p, t);
  if (w->kind == SLP_WRITE_PUT) {
    whole_row(&p, t, w);
  } else {
    raw(&p, ",\"Key\":");
    key(&p, t, &w->key);
  }
  if (updates) changes(&p, w);
  condition(&p, w);
  names(&p, w, changes_n);
  values(&p, w, changes_n);
  if (updates) raw(&p, ",\"ReturnValues\":\"ALL_NEW\"");
  raw(&p, ",\"ReturnConsumedCapacity\":\"TOTAL\"}");
  return p.r;
}
