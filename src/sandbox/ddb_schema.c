/* ddb_schema.c - reads keys, secondary indexes and throughput from CreateTable and UpdateTable. */
#include "base/mem.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#define INVALID "One or more parameter values were invalid: "
#define GLOBALS_MAX 20
#define LOCALS_MAX 5
#define SOME_MAX 100

typedef struct definition {
  slp_str name;
  slp_av_kind kind;
  uint8_t used;
} definition;

typedef struct schema {
  slp_box_call *c;
  slp_table *t;
  definition *v; /* the request's AttributeDefinitions; in the arena */
  uint32_t n;
} schema;

static int no_memory(schema *s) { return slp_box_no_memory(s->c); }

void slp_index_free(slp_box *box, slp_index *x) {
  slp_free(box->mem, x->name);
  for (uint8_t i = 0; i < 2; i++) slp_free(box->mem, x->part[i].name);
  for (uint32_t i = 0; i < x->some_n; i++) slp_free(box->mem, x->some[i]);
  slp_free(box->mem, x->some);
  *x = (slp_index){0};
}

slp_index *slp_index_find(slp_table *t, slp_str name) {
  for (uint32_t i = 1; i < t->indexes_n; i++) {
    if (slp_str_is(name, t->index[i].name)) return &t->index[i];
  }
  return NULL;
}

/* ---- attributes ------------------------------------------------------------------------------ */
static int read_definitions(schema *s) {
  uint32_t list;
  int bad = 0;
  if (slp_in_list(s->c, 0, "AttributeDefinitions", &list)) return -1;
  if (!list) return 0;
  s->v = slp_arena_get(slp_call_arena(s->c), (s->c->in->v[list].count + 1) * sizeof *s->v);
  if (!s->v) return no_memory(s);
  for (uint32_t i = s->c->in->v[list].child; i; i = s->c->in->v[i].next) {
    definition *d = &s->v[s->n++];
    d->name = slp_in_text(s->c, i, "AttributeName", &bad);
    slp_str type = slp_in_text(s->c, i, "AttributeType", &bad);
    if (bad) return -1;
    d->kind = slp_str_is(type, "S") ? SLP_AV_S : slp_str_is(type, "N") ? SLP_AV_N : SLP_AV_B;
    if (d->name.n < 1 || d->name.n > 255 || (d->kind == SLP_AV_B && !slp_str_is(type, "B"))) {
      return slp_refuse(
          s->c,
          "1 validation error detected: Value '%.*s' at 'attributeDefinitions.%u.member.attributeType' "
          "failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]",
          (int)slp_min_u64(type.n, 60), type.n ? type.p : "", (unsigned)s->n);
    }
  }
  return 0;
}

/* Finds the kind of a key attribute in the request, or else in the table: a request that adds an index need
 * not define the table's own keys again. */
static int kind_of(schema *s, slp_str name, slp_av_kind *ret) {
  for (uint32_t i = 0; i < s->n; i++) {
    if (!slp_str_eq(s->v[i].name, name)) continue;
    s->v[i].used = 1;
    *ret = s->v[i].kind;
    return 0;
  }
  for (uint32_t n = 0; n < s->t->indexes_n; n++) {
    for (uint8_t i = 0; i < s->t->index[n].parts_n; i++) {
      if (!slp_str_is(name, s->t->index[n].part[i].name)) continue;
      *ret = s->t->index[n].part[i].kind;
      return 0;
    }
  }
  return slp_refuse(s->c,
                    INVALID
                    "Some index key attributes are not defined in AttributeDefinitions. Keys: [%.*s], "
                    "AttributeDefinitions: []",
                    (int)slp_min_u64(name.n, 200), name.n ? name.p : "");
}

/* ---- keys ------------------------------------------------------------------------------------ */
static int read_key(schema *s, uint32_t node, slp_index *x) {
  static const char *const roles[] = {"HASH", "RANGE"};
  uint32_t list;
  int bad = 0;
  if (slp_in_list(s->c, node, "KeySchema", &list)) return -1;
  if (!list || s->c->in->v[list].count < 1 || s->c->in->v[list].count > 2) {
    return slp_refuse(
        s->c,
        "1 validation error detected: Value at 'keySchema' failed to satisfy constraint: Member "
        "must have length less than or equal to 2 and greater than or equal to 1");
  }
  for (uint32_t i = s->c->in->v[list].child; i; i = s->c->in->v[i].next) {
    slp_str name = slp_in_text(s->c, i, "AttributeName", &bad), role = slp_in_text(s->c, i, "KeyType", &bad);
    if (bad) return -1;
    if (!slp_str_is(role, roles[x->parts_n])) {
      return slp_refuse(s->c, "Invalid KeySchema: The %s KeySchemaElement is not a %s key type",
                        x->parts_n ? "second" : "first", roles[x->parts_n]);
    }
    if (x->parts_n && slp_str_is(name, x->part[0].name)) {
      return slp_refuse(s->c,
                        "Both the Hash Key and the Range Key element in the KeySchema have the same name");
    }
    slp_key_part *part = &x->part[x->parts_n];
    if (kind_of(s, name, &part->kind)) return -1;
    part->name = slp_strdup(s->c->box->mem, name);
    if (!part->name) return no_memory(s);
    x->parts_n++;
  }
  return 0;
}

static int read_projection(schema *s, uint32_t node, slp_index *x) {
  uint32_t map, list;
  int bad = 0;
  if (slp_in_map(s->c, node, "Projection", &map)) return -1;
  if (!map) return slp_refuse(s->c, INVALID "Indexes must have a projection specified");
  slp_str type = slp_in_text(s->c, map, "ProjectionType", &bad);
  if (bad || slp_in_list(s->c, map, "NonKeyAttributes", &list)) return -1;
  if (!type.p || slp_str_is(type, "ALL"))
    x->projection = SLP_PROJECT_ALL;
  else if (slp_str_is(type, "KEYS_ONLY"))
    x->projection = SLP_PROJECT_KEYS;
  else if (slp_str_is(type, "INCLUDE"))
    x->projection = SLP_PROJECT_SOME;
  else
    return slp_refuse(s->c, INVALID "Unknown ProjectionType: %.*s", (int)slp_min_u64(type.n, 60), type.p);
  uint32_t count = list ? s->c->in->v[list].count : 0;
  if ((x->projection == SLP_PROJECT_SOME) != (count > 0) || count > SOME_MAX) {
    return slp_refuse(s->c,
                      count ? INVALID "ProjectionType is %.*s, but NonKeyAttributes is specified"
                            : INVALID "ProjectionType is %.*s, but NonKeyAttributes is not specified",
                      (int)slp_min_u64(type.n, 60), type.n ? type.p : "");
  }
  if (count == 0) return 0;
  x->some = slp_zalloc_n(s->c->box->mem, count, sizeof *x->some);
  if (!x->some) return no_memory(s);
  for (uint32_t i = s->c->in->v[list].child; i; i = s->c->in->v[i].next) {
    if (s->c->in->v[i].kind != SLP_VALUE_TEXT) {
      return slp_box_fail(s->c, "SerializationException", "NonKeyAttributes holds texts only.");
    }
    x->some[x->some_n] = slp_strdup(s->c->box->mem, s->c->in->v[i].text);
    if (!x->some[x->some_n]) return no_memory(s);
    x->some_n++;
  }
  return 0;
}

/* ---- throughput --------------------------------------------------------------------------------- */
static int read_throughput(slp_box_call *c, uint32_t node, int on_demand, slp_index *x) {
  uint32_t map;
  if (slp_in_map(c, node, "ProvisionedThroughput", &map)) return -1;
  const slp_value *reads = map ? slp_in_get(c, map, "ReadCapacityUnits") : NULL;
  const slp_value *writes = map ? slp_in_get(c, map, "WriteCapacityUnits") : NULL;
  if (on_demand && map) {
    return slp_refuse(c, INVALID
                      "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
                      "PAY_PER_REQUEST");
  }
  if (on_demand) return 0;
  if (!reads || !writes) {
    return slp_refuse(c, INVALID
                      "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
                      "PROVISIONED");
  }
  if (reads->kind != SLP_VALUE_INT || writes->kind != SLP_VALUE_INT) {
    return slp_box_fail(c, "SerializationException", "Capacity units are whole numbers.");
  }
  if (reads->i < 1 || writes->i < 1 || reads->i > INT32_MAX || writes->i > INT32_MAX) {
    return slp_refuse(
        c,
        "1 validation error detected: Value '%lld' at 'provisionedThroughput.%s' failed to satisfy "
        "constraint: Member must have value greater than or equal to 1",
        (long long)(reads->i < 1 ? reads->i : writes->i),
        reads->i < 1 ? "readCapacityUnits" : "writeCapacityUnits");
  }
  slp_bucket_set(&x->reads, c->now_ms, reads->i);
  slp_bucket_set(&x->writes, c->now_ms, writes->i);
  return 0;
}

static int read_mode(slp_box_call *c, slp_table *t) {
  slp_str mode = slp_box_text(c, "BillingMode");
  if (mode.p) t->on_demand = slp_str_is(mode, "PAY_PER_REQUEST");
  return 0;
}

/* ---- indexes ------------------------------------------------------------------------------------ */
static int plain_name(slp_str name) {
  return name.n >= 3 && name.n <= 255 && slp_box_name_valid((slp_str){name.p, slp_min_u64(name.n, 128)}) &&
         (name.n <= 128 || slp_box_name_valid((slp_str){name.p + 128, name.n - 128}));
}

/* Reads a secondary index into t->index[t->indexes_n]. */
static int read_index(schema *s, uint32_t node, int local) {
  slp_table *t = s->t;
  slp_index *x = &t->index[t->indexes_n];
  int bad = 0;
  if (s->c->in->v[node].kind != SLP_VALUE_MAP) {
    return slp_box_fail(s->c, "SerializationException", "An index must be a map.");
  }
  slp_str name = slp_in_text(s->c, node, "IndexName", &bad);
  if (bad) return -1;
  if (!plain_name(name)) {
    return slp_refuse(
        s->c,
        "Invalid table/index name.  Table/index names must be between 3 and 255 characters long, "
        "and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'");
  }
  if (slp_index_find(t, name)) {
    return slp_refuse(s->c, INVALID "Duplicate index name: %.*s", (int)name.n, name.p);
  }
  *x = (slp_index){.local = (uint8_t)local, .name = slp_strdup(s->c->box->mem, name)};
  int r = x->name ? 0 : no_memory(s);
  if (!r) r = read_key(s, node, x);
  if (!r) r = read_projection(s, node, x);
  if (!r && !local) r = read_throughput(s->c, node, t->on_demand, x);
  if (!r && local && (x->parts_n != 2 || strcmp(x->part[0].name, t->index[0].part[0].name) != 0)) {
    r = slp_refuse(s->c,
                   INVALID
                   "Index KeySchema does not have the same leading hash key as table KeySchema for index: "
                   "%s. A local index has that and a range key",
                   x->name);
  }
  if (r)
    slp_index_free(s->c->box, x);
  else
    t->indexes_n++;
  return r;
}

static int read_indexes(schema *s, const char *member, int local, uint32_t most) {
  uint32_t list;
  if (slp_in_list(s->c, 0, member, &list)) return -1;
  if (!list) return 0;
  if (s->c->in->v[list].count == 0 || s->c->in->v[list].count > most) {
    return slp_refuse(s->c, INVALID "%s count must be between 1 and %u", member, (unsigned)most);
  }
  if (local && s->t->index[0].parts_n < 2) {
    return slp_refuse(s->c, INVALID
                      "Table KeySchema does not have a range key, which is required when specifying a "
                      "LocalSecondaryIndex");
  }
  for (uint32_t i = s->c->in->v[list].child; i; i = s->c->in->v[i].next) {
    if (read_index(s, i, local)) return -1;
  }
  return 0;
}

/* ---- whole tables ------------------------------------------------------------------------------- */
int slp_schema_read(slp_box_call *c, slp_table *t) {
  schema s = {.c = c, .t = t};
  read_mode(c, t);
  if (read_definitions(&s)) return -1;
  if (read_key(&s, 0, &t->index[0])) return -1;
  t->indexes_n = 1;
  if (read_throughput(c, 0, t->on_demand, &t->index[0])) return -1;
  if (read_indexes(&s, "LocalSecondaryIndexes", 1, LOCALS_MAX)) return -1;
  if (read_indexes(&s, "GlobalSecondaryIndexes", 0, GLOBALS_MAX)) return -1;
  for (uint32_t i = 0; i < s.n; i++) {
    if (s.v[i].used) continue;
    if (t->indexes_n == 1) {
      return slp_refuse(c, INVALID
                        "Number of attributes in KeySchema does not exactly match number of attributes "
                        "defined in AttributeDefinitions");
    }
    return slp_refuse(
        c, INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [%.*s], keys used: []",
        (int)slp_min_u64(s.v[i].name.n, 200), s.v[i].name.p);
  }
  return 0;
}

int slp_schema_billing(slp_box_call *c, slp_table *t) {
  slp_str mode = slp_box_text(c, "BillingMode");
  int has = slp_in_get(c, 0, "ProvisionedThroughput") != NULL;
  if (!mode.p && !has) return 1;
  slp_table changed = *t;
  read_mode(c, &changed);
  if (read_throughput(c, 0, changed.on_demand, &changed.index[0])) return -1;
  t->on_demand = changed.on_demand;
  t->index[0].reads = changed.index[0].reads;
  t->index[0].writes = changed.index[0].writes;
  return 0;
}

static int one_global(schema *s, uint32_t node) {
  uint32_t create, update, gone;
  int bad = 0;
  slp_box_call *c = s->c;
  if (slp_in_map(c, node, "Create", &create) || slp_in_map(c, node, "Update", &update) ||
      slp_in_map(c, node, "Delete", &gone))
    return -1;
  if (create) {
    if (s->t->indexes_n == SLP_DDB_INDEXES)
      return slp_refuse(c, INVALID "GlobalSecondaryIndex count exceeds the limit");
    if (read_index(s, create, 0)) return -1;
    s->t->index[s->t->indexes_n - 1].creating = 1;
    return 0;
  }
  if (!update && !gone)
    return slp_refuse(c, INVALID "One of Create, Update and Delete must be given for an index");
  slp_str name = slp_in_text(c, update ? update : gone, "IndexName", &bad);
  slp_index *x = bad ? NULL : slp_index_find(s->t, name);
  if (bad) return -1;
  if (!x || x->local) {
    return slp_box_fail(c, "ResourceNotFoundException", "Requested resource not found");
  }
  if (update) return read_throughput(c, update, s->t->on_demand, x);
  slp_index_free(c->box, x);
  slp_index *end = &s->t->index[--s->t->indexes_n];
  memmove(x, x + 1, (size_t)(end - x) * sizeof *x);
  *end = (slp_index){0};
  return 0;
}

int slp_schema_globals(slp_box_call *c, slp_table *t) {
  schema s = {.c = c, .t = t};
  uint32_t list;
  if (slp_in_list(c, 0, "GlobalSecondaryIndexUpdates", &list)) return -1;
  if (!list || c->in->v[list].count == 0) return 1;
  if (c->in->v[list].count > 1) { /* the service creates or deletes one index at a time */
    return slp_box_fail(
        c, "LimitExceededException",
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per "
        "table");
  }
  if (read_definitions(&s)) return -1;
  return one_global(&s, c->in->v[list].child);
}
