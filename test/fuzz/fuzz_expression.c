/* fuzz_expression.c - expressions on any bytes. The first byte says which kind. What is refused says why;
 * what is taken is evaluated: NOT of it is its opposite, a projection is a part of its item, an update leaves
 * the old item as it was, and the new one survives its own JSON. */
#include "sandbox/ddb.h"

#include "fuzz.h"

static const char item_json[] =
    "{\"a\":{\"S\":\"text\"},\"b\":{\"N\":\"12.5\"},\"c\":{\"L\":[{\"N\":\"1\"},{\"M\":{\"d\":{\"SS\":[\"x\","
    "\"y\"]}}},"
    "{\"S\":\"\"}]},\"e\":{\"M\":{\"f\":{\"M\":{\"g\":{\"NULL\":true}}},\"h\":{\"BOOL\":false}}},\"i\":{"
    "\"NS\":[\"1\","
    "\"2\"]},\"j\":{\"B\":\"AAE=\"},\"k\":{\"S\":\"key\"}}";
static const char words_json[] =
    "{\"ExpressionAttributeNames\":{\"#a\":\"a\",\"#c\":\"c\",\"#owner\":\"owner\"},"
    "\"ExpressionAttributeValues\":{"
    "\":s\":{\"S\":\"te\"},\":n\":{\"N\":\"1\"},\":l\":{\"L\":[{\"N\":\"7\"}]},\":m\":{\"M\":{\"d\":{\"S\":"
    "\"x\"}}},"
    "\":ss\":{\"SS\":[\"x\",\"z\"]},\":ns\":{\"NS\":[\"1\"]},\":t\":{\"BOOL\":true},\":S\":{\"S\":\"S\"}}}";

static slp_av *read_item(slp_box_call *c, slp_box_tree *t, slp_str json) {
  c->in = t;
  REQUIRE(slp_box_tree_read(t, SLP_WIRE_JSON, json) == 0);
  return slp_ddb_item_read(c, 0);
}

static void same_json(const slp_av *item, slp_str json, slp_mem *mem) {
  slp_buf b;
  slp_buf_init(&b, mem, 1u << 24);
  REQUIRE(slp_item_put_json(&b, item) == 0);
  REQUIRE(slp_str_eq(slp_buf_str(&b), json));
  slp_buf_free(&b);
}

static void check_condition(slp_words *w, slp_str text, const slp_av *item) {
  slp_x *x, not = {.op = SLP_X_NOT};
  if (slp_parse_condition(w, "ConditionExpression", text, &x)) return;
  not .a = x;
  REQUIRE(slp_x_holds(x, item) != slp_x_holds(&not, item));
  REQUIRE(slp_x_holds(x, NULL) != slp_x_holds(&not, NULL));
}

static void check_projection(slp_words *w, slp_str text, const slp_av *item) {
  slp_paths *paths;
  if (slp_parse_projection(w, text, &paths)) return;
  slp_av *part = slp_project(slp_call_arena(w->c), paths, item);
  REQUIRE(part && part->count <= item->count && slp_item_size(part) <= slp_item_size(item));
  for (const slp_av *m = part->first; m; m = m->next) {
    const slp_av *whole = slp_av_member(item, m->name);
    REQUIRE(whole && whole->kind == m->kind && slp_av_size(m) <= slp_av_size(whole));
  }
}

static void check_update(slp_words *w, slp_str text, const slp_av *item, slp_str json) {
  slp_up *up;
  slp_box_call *c = w->c;
  slp_buf b;
  slp_box_tree again;
  if (slp_parse_update(w, text, &up)) return;
  slp_av *now = slp_update_apply(c, up, item, NULL);
  same_json(item, json, c->box->mem);
  if (!now) return;
  slp_buf_init(&b, c->box->mem, 1u << 24);
  slp_box_tree_init(&again, c->box->mem);
  REQUIRE(slp_item_put_json(&b, now) == 0);
  slp_av *read = read_item(c, &again, slp_buf_str(&b));
  REQUIRE(read && slp_av_equal(read, now) && slp_item_size(read) == slp_item_size(now));
  slp_box_tree_free(&again);
  slp_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_box *box = slp_box_new(mem, NULL, 7);
  slp_box_tree item_tree, words_tree;
  slp_box_call c = {.box = box, .service = SLP_BOX_DYNAMODB};
  slp_words w;
  slp_buf json;
  char *copy = fuzz_copy(data + 1, size - 1);
  slp_str text = {copy, size - 1};
  slp_box_tree_init(&item_tree, mem);
  slp_box_tree_init(&words_tree, mem);
  slp_buf_init(&json, mem, 1u << 20);
  slp_av *item = read_item(&c, &item_tree, slp_str_of(item_json));
  REQUIRE(item && slp_item_put_json(&json, item) == 0);
  c.in = &words_tree;
  REQUIRE(slp_box_tree_read(&words_tree, SLP_WIRE_JSON, slp_str_of(words_json)) == 0);
  REQUIRE(slp_words_read(&w, &c, 0) == 0);
  if (data[0] % 3 == 0)
    check_condition(&w, text, item);
  else if (data[0] % 3 == 1)
    check_projection(&w, text, item);
  else
    check_update(&w, text, item, slp_buf_str(&json));
  if (c.error) REQUIRE(strcmp(c.error, "ValidationException") == 0 && c.error_message[0]);
  free(copy);
  slp_buf_free(&json);
  slp_box_tree_free(&item_tree);
  slp_box_tree_free(&words_tree);
  slp_box_free(box);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}
