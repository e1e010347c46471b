/* dynamo_ask.c - writes the JSON bodies of DynamoDB requests. */
#include "store/dynamo_ask.h"

#include "base/buf.h"
#include "codec/json_write.h"
#include "lease/store.h"
#include "store/item.h"

static void text_value(slp_jw *w, const char *name, slp_str s) {
  slp_val_put(w, slp_str_of(name), &(slp_val){.kind = SLP_VAL_S, .s = s});
}

static slp_jw begin_table(slp_buf *b, const slp_table_spec *t) {
  slp_jw w = slp_jw_begin(b);
  slp_jw_z(&w, "TableName", t->name);
  return w;
}

/* Ends the JSON of a request, after a member that makes DynamoDB report the consumed capacity. */
static int end_counted(slp_jw *w) {
  slp_jw_z(w, "ReturnConsumedCapacity", "TOTAL");
  return slp_jw_object_end(w);
}

static void key_members(slp_jw *w, const slp_table_spec *t, const slp_row_key *k) {
  text_value(w, t->hash_name, k->hash);
  if (t->range_name) text_value(w, t->range_name, k->range);
}

static void put_row_key(slp_jw *w, const char *name, const slp_table_spec *t, const slp_row_key *k) {
  slp_jw_object(w, name);
  key_members(w, t, k);
  slp_jw_object_end(w);
}

int slp_dynamo_ask_describe(slp_buf *b, const slp_table_spec *t) {
  slp_jw w = begin_table(b, t);
  return slp_jw_object_end(&w);
}

int slp_dynamo_ask_create(slp_buf *b, const slp_table_spec *t) {
  const char *names[2] = {t->hash_name, t->range_name}, *const roles[2] = {"HASH", "RANGE"};
  slp_jw w = begin_table(b, t);
  slp_jw_z(&w, "BillingMode", "PAY_PER_REQUEST");
  slp_jw_array(&w, "AttributeDefinitions");
  for (int i = 0; i < 2 && names[i]; i++) {
    slp_jw_object(&w, NULL);
    slp_jw_z(&w, "AttributeName", names[i]);
    slp_jw_z(&w, "AttributeType", "S");
    slp_jw_object_end(&w);
  }
  slp_jw_array_end(&w);
  slp_jw_array(&w, "KeySchema");
  for (int i = 0; i < 2 && names[i]; i++) {
    slp_jw_object(&w, NULL);
    slp_jw_z(&w, "AttributeName", names[i]);
    slp_jw_z(&w, "KeyType", roles[i]);
    slp_jw_object_end(&w);
  }
  slp_jw_array_end(&w);
  return slp_jw_object_end(&w);
}

/* ---- reading ------------------------------------------------------------------------------------------- */
/* Returns 1 if an earlier key of the request equals key n. DynamoDB refuses a batch that has a key twice. */
static int is_before(const slp_store_get *g, size_t n) {
  const slp_row_key *k = g->keys;
  for (size_t i = 0; i < n; i++)
    if (slp_str_eq(k[i].hash, k[n].hash) && slp_str_eq(k[i].range, k[n].range)) return 1;
  return 0;
}

static void put_consistent_read(slp_jw *w, uint8_t on) {
  if (on) slp_jw_bool(w, "ConsistentRead", 1);
}

int slp_dynamo_ask_get(slp_buf *b, const slp_table_spec *t, const slp_store_get *g) {
  if (g->keys_n == 1) {
    slp_jw one = begin_table(b, t);
    put_row_key(&one, "Key", t, &g->keys[0]);
    put_consistent_read(&one, g->consistent);
    return end_counted(&one);
  }
  slp_jw w = slp_jw_begin(b);
  slp_jw_object(&w, "RequestItems");
  slp_jw_key(&w, slp_str_of(t->name));
  slp_jw_object(&w, NULL);
  slp_jw_array(&w, "Keys");
  for (size_t i = 0; i < g->keys_n; i++)
    if (!is_before(g, i)) put_row_key(&w, NULL, t, &g->keys[i]);
  slp_jw_array_end(&w);
  put_consistent_read(&w, g->consistent);
  slp_jw_object_end(&w);
  slp_jw_object_end(&w);
  return end_counted(&w);
}

int slp_dynamo_ask_rest(slp_buf *b, slp_str unprocessed) {
  slp_jw w = slp_jw_begin(b);
  slp_jw_raw(&w, "RequestItems", unprocessed);
  return end_counted(&w);
}

int slp_dynamo_ask_list(slp_buf *b, const slp_table_spec *t, const slp_store_list *l, slp_str from) {
  /* 1: the request names a prefix; DynamoDB refuses an empty text in begins_with */
  int begins = l->prefix.n > 0;
  slp_jw w = begin_table(b, t);
  if (t->range_name) {
    slp_jw_z(&w, "KeyConditionExpression", begins ? "#h=:h AND begins_with(#r,:r)" : "#h=:h");
    slp_jw_object(&w, "ExpressionAttributeNames");
    slp_jw_z(&w, "#h", t->hash_name);
    if (begins) slp_jw_z(&w, "#r", t->range_name);
    slp_jw_object_end(&w);
    slp_jw_object(&w, "ExpressionAttributeValues");
    text_value(&w, ":h", l->hash);
    if (begins) text_value(&w, ":r", l->prefix);
    slp_jw_object_end(&w);
  }
  put_consistent_read(&w, l->consistent);
  if (from.n) slp_jw_raw(&w, "ExclusiveStartKey", from);
  return end_counted(&w);
}

/* ---- writing --------------------------------------------------------------------------------------------
 * Each name and value in an expression has a placeholder: #u<i> and :u<i> for change i, #c<i> and :c<i> for
 * test i of the condition. */
static slp_str placeholder_of(char sign, char kind, size_t i, char room[5]) {
  size_t n = 2;
  SLP_CHECK(i < 100); /* a write has only a few changes and tests */
  room[0] = sign;
  room[1] = kind;
  if (i >= 10) room[n++] = (char)('0' + i / 10);
  room[n++] = (char)('0' + i % 10);
  room[n] = 0;
  return (slp_str){room, n};
}

static void add_holder(slp_buf *b, char sign, char kind, size_t i) {
  char room[5];
  slp_buf_add_str(b, placeholder_of(sign, kind, i, room));
}

static int test_has_value(slp_test test) { return test != SLP_TEST_THERE && test != SLP_TEST_ABSENT; }

static void add_test(slp_buf *b, const slp_atom *a, size_t i) {
  static const char *const signs[] = {
      [SLP_TEST_EQ] = "=",  [SLP_TEST_NE] = "<>", [SLP_TEST_LT] = "<",
      [SLP_TEST_LE] = "<=", [SLP_TEST_GT] = ">",  [SLP_TEST_GE] = ">=",
  };
  if (!test_has_value(a->test))
    slp_buf_add_z(b, a->test == SLP_TEST_THERE ? "attribute_exists(" : "attribute_not_exists(");
  add_holder(b, '#', 'c', i);
  if (test_has_value(a->test)) {
    slp_buf_add_z(b, signs[a->test]);
    add_holder(b, ':', 'c', i);
  } else {
    slp_buf_add_char(b, ')');
  }
}

/* Writes the condition. Expressions have no character that JSON would escape, so they are written as they
 * are. */
static void put_condition(slp_jw *w, const slp_store_write *sw) {
  if (!sw->when_n) return;
  slp_buf *b = slp_jw_value(w, "ConditionExpression");
  slp_buf_add_char(b, '"');
  for (size_t i = 0; i < sw->when_n; i++) {
    int opens = (i == 0 || !sw->when[i - 1].or_next) && sw->when[i].or_next && i + 1 < sw->when_n;
    int closes = i > 0 && sw->when[i - 1].or_next && (!sw->when[i].or_next || i + 1 == sw->when_n);
    if (i) slp_buf_add_z(b, sw->when[i - 1].or_next ? " OR " : " AND ");
    if (opens) slp_buf_add_char(b, '(');
    add_test(b, &sw->when[i], i);
    if (closes) slp_buf_add_char(b, ')');
  }
  slp_buf_add_char(b, '"');
  slp_jw_z(w, "ReturnValuesOnConditionCheckFailure", "ALL_OLD");
}

/* Writes one section of an update expression, such as SET, with all changes of the given kinds. If there are
 * none, writes nothing. */
static void add_update_section(slp_buf *b, const slp_store_write *w, const char *word, slp_change_kind kind,
                               slp_change_kind or_kind) {
  int n = 0;
  for (size_t i = 0; i < w->changes_n; i++) {
    slp_change_kind k = w->changes[i].kind;
    if (k != kind && k != or_kind) continue;
    slp_buf_add_z(b, n++ ? "," : word);
    add_holder(b, '#', 'u', i);
    if (k == SLP_REMOVE) continue;
    slp_buf_add_z(b, k == SLP_SET ? "=" : k == SLP_SET_IF_ABSENT ? "=if_not_exists(" : " ");
    if (k == SLP_SET_IF_ABSENT) add_holder(b, '#', 'u', i);
    if (k == SLP_SET_IF_ABSENT) slp_buf_add_char(b, ',');
    add_holder(b, ':', 'u', i);
    if (k == SLP_SET_IF_ABSENT) slp_buf_add_char(b, ')');
  }
}

static void put_update_expression(slp_jw *w, const slp_store_write *sw) {
  if (!sw->changes_n) return;
  slp_buf *b = slp_jw_value(w, "UpdateExpression");
  slp_buf_add_char(b, '"');
  add_update_section(b, sw, " SET ", SLP_SET, SLP_SET_IF_ABSENT);
  add_update_section(b, sw, " REMOVE ", SLP_REMOVE, SLP_REMOVE);
  add_update_section(b, sw, " ADD ", SLP_ADD_N, SLP_ADD_SS);
  add_update_section(b, sw, " DELETE ", SLP_DROP_SS, SLP_DROP_SS);
  slp_buf_add_char(b, '"');
}

static void put_attribute_names(slp_jw *w, const slp_store_write *sw, size_t changes_n) {
  char room[5];
  if (!sw->when_n && !changes_n) return;
  slp_jw_object(w, "ExpressionAttributeNames");
  for (size_t i = 0; i < changes_n; i++)
    slp_jw_str(w, placeholder_of('#', 'u', i, room).p, sw->changes[i].name);
  for (size_t i = 0; i < sw->when_n; i++)
    slp_jw_str(w, placeholder_of('#', 'c', i, room).p, sw->when[i].name);
  slp_jw_object_end(w);
}

static void put_attribute_values(slp_jw *w, const slp_store_write *sw, size_t changes_n) {
  char room[5];
  int any = 0;
  for (size_t i = 0; i < changes_n + sw->when_n; i++) {
    int of_change = i < changes_n;
    size_t k = of_change ? i : i - changes_n;
    if (of_change ? sw->changes[k].kind == SLP_REMOVE : !test_has_value(sw->when[k].test)) continue;
    if (!any++) slp_jw_object(w, "ExpressionAttributeValues");
    slp_val_put(w, placeholder_of(':', of_change ? 'u' : 'c', k, room),
                of_change ? &sw->changes[k].val : &sw->when[k].val);
  }
  if (any) slp_jw_object_end(w);
}

static void whole_row(slp_jw *w, const slp_table_spec *t, const slp_store_write *sw) {
  slp_jw_object(w, "Item");
  key_members(w, t, &sw->key);
  for (size_t i = 0; i < sw->changes_n; i++) slp_val_put(w, sw->changes[i].name, &sw->changes[i].val);
  slp_jw_object_end(w);
}

int slp_dynamo_ask_write(slp_buf *b, const slp_table_spec *t, const slp_store_write *sw) {
  int updates = sw->kind == SLP_WRITE_UPDATE;
  size_t changes_n = updates ? sw->changes_n : 0;
  slp_jw w = begin_table(b, t);
  if (sw->kind == SLP_WRITE_PUT)
    whole_row(&w, t, sw);
  else
    put_row_key(&w, "Key", t, &sw->key);
  if (updates) put_update_expression(&w, sw);
  put_condition(&w, sw);
  put_attribute_names(&w, sw, changes_n);
  put_attribute_values(&w, sw, changes_n);
  if (updates) slp_jw_z(&w, "ReturnValues", "ALL_NEW");
  return end_counted(&w);
}
