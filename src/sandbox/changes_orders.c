/* changes_orders.c - control requests for the streams of tables: roll shards over, trim, switch quirks on,
 * and add changes without a write. */
#include "base/buf.h"
#include "base/list.h"
#include "codec/json_write.h"
#include "sandbox/changes.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/sandbox.h"
#include "sandbox/value.h"

static slp_changes *settle_and_find_latest(slp_box *box, int64_t now_ms, const char *table) {
  slp_changes_settle(box, now_ms);
  return slp_changes_latest(box, slp_str_of(table));
}

int slp_box_add_change(slp_box *box, int64_t now_ms, const char *table, slp_str keys, slp_str old_image,
                       slp_str new_image, int by_ttl) {
  slp_changes *s = settle_and_find_latest(box, now_ms, table);
  if (!s || s->status != SLP_CHANGES_ENABLED) return SLP_ENOENT;
  if (!keys.p || (!old_image.p && !new_image.p)) return SLP_EINVAL;
  int r = slp_change_store(box, s, now_ms, keys, old_image, new_image, by_ttl);
  return r == SLP_ENOMEM ? r : r ? SLP_EINVAL : 0;
}

int slp_box_roll(slp_box *box, int64_t now_ms, const char *table, int split) {
  slp_changes *s = settle_and_find_latest(box, now_ms, table);
  if (!s || s->status != SLP_CHANGES_ENABLED) return SLP_ENOENT;
  int r = 0;
  /* A first child takes its parent's place in s->open. A second child is appended behind the n shards, so
   * this loop does not roll it over. */
  for (uint32_t i = 0, n = s->open_n; !r && i < n && s->live < SLP_CHANGE_SHARDS_MAX; i++) {
    r = slp_change_roll(box, s, s->shards[s->open[i]], now_ms, split ? 2 : 1);
  }
  return r;
}

int slp_box_trim_table(slp_box *box, int64_t now_ms, const char *table, int64_t before_ms) {
  int found = 0;
  SLP_LIST_EACH(&box->changes_all->streams, it) {
    slp_changes *s = SLP_OWNER(it, slp_changes, link);
    if (s->gone || !slp_str_is(slp_str_of(table), s->table)) continue;
    found = 1;
    s->trimmed_ms = slp_max_i64(s->trimmed_ms, slp_min_i64(before_ms, now_ms + 1));
    s->sweep_ms = INT64_MIN;
  }
  slp_changes_settle(box, now_ms);
  return found ? 0 : SLP_ENOENT;
}

static uint32_t *quirk_of(slp_change_quirks *q, slp_str name) {
  const struct {
    const char *name;
    uint32_t *value;
  } all[] = {
      {"open-parents", &q->open_parents},    {"late-children", &q->late_children_ms},
      {"empty-lists", &q->empty_lists},      {"empty-gets", &q->empty_gets},
      {"child-filter", &q->no_child_filter}, {"split-every", &q->split_every},
      {"keep-open", &q->keep_open},          {"no-times", &q->no_times},
  };
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    if (slp_str_is(name, all[i].name)) return all[i].value;
  }
  return NULL;
}

int slp_box_quirk(slp_box *box, const char *table, const char *name, uint32_t value) {
  slp_str which = slp_str_of(name);
  int found = table == NULL;
  uint32_t *of_all = quirk_of(&box->changes_all->quirks, which);
  if (!of_all) return SLP_EINVAL;
  if (!table) *of_all = value;
  SLP_LIST_EACH(&box->changes_all->streams, it) {
    slp_changes *s = SLP_OWNER(it, slp_changes, link);
    if (table && strcmp(table, s->table) != 0) continue;
    *quirk_of(&s->quirks, which) = value;
    found = 1;
  }
  return found ? 0 : SLP_ENOENT;
}

/* Carries out an operation of DynamoDB as if a client had requested it, and drops the answer. */
static int carry_out(slp_box *box, int64_t now_ms, const char *operation, slp_str body) {
  uint32_t number;
  slp_buf answer;
  slp_box_call c = {.box = box,
                    .now_ms = now_ms,
                    .region = "us-east-1",
                    .service = SLP_BOX_DYNAMODB,
                    .operation = operation,
                    .in = &box->tree};
  const slp_box_operation *op = slp_box_operation_find(c.service, slp_str_of(operation), &number);
  SLP_CHECK(op != NULL);
  slp_buf_init(&answer, box->mem, 1 << 20);
  slp_out_begin(&c.out, &answer, SLP_WIRE_JSON, 0);
  int r = slp_box_tree_read(&box->tree, SLP_WIRE_JSON, body);
  if (!r && (slp_box_check_input(&c, op) || op->run(&c))) {
    r = strncmp(c.error, "Internal", 8) == 0             ? SLP_ENOMEM
        : strcmp(c.error, "ResourceInUseException") == 0 ? -EEXIST
                                                         : SLP_EINVAL;
  }
  slp_ddb_call_over(box);
  slp_buf_free(&answer);
  return r == SLP_ENOMEM || r == -EEXIST ? r : r ? SLP_EINVAL : 0;
}

int slp_box_table(slp_box *box, int64_t now_ms, const char *name, uint32_t partitions,
                  const char *view_type) {
  slp_buf body;
  if (partitions < 1 || partitions > SLP_BOX_SHARDS_MAX / 4) return SLP_EINVAL;
  slp_ddb_settle(box, now_ms);
  slp_changes_settle(box, now_ms);
  slp_buf_init(&body, box->mem, 4096);
  slp_jw w = slp_jw_begin(&body);
  slp_jw_raw(&w, NULL,
             SLP_STR("\"BillingMode\":\"PAY_PER_REQUEST\","
                     "\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}],"
                     "\"AttributeDefinitions\":[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}]"));
  slp_jw_z(&w, "TableName", name);
  slp_jw_object(&w, "StreamSpecification");
  slp_jw_bool(&w, "StreamEnabled", 1);
  slp_jw_z(&w, "StreamViewType", view_type);
  slp_jw_object_end(&w);
  int r = slp_jw_object_end(&w);
  if (!r) r = carry_out(box, now_ms, "CreateTable", slp_buf_str(&body));
  slp_buf_free(&body);
  /* SLP_ELIMIT: the name is too long. SLP_EBADDATA: it is not UTF-8. */
  if (r) return r == SLP_ELIMIT || r == SLP_EBADDATA ? SLP_EINVAL : r;
  slp_table *t = slp_table_find(box, slp_str_of(name));
  SLP_CHECK(t && t->changes);
  t->changes->partitions = partitions;
  t->change_ms = t->changes->change_ms = now_ms; /* the table and its stream are ready at once */
  slp_ddb_settle(box, now_ms);
  slp_changes_settle(box, now_ms);
  return 0;
}
