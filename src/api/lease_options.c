/* lease_options.c - opens the store and the schema of a consumer's leases. */
#include "api/lease_options.h"

#include "api/open.h"
#include "base/fail.h"
#include "core/consumer_inside.h"
#include "core/mark.h"
#include "core/position.h"
#include "core/source.h"
#include "guest/common_name.h"
#include "guest/layouts.h"
#include "guest/multi_table.h"
#include "host/host.h"
#include "lease/leased_consumer.h"
#include "lease/schema.h"
#include "lease/store.h"
#include "store/dynamo.h"
#include "store/memory.h"
#include "store/sqlite.h"
#include "store/sqlite_none.h"

#include <sloop.h>
#include <stdio.h>

/* ---- options ------------------------------------------------------------------------------------------ */

static int refuse_lease_option(char why[160], const char *fmt, const char *text) {
  snprintf(why, 160, fmt, text);
  return SLOOP_EOPTION;
}

/* Returns 1 if s is a table name by DynamoDB's rules. */
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

/* Returns the part of s after `start`; NULL: s does not begin with `start`. */
static const char *behind(const char *s, const char *start) {
  size_t n = strlen(start);
  return strncmp(s, start, n) == 0 ? s + n : NULL;
}

static int read_layout(const char *name, const slp_layout **ret, char why[160]) {
  char names[100] = "";
  size_t at = 0, i = 0;
  if ((*ret = slp_layout_of(name))) return 0;
  for (const slp_layout *l; (l = slp_layout_at_place(i)); i++)
    at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", l->name);
  snprintf(why, 160, "schema: %.36s is not one of %s", name, names);
  return SLOOP_EOPTION;
}

static int read_dynamodb(const sloop_opts_t *o, const char *table, slp_lease_place *ret, char why[160]) {
  ret->store = SLP_LEASES_DYNAMODB;
  ret->name = table ? table : ret->layout->own_table ? o->app : ret->layout->name;
  ret->coordinator = o->kcl_coordinator;
  ret->metrics = o->kcl_metrics;
  if (ret->coordinator && !is_table_name(ret->coordinator))
    return refuse_lease_option(why, "kcl_coordinator: %.80s can't be the name of a table", ret->coordinator);
  if (ret->metrics && !is_table_name(ret->metrics))
    return refuse_lease_option(why, "kcl_metrics: %.80s can't be the name of a table", ret->metrics);
  if (is_table_name(ret->name)) return 0;
  return refuse_lease_option(
      why, "store: %.80s can't be the name of a table: 3 to 255 letters, digits, and _ - .", ret->name);
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
  if (!rest)
    return refuse_lease_option(why, "store: %.60s is none of dynamodb, dynamodb:TABLE, sqlite:FILE, memory",
                               store);
  if (!*rest) return refuse_lease_option(why, "store: sqlite: names no file%s", "");
  if (!slp_sqlite_there()) return refuse_lease_option(why, "store: %.50s: " SLP_SQLITE_NONE, store);
  ret->store = SLP_LEASES_SQLITE;
  ret->name = rest;
  return 0;
}

/* ---- opening ------------------------------------------------------------------------------------------ */

static const char *table_of(const sloop_opts_t *o, const slp_lease_place *place) {
  if (place->store == SLP_LEASES_DYNAMODB) return place->name;
  return place->layout->own_table ? o->app : "leases";
}

static slp_schema *schema_of(const sloop_t *s, const sloop_opts_t *o, const slp_lease_place *place,
                             int several, const slp_src_describe *d) {
  uint32_t leases_a_key = s->family->outside.leases_a_key;
  slp_position start = slp_position_of(&s->o.start);
  slp_layout_at at = {.mem = s->mem,
                      .app = o->app,
                      .table = table_of(o, place),
                      .stream = d,
                      .several = several,
                      .in_dynamodb = place->store == SLP_LEASES_DYNAMODB,
                      .start = &start,
                      .lease_ms = s->o.lease_ms,
                      .one_key = leases_a_key == SLP_ONE_KEY,
                      .leases_a_key = leases_a_key,
                      .coordinator = place->coordinator,
                      .metrics = place->metrics};
  return place->layout->open(&at);
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
    specs[i].whose = slp_layouts_of_keys;
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
  if (place.layout->one_stream && several)
    return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION,
                        "rows of schema %s do not name their stream: an application reads only one",
                        place.layout->name);
  slp_schema *schema = schema_of(s, o, &place, several, d);
  if (!schema) return slp_fail_set(f, SLP_NOMEM, SLP_ENOMEM, "no memory for the leases");
  schema->number_digits_min = s->consumer->source->number_digits_min;
  slp_table_spec spec;
  schema->table(schema, table_of(o, &place), &spec);
  r = store_of(s, &place, schema, &spec, ret_store);
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

/* Makes a name for the worker: HOST-PID-RANDOM. A long host name is cut off at its end. */
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

static void drop_name(void *name) { slp_common_name_drop(name); }

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
  if (slp_lease_place_read(&s->o, &place, why) == 0 && place.layout->common_name) {
    o.guest = slp_common_name_of(&s->family->names, s->family->mem, slp_str_of(table_of(&s->o, &place)),
                                 slp_str_of(s->o.worker));
    o.guest_drop = drop_name;
    if (!o.guest) return SLP_ENOMEM;
  }
  int r = slp_leased_make(s->consumer, &o);
  if (r) slp_common_name_drop(o.guest);
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

int sloop_seek_checkpoint(sloop_t *s, const char *shard) {
  if (s->closing) return SLOOP_ESTATE;
  return shard ? slp_leased_rewind(s->consumer, shard) : SLOOP_ENOSHARD;
}

int sloop_handover(sloop_t *s, const char *shard) {
  if (s->closing) return SLOOP_ESTATE;
  return shard ? slp_leased_hand_over(s->consumer, shard) : SLOOP_ENOSHARD;
}

const char *sloop_worker(const sloop_t *s) { return s->consumer ? slp_leased_instance(s->consumer) : ""; }
