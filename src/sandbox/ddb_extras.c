/* ddb_extras.c - tags and continuous backups of tables. Backups can be described and switched on, but nothing
 * can be restored. Follows the API reference of DynamoDB, "TagResource", "UpdateContinuousBackups". */
#include "base/mem.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#define TAGS_MAX 50
#define RECOVERY_DAYS 35
/* the latest time to which a table could be restored is this long ago */
#define RECOVERY_LAG_MS INT64_C(300000)

struct slp_table_tag {
  char *key, *value; /* owned */
};

/* ---- tags ------------------------------------------------------------------------------------------- */
static void tag_free(slp_box *box, slp_table_tag *tag) {
  slp_free(box->mem, tag->key);
  slp_free(box->mem, tag->value);
  *tag = (slp_table_tag){NULL, NULL};
}

void slp_table_tags_free(slp_box *box, slp_table *t) {
  for (uint32_t i = 0; i < t->tags_n; i++) tag_free(box, &t->tags[i]);
  slp_free(box->mem, t->tags);
  t->tags = NULL;
  t->tags_n = 0;
}

static slp_table_tag *tag_find(slp_table *t, slp_str key) {
  for (uint32_t i = 0; i < t->tags_n; i++) {
    if (slp_str_is(key, t->tags[i].key)) return &t->tags[i];
  }
  return NULL;
}

static int set_tag(slp_box_call *c, slp_table *t, slp_str key, slp_str value) {
  slp_box *box = c->box;
  slp_table_tag made = {slp_strdup(box->mem, key), slp_strdup(box->mem, value)}, *tag = tag_find(t, key);
  if (!made.key || !made.value) {
    tag_free(box, &made);
    return slp_box_no_memory(c);
  }
  if (tag) {
    tag_free(box, tag);
    *tag = made;
    return 0;
  }
  if (t->tags_n == TAGS_MAX) {
    tag_free(box, &made);
    return slp_refuse(c, "One or more parameter values were invalid: Too many tags: at most %d", TAGS_MAX);
  }
  slp_table_tag *tags = slp_realloc(box->mem, t->tags, (t->tags_n + 1) * sizeof *tags);
  if (!tags) {
    tag_free(box, &made);
    return slp_box_no_memory(c);
  }
  t->tags = tags;
  t->tags[t->tags_n++] = made;
  return 0;
}

int slp_table_tags_read(slp_box_call *c, slp_table *t) {
  uint32_t list;
  int bad = 0;
  if (slp_in_list(c, 0, "Tags", &list)) return -1;
  for (uint32_t i = list ? c->in->v[list].child : 0; i; i = c->in->v[i].next) {
    if (c->in->v[i].kind != SLP_VALUE_MAP) return slp_refuse(c, "A tag is an object with Key and Value");
    slp_str key = slp_in_text(c, i, "Key", &bad), value = slp_in_text(c, i, "Value", &bad);
    if (bad) return -1;
    if (key.n < 1 || key.n > 128 || !value.p || value.n > 256) {
      return slp_refuse(c,
                        "One or more parameter values were invalid: a tag's Key has 1 to 128 characters, its "
                        "Value at most 256");
    }
    if (set_tag(c, t, key, value)) return -1;
  }
  return 0;
}

static slp_table *find_tagged_table(slp_box_call *c) {
  slp_str arn = slp_box_text(c, "ResourceArn");
  slp_table *t = slp_table_find(c->box, slp_table_bare_name(arn));
  if (t && arn.n > 4 && memcmp(arn.p, "arn:", 4) == 0) return t;
  slp_box_fail(c, "ResourceNotFoundException", "Requested resource not found: ResourceArn: %.*s not found",
               (int)slp_min_u64(arn.n, 300), arn.n ? arn.p : "");
  return NULL;
}

/* The answers of TagResource and UntagResource are empty. */
int slp_table_op_tag(slp_box_call *c) {
  slp_table *t = find_tagged_table(c);
  return t ? slp_table_tags_read(c, t) : -1;
}

int slp_table_op_untag(slp_box_call *c) {
  slp_table *t = find_tagged_table(c);
  uint32_t list;
  if (!t || slp_in_list(c, 0, "TagKeys", &list)) return -1;
  for (uint32_t i = list ? c->in->v[list].child : 0; i; i = c->in->v[i].next) {
    slp_table_tag *tag = tag_find(t, c->in->v[i].text);
    if (!tag) continue;
    tag_free(c->box, tag);
    *tag = t->tags[--t->tags_n];
  }
  return 0;
}

int slp_table_op_list_tags(slp_box_call *c) {
  slp_table *t = find_tagged_table(c);
  if (!t) return -1;
  slp_out_map(&c->out);
  slp_out_key(&c->out, "Tags");
  slp_out_list(&c->out);
  for (uint32_t i = 0; i < t->tags_n; i++) {
    slp_out_map(&c->out);
    slp_out_put_z(&c->out, "Key", t->tags[i].key);
    slp_out_put_z(&c->out, "Value", t->tags[i].value);
    slp_out_end(&c->out);
  }
  slp_out_end(&c->out);
  slp_out_end(&c->out);
  return 0;
}

/* ---- continuous backups ------------------------------------------------------------------------------ */
static slp_table *backed_up(slp_box_call *c) {
  slp_str name = slp_table_bare_name(slp_box_text(c, "TableName"));
  slp_table *t = slp_table_find(c->box, name);
  if (t && t->status != SLP_BOX_CREATING && t->status != SLP_BOX_DELETING) return t;
  slp_box_fail(c, "TableNotFoundException", "Table not found: %.*s", (int)slp_min_u64(name.n, 300),
               name.n ? name.p : "");
  return NULL;
}

static int put_backup_description(slp_box_call *c, const slp_table *t) {
  slp_box_out *o = &c->out;
  slp_out_map(o);
  slp_out_key(o, "ContinuousBackupsDescription");
  slp_out_map(o);
  slp_out_put_z(o, "ContinuousBackupsStatus", "ENABLED"); /* the service says ENABLED for every table */
  slp_out_key(o, "PointInTimeRecoveryDescription");
  slp_out_map(o);
  slp_out_put_z(o, "PointInTimeRecoveryStatus", t->recovery_from_ms ? "ENABLED" : "DISABLED");
  if (t->recovery_from_ms) {
    slp_out_put_i64(o, "RecoveryPeriodInDays", t->recovery_days);
    slp_out_key(o, "EarliestRestorableDateTime");
    slp_out_time(o, t->recovery_from_ms);
    slp_out_key(o, "LatestRestorableDateTime");
    slp_out_time(o, slp_max_i64(t->recovery_from_ms, c->now_ms - RECOVERY_LAG_MS));
  }
  slp_out_end(o);
  slp_out_end(o);
  slp_out_end(o);
  return 0;
}

int slp_table_op_describe_backups(slp_box_call *c) {
  const slp_table *t = backed_up(c);
  return t ? put_backup_description(c, t) : -1;
}

int slp_table_op_backups(slp_box_call *c) {
  slp_table *t = backed_up(c);
  uint32_t spec;
  if (!t || slp_in_map(c, 0, "PointInTimeRecoverySpecification", &spec)) return -1;
  const slp_value *days = slp_in_get(c, spec, "RecoveryPeriodInDays");
  if (days && (days->kind != SLP_VALUE_INT || days->i < 1 || days->i > RECOVERY_DAYS)) {
    return slp_refuse(c, "RecoveryPeriodInDays must be a number from 1 to %d", RECOVERY_DAYS);
  }
  int on = slp_in_flag(c, spec, "PointInTimeRecoveryEnabled");
  if (!on && days)
    return slp_refuse(c, "RecoveryPeriodInDays is only valid when point in time recovery is on");
  if (on && !t->recovery_from_ms) t->recovery_from_ms = c->now_ms;
  if (!on) t->recovery_from_ms = 0;
  t->recovery_days = days ? (uint8_t)days->i : RECOVERY_DAYS;
  return put_backup_description(c, t);
}
