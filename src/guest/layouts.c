/* layouts.c - the registry of lease-table layouts: their properties, and how each is opened. */
#include "guest/layouts.h"

#include "core/position.h"
#include "core/source.h"
#include "guest/guest_schemas.h"
#include "lease/schema.h"
#include "store/schema_sloop.h"

#include <stdio.h>

/* ---- how streams are named -------------------------------------------------------------------------- */

static int is_of_table(const slp_src_describe *d) {
  return strncmp(d->arn, "arn:", 4) == 0 && strstr(d->arn, ":dynamodb:") != NULL;
}

/* Returns what distinguishes this stream from an earlier or later stream of the same name: its label, or its
 * time of creation. */
static slp_str generation_of(const slp_src_describe *d, char text[32]) {
  static const char mark[] = "/stream/";
  SLP_CHECK(d);
  const char *label = strstr(d->arn, mark);
  if (label && is_of_table(d)) return slp_str_of(label + sizeof mark - 1);
  int n = snprintf(text, 32, "%lld", (long long)(d->created_ms < 0 ? 0 : d->created_ms / 1000));
  return (slp_str){text, (size_t)n};
}

/* Returns part n, from 0, of an ARN, which has the form arn:PARTITION:SERVICE:REGION:ACCOUNT:... . Returns
 * `otherwise` if there is no such part. */
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

/* Writes and returns the stream's name as rows of the KCL have it: ACCOUNT:NAME:EPOCH (project
 * amazon-kinesis-client: StreamIdentifier). */
static slp_str kcl_name(const slp_src_describe *d, slp_str generation, char text[400]) {
  slp_str account = arn_part(d, ARN_ACCOUNT, "000000000000");
  int n = snprintf(text, 400, "%.*s:%s:%.*s", (int)account.n, account.p, d->name, (int)generation.n,
                   generation.p);
  return (slp_str){text, (size_t)n};
}

/* Writes and returns the stream's name as rows of the KCL's adapter for DynamoDB Streams have it (project
 * dynamodb-streams-kinesis-adapter): ACCOUNT:STREAM:1, where STREAM is REGION$ACCOUNT$TABLE$LABEL with _
 * instead of each : in the label. The epoch is always 1. Returns an empty text for a Kinesis stream. */
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

/* ---- opening ------------------------------------------------------------------------------------------ */

static slp_schema *open_sloop(const slp_layout_at *at) {
  char text[32];
  slp_schema *s = slp_schema_sloop(at->mem, slp_str_of(at->app), slp_str_of(at->stream->name),
                                   generation_of(at->stream, text));
  if (!s || !at->in_dynamodb || at->one_key) return s;
  if (!at->leases_a_key && is_of_table(at->stream))
    slp_schema_sloop_spreads_by_hash(s);
  else
    slp_schema_sloop_spreads(s, at->leases_a_key);
  return s;
}

/* Sets the names of the further tables that an application of KCL 3 may have besides the table of leases. The
 * names are made from the application's name, unless the user gave other names. */
static int name_tables_beside(const slp_layout_at *at, slp_schema *schema) {
  char coordinator[300], metrics[300];
  if (!at->in_dynamodb) return 0;
  snprintf(coordinator, sizeof coordinator, "%.255s-CoordinatorState", at->app);
  snprintf(metrics, sizeof metrics, "%.255s-WorkerMetricStats", at->app);
  return slp_schema_kcl_beside(schema, at->coordinator ? at->coordinator : coordinator,
                               at->metrics ? at->metrics : metrics);
}

static slp_schema *open_kcl(const slp_layout_at *at) {
  char text[32], name_text[400], alias_text[700];
  slp_str generation = generation_of(at->stream, text), none = {NULL, 0};
  slp_str name = kcl_name(at->stream, generation, name_text);
  int64_t start_ms = at->start->kind == SLP_POSITION_TIME ? at->start->at_ms : 0;
  slp_schema *s = slp_schema_kcl(at->mem, at->several ? name : none, start_ms);
  if (!s) return NULL;
  if (slp_schema_kcl_named(s, name, kcl_alias(at->stream, generation, alias_text)) == 0 &&
      name_tables_beside(at, s) == 0)
    return s;
  s->free(s);
  return NULL;
}

static slp_schema *open_vmware(const slp_layout_at *at) { return slp_schema_vmware(at->mem, at->start); }
static slp_schema *open_kinsumer(const slp_layout_at *at) {
  return slp_schema_kinsumer(at->mem, at->table, at->lease_ms);
}
static slp_schema *open_motorway(const slp_layout_at *at) { return slp_schema_motorway(at->mem, at->start); }
static slp_schema *open_kcl_rb(const slp_layout_at *at) { return slp_schema_kcl_rb(at->mem); }

/* ---- the registry ------------------------------------------------------------------------------------ */

static const slp_layout layouts[] = {
    {.name = "sloop", .lease_ms = 10000, .asked = 1, .hash = "app", .range = "row", .open = open_sloop},
    {.name = "kcl",
     .own_table = 1,
     .lease_ms = 10000,
     .asked = 1,
     .beside = 1,
     .common_name = 1,
     .hash = "leaseKey",
     .range = "",
     .mark = "leaseCounter",
     .owner = "leaseOwner",
     .nobody = "",
     .position = "checkpoint",
     .ended = "SHARD_END",
     .open = open_kcl},
    {.name = "vmware-go-kcl",
     .own_table = 1,
     .one_stream = 1,
     .lease_ms = 10000,
     .hash = "ShardID",
     .range = "",
     .owner = "AssignedTo",
     .nobody = "",
     .position = "Checkpoint",
     .ended = "SHARD_END",
     .open = open_vmware},
    {.name = "kinsumer",
     .own_table = 1,
     .one_stream = 1,
     .lease_ms = 300000, /* kinsumer's lease time: five check periods, each of which is a minute by default */
     .untimed_start = 1,
     .hash = "Shard",
     .range = "",
     .ends = {"_checkpoints", "_clients", "_metadata"},
     .owner = "OwnerID",
     .nobody = "",
     .open = open_kinsumer},
    {.name = "motorway",
     .own_table = 1,
     .one_stream = 1,
     .lease_ms = 10000,
     .hash = "shard_id",
     .range = "",
     .mark = "heartbeat",
     .owner = "worker_id",
     .nobody = "nobody",
     .open = open_motorway},
    {.name = "kcl-rb",
     .own_table = 1,
     .one_stream = 1,
     .lease_ms = 10000,
     .hash = "shard_id",
     .range = "",
     .owner = "assigned_to",
     .nobody = "",
     .position = "checkpoint",
     .ended = "SHARD_END",
     .open = open_kcl_rb},
};

const slp_layout *slp_layout_at_place(size_t n) { return n < SLP_COUNT(layouts) ? &layouts[n] : NULL; }

const slp_layout *slp_layout_of(const char *name) {
  for (size_t i = 0; i < SLP_COUNT(layouts); i++)
    if (!name || strcmp(layouts[i].name, name) == 0) return &layouts[i];
  return NULL;
}

uint32_t slp_layout_lease_ms(const char *name) {
  const slp_layout *layout = slp_layout_of(name);
  return (layout ? layout : slp_layout_of(NULL))->lease_ms;
}

void slp_layouts_of_keys(const char *hash, const char *range, char *to, size_t size) {
  size_t at = 0;
  *to = 0;
  for (size_t i = 0; i < SLP_COUNT(layouts) && at < size; i++) {
    const slp_layout *l = &layouts[i];
    if (strcmp(hash, l->hash) != 0 || strcmp(range ? range : "", l->range) != 0) continue;
    at += (size_t)snprintf(to + at, size - at, "%s%s", at ? " or " : "", l->name);
  }
}
