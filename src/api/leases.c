/* leases.c - opens the store and schema of a consumer's leases. */
#include "api/leases.h"

#include "api/open.h"
#include "lease/common_name.h"
#include "store/dynamo.h"
#include "store/memory.h"
#include "store/schemas.h"
#include "store/several.h"
#include "store/sqlite.h"

#include <stdio.h>

/* ---- options ------------------------------------------------------------------------------------------ */

static int bad(char why[160], const char *fmt, const char *text) {
  snprintf(why, 160, fmt, text);
  return SLOOP_EOPTION;
}

/* The rules are DynamoDB's. */
static int is_table_name(const char *s) {
  size_t n = strlen(s);
  if (n < 3 || n > 255) return 0;
  for (size_t i = 0; i < n; i++) {
    char c = s[i];
    int fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-' || c == '.';
    if (!fine) return 0;
  }
  return 1;
}

static const char *behind(const char *s, const char *start) {
  size_t n = strlen(start);
  return strncmp(s, start, n) == 0 ? s + n : NULL;
}

static const struct {
  const char *name;
  uint8_t own_table;  /* its rows do not name their application: it has a table of its own, by its name */
  uint8_t one_stream; /* nor do they name their stream */
  uint32_t lease_ms;  /* kinsumer: five of its check periods, of a minute by default */
} layouts[] = {
    [SLP_LAYOUT_SLOOP] = {"sloop", 0, 0, 10000},          [SLP_LAYOUT_KCL] = {"kcl", 1, 0, 10000},
    [SLP_LAYOUT_VMWARE] = {"vmware-go-kcl", 1, 1, 10000}, [SLP_LAYOUT_KINSUMER] = {"kinsumer", 1, 1, 300000},
    [SLP_LAYOUT_MOTORWAY] = {"motorway", 1, 1, 10000},    [SLP_LAYOUT_KCL_RB] = {"kcl-rb", 1, 1, 10000},
};

uint32_t slp_lease_ms_of(const char *schema) {
  for (size_t i = 0; schema && i < SLP_COUNT(layouts); i++)
    if (strcmp(layouts[i].name, schema) == 0) return layouts[i].lease_ms;
  return layouts[SLP_LAYOUT_SLOOP].lease_ms;
}

static int read_layout(const char *name, slp_lease_layout *ret, char why[160]) {
  char names[100] = "";
  size_t at = 0, i = 0;
  while (name && i < SLP_COUNT(layouts) && strcmp(layouts[i].name, name) != 0) i++;
  *ret = (slp_lease_layout)i;
  if (i < SLP_COUNT(layouts)) return 0;
  for (i = 0; i < SLP_COUNT(layouts); i++)
    at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", layouts[i].name);
  snprintf(why, 160, "schema: %.40s is not one of %s", name, names);
  return SLOOP_EOPTION;
}

static int read_dynamodb(const sloop_opts_t *o, const char *table, slp_lease_place *ret, char why[160]) {
  ret->store = SLP_LEASES_DYNAMODB;
  ret->name = table ? table : layouts[ret->layout].own_table ? o->app : "sloop";
  ret->coordinator = o->kcl_coordinator;
  ret->metrics = o->kcl_metrics;
  if (ret->coordinator && !is_table_name(ret->coordinator))
    return bad(why, "kcl_coordinator: %.80s can't be the name of a table", ret->coordinator);
  if (ret->metrics && !is_table_name(ret->metrics))
    return bad(why, "kcl_metrics: %.80s can't be the name of a table", ret->metrics);
  if (is_table_name(ret->name)) return 0;
  return bad(why, "store: %.80s can't be the name of a table: 3 to 255 letters, digits, and _ - .",
             ret->name);
}

int slp_lease_place_read(const sloop_opts_t *o, slp_lease_place *ret, char why[160]) {
  const char *store = o->store ? o->store : "dynamodb", *rest;
  *ret = (slp_lease_place){.name = ""};
  int r = read_layout(o->schema, &ret->layout, why);
  if (r) return r;
  if (strcmp(store, "dynamodb") == 0) return read_dynamodb(o, NULL, ret, why);
  if ((rest = behind(store, "dynamodb:"))) return read_dynamodb(o, rest, ret, why);
  if (strcmp(store, "memory") == 0) {
    ret->store = SLP_LEASES_MEMORY;
    return 0;
  }
  rest = behind(store, "sqlite:");
  if (!rest) return bad(why, "store: %.60s is none of dynamodb, dynamodb:TABLE, sqlite:FILE, memory", store);
  if (!*rest) return bad(why, "store: sqlite: names no file%s", "");
  if (!slp_sqlite_there()) return bad(why, "store: %.60s: this build has no SQLite", store);
  ret->store = SLP_LEASES_SQLITE;
  ret->name = rest;
  return 0;
}

/* ---- opening ------------------------------------------------------------------------------------------ */

static int is_of_table(const slp_src_describe *d) {
  return strncmp(d->arn, "arn:", 4) == 0 && strstr(d->arn, ":dynamodb:") != NULL;
}

/* Tells a stream from one made later under the same name. */
static slp_str generation_of(const slp_src_describe *d, char text[32]) {
  static const char mark[] = "/stream/";
  const char *label = strstr(d->arn, mark);
  if (label && is_of_table(d)) return slp_str_of(label + sizeof mark - 1);
  int n = snprintf(text, 32, "%lld", (long long)(d->created_ms < 0 ? 0 : d->created_ms / 1000));
  return (slp_str){text, (size_t)n};
}

/* The n-th part of arn:PARTITION:SERVICE:REGION:ACCOUNT:..., from 0; `otherwise` where there is none. */
static slp_str arn_part(const slp_src_describe *d, int n, const char *otherwise) {
  const char *at = d->arn;
  for (int colons = 0; at && colons < n; colons++) {
    at = strchr(at, ':');
    if (at) at++;
  }
  const char *end = at ? strchr(at, ':') : NULL;
  return end && end > at ? (slp_str){at, slp_min_u64((size_t)(end - at), 64)} : slp_str_of(otherwise);
}
#define ARN_REGION 3
#define ARN_ACCOUNT 4

/* How rows of the KCL name a stream: ACCOUNT:NAME:EPOCH (project amazon-kinesis-client: StreamIdentifier). */
static slp_str kcl_name(const slp_src_describe *d, slp_str generation, char text[400]) {
  slp_str account = arn_part(d, ARN_ACCOUNT, "000000000000");
  int n = snprintf(text, 400, "%.*s:%s:%.*s", (int)account.n, account.p, d->name, (int)generation.n,
                   generation.p);
  return (slp_str){text, (size_t)n};
}

/* How its adapter for DynamoDB Streams does (project dynamodb-streams-kinesis-adapter): the stream's name
 * there is REGION$ACCOUNT$TABLE$LABEL, the label with _ for :, and every epoch is 1. Empty: a Kinesis
 * stream. */
static slp_str kcl_alias(const slp_src_describe *d, slp_str generation, char text[700]) {
  slp_str account = arn_part(d, ARN_ACCOUNT, "000000000000"), region = arn_part(d, ARN_REGION, "");
  text[0] = 0;
  if (!strstr(d->arn, ":dynamodb:")) return slp_str_of(text);
  int n = snprintf(text, 700, "%.*s:%.*s$%.*s$%s$%.*s:1", (int)account.n, account.p, (int)region.n, region.p,
                   (int)account.n, account.p, d->name, (int)generation.n, generation.p);
  for (int i = n - 2 - (int)generation.n; i < n - 2; i++)
    if (text[i] == ':') text[i] = '_';
  return (slp_str){text, (size_t)n};
}

static slp_schema *kcl_of(slp_mem *mem, const slp_src_describe *d, slp_str generation, int several,
                          int64_t start_ms) {
  char name_text[400], alias_text[700];
  slp_str name = kcl_name(d, generation, name_text), none = {NULL, 0};
  slp_schema *s = slp_schema_kcl(mem, several ? name : none, start_ms);
  if (!s || slp_schema_kcl_named(s, name, kcl_alias(d, generation, alias_text)) == 0) return s;
  s->free(s);
  return NULL;
}

/* KCL 3 may have tables beside that of the leases, named by the application. */
static int name_tables_beside(const sloop_opts_t *o, const slp_lease_place *place, slp_schema *schema) {
  char coordinator[300], metrics[300];
  if (place->layout != SLP_LAYOUT_KCL || place->store != SLP_LEASES_DYNAMODB) return 0;
  snprintf(coordinator, sizeof coordinator, "%.255s-CoordinatorState", o->app);
  snprintf(metrics, sizeof metrics, "%.255s-WorkerMetricStats", o->app);
  return slp_schema_kcl_beside(schema, place->coordinator ? place->coordinator : coordinator,
                               place->metrics ? place->metrics : metrics);
}

static const char *table_of(const sloop_opts_t *o, const slp_lease_place *place) {
  if (place->store == SLP_LEASES_DYNAMODB) return place->name;
  return layouts[place->layout].own_table ? o->app : "leases";
}

static slp_schema *layout_of(const sloop_t *s, const sloop_opts_t *o, const slp_lease_place *place,
                             int several, const slp_src_describe *d) {
  char text[32];
  slp_str generation = generation_of(d, text);
  slp_position start = slp_position_of(&s->o.start);
  switch (place->layout) {
    case SLP_LAYOUT_KCL:
      return kcl_of(s->mem, d, generation, several, start.kind == SLP_POSITION_TIME ? start.at_ms : 0);
    case SLP_LAYOUT_VMWARE: return slp_schema_vmware(s->mem, &start);
    case SLP_LAYOUT_KINSUMER: return slp_schema_kinsumer(s->mem, table_of(o, place), s->o.lease_ms);
    case SLP_LAYOUT_MOTORWAY: return slp_schema_motorway(s->mem, &start);
    case SLP_LAYOUT_KCL_RB: return slp_schema_kcl_rb(s->mem);
    case SLP_LAYOUT_SLOOP: break;
  }
  slp_schema *own = slp_schema_sloop(s->mem, slp_str_of(o->app), slp_str_of(d->name), generation);
  uint32_t block = s->family->outside.leases_a_key;
  if (!own || place->store != SLP_LEASES_DYNAMODB || block == SLP_ONE_KEY) return own;
  if (!block && is_of_table(d))
    slp_schema_sloop_spreads_by_hash(own);
  else
    slp_schema_sloop_spreads(own, block);
  return own;
}

static int one_store_of(sloop_t *s, const slp_lease_place *place, const slp_table_spec *spec,
                        slp_store **ret) {
  slp_family *f = s->family;
  const slp_outside *out = &f->outside;
  if (out->store) return out->store(out->ctx, f->host, spec, ret);
  switch (place->store) {
    case SLP_LEASES_DYNAMODB: return slp_dynamo_store(ret, f->host, f->aws, spec);
    case SLP_LEASES_SQLITE: return slp_sqlite_store(ret, f->host, place->name, spec);
    case SLP_LEASES_MEMORY:
      if (!f->memory) f->memory = slp_memory_new(f->mem);
      return f->memory ? slp_memory_store(ret, f->memory, f->host, spec) : SLP_ENOMEM;
  }
  return SLP_EINVAL;
}

static int store_of(sloop_t *s, const slp_lease_place *place, slp_schema *schema, const slp_table_spec *spec,
                    slp_store **ret) {
  slp_store *stores[SLP_SEVERAL_MAX];
  slp_table_spec specs[SLP_SEVERAL_MAX] = {*spec};
  uint8_t n = 1;
  while (n < SLP_SEVERAL_MAX && schema->side_table && schema->side_table(schema, n, &specs[n])) n++;
  for (uint8_t i = 0; i < n; i++) {
    int r = one_store_of(s, place, &specs[i], &stores[i]);
    if (!r) continue;
    while (i--) stores[i]->ops->close(stores[i]);
    return r;
  }
  if (n > 1) return slp_several_store(ret, s->mem, s->family->host, stores, specs, n);
  *ret = stores[0];
  return 0;
}

int slp_leases_open_at(sloop_t *s, const sloop_opts_t *o, int several, const slp_src_describe *d,
                       slp_store **ret_store, slp_schema **ret_schema, slp_fail *f) {
  slp_lease_place place;
  char why[160] = "";
  *ret_store = NULL;
  *ret_schema = NULL;
  int r = slp_lease_place_read(o, &place, why);
  if (r) return slp_fail_set(f, SLP_REFUSED, r, "%s", why);
  if (layouts[place.layout].one_stream && several)
    return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION,
                        "rows of schema %s do not name their stream: an application reads one",
                        layouts[place.layout].name);
  slp_schema *schema = layout_of(s, o, &place, several, d);
  if (!schema) return slp_fail_set(f, SLP_NOMEM, SLP_ENOMEM, "no memory for the leases");
  schema->number_digits_min = s->consumer->source->number_digits_min;
  slp_table_spec spec;
  schema->table(schema, table_of(o, &place), &spec);
  r = name_tables_beside(o, &place, schema);
  if (!r) r = store_of(s, &place, schema, &spec, ret_store);
  if (r) {
    schema->free(schema);
    return slp_fail_set(f, r == SLP_ENOMEM ? SLP_NOMEM : SLP_REFUSED, r, "the lease store can't be opened");
  }
  *ret_schema = schema;
  return 0;
}

int slp_leases_open(sloop_t *s, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
                    slp_fail *f) {
  return slp_leases_open_at(s, &s->o, s->family->several, d, ret_store, ret_schema, f);
}

static int open_for(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
                    slp_fail *f) {
  return slp_leases_open(ctx, d, ret_store, ret_schema, f);
}

/* ---- wiring ------------------------------------------------------------------------------------------- */

/* HOST-PID-RANDOM; a long host name loses its end. */
static slp_str invent_worker(sloop_t *s, const char *machine, uint32_t pid,
                             char text[SLP_WORKER_ID_MAX + 1]) {
  char host[33];
  size_t n = 0;
  for (; machine[n] && n + 1 < sizeof host; n++) {
    unsigned char c = (unsigned char)machine[n];
    host[n] = (char)(c <= ' ' || c == '/' || c >= 127 ? '_' : c);
  }
  host[n] = 0;
  int len = snprintf(text, SLP_WORKER_ID_MAX + 1, "%s-%u-%06x", host, (unsigned)pid,
                     (unsigned)slp_random_below(s->family->host, 1u << 24));
  return (slp_str){text, (size_t)len};
}

int slp_leases_wire(sloop_t *s) {
  char machine[65], id[SLP_WORKER_ID_MAX + 1];
  uint32_t pid;
  slp_host_where(s->family->host, machine, &pid);
  slp_leased_opts o = {.open = open_for,
                       .ctx = s,
                       .worker = s->o.worker ? slp_str_of(s->o.worker) : invent_worker(s, machine, pid, id),
                       .machine = slp_str_of(machine),
                       .start = slp_position_of(&s->o.start)};
  slp_lease_place place;
  char why[160];
  if (slp_lease_place_read(&s->o, &place, why) == 0 && place.layout == SLP_LAYOUT_KCL) {
    o.name = slp_common_name_of(&s->family->names, s->family->mem, slp_str_of(table_of(&s->o, &place)),
                                slp_str_of(s->o.worker));
    if (!o.name) return SLP_ENOMEM;
  }
  int r = slp_leased_make(s->consumer, &o);
  if (r) slp_common_name_drop(o.name);
  return r;
}

/* ---- for users ---------------------------------------------------------------------------------------- */

int sloop_checkpoint(sloop_t *s, const char *shard, sloop_cb cb, void *arg) {
  return s->closing ? SLOOP_ESTATE : slp_leased_save(s->consumer, shard, cb, arg);
}

int sloop_checkpoint_at(sloop_t *s, const char *shard, const sloop_position_t *to, sloop_cb cb, void *arg) {
  if (s->closing) return SLOOP_ESTATE;
  if (!shard || !to || (to->kind != SLOOP_AFTER_SEQ && to->kind != SLOOP_AT_END)) return SLOOP_EOPTION;
  if (to->kind == SLOOP_AFTER_SEQ &&
      (!to->seq || !slp_seq_fit(slp_str_of(to->seq)).n || to->sub > UINT32_MAX))
    return SLOOP_EOPTION;
  slp_position at = slp_position_of(to);
  return slp_leased_name(s->consumer, shard, &at, cb, arg);
}

int sloop_rewind(sloop_t *s, const char *shard) {
  if (s->closing) return SLOOP_ESTATE;
  return shard ? slp_leased_rewind(s->consumer, shard) : SLOOP_ENOSHARD;
}

int sloop_hand_over(sloop_t *s, const char *shard) {
  if (s->closing) return SLOOP_ESTATE;
  return shard ? slp_leased_hand_over(s->consumer, shard) : SLOOP_ENOSHARD;
}

const char *sloop_worker(const sloop_t *s) { return s->consumer ? slp_leased_instance(s->consumer) : ""; }
