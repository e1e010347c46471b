/* iam.c - finds out which rights the command line needs, and writes an IAM policy with these rights. */
#include "cli/iam.h"

#include "aws/endpoint.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/decode.h"
#include "cli/options.h"
#include "cli/people_lines.h"
#include "cli/schemas.h"
#include "cli/stream_pattern.h"
#include "codec/json_write.h"
#include "guest/layouts.h"
#include "source/stream_name.h"

#include <sloop.h>

static const char *const kinesis[] = {"kinesis:DescribeStreamSummary", "kinesis:ListShards",
                                      "kinesis:GetShardIterator", "kinesis:GetRecords", NULL};
/* The rights for pushed records. The right to register a consumer is on the stream. The rights in `consumer`
 * below are on the consumer's own ARN, which is the stream's ARN with "/consumer/..." appended. */
static const char *const pushed[] = {
    "kinesis:DescribeStreamSummary", "kinesis:ListShards", "kinesis:RegisterStreamConsumer",
    "kinesis:GetShardIterator",      "kinesis:GetRecords", NULL};
static const char *const shards[] = {"kinesis:DescribeStreamSummary", "kinesis:ListShards", NULL};
static const char *const subscribed[] = {"kinesis:SubscribeToShard", NULL};
static const char *const consumer[] = {"kinesis:DescribeStreamConsumer", "kinesis:SubscribeToShard", NULL};
/* The rights for --consumers and --deregister. */
static const char *const listed[] = {"kinesis:DescribeStreamSummary", "kinesis:ListStreamConsumers", NULL};
static const char *const deregistered[] = {"kinesis:DeregisterStreamConsumer", NULL};
/* The rights for -P without --aggregate and with it. --aggregate needs to know the shards. */
static const char *const produced[] = {"kinesis:PutRecords", NULL};
static const char *const aggregated[] = {"kinesis:DescribeStreamSummary", "kinesis:ListShards",
                                         "kinesis:PutRecords", NULL};
/* The rights to find the streams that match a pattern. No resource can be given for them. */
static const char *const kinesis_names[] = {"kinesis:ListStreams", NULL};
static const char *const table_names[] = {"dynamodb:ListStreams", NULL};
static const char *const changes[] = {"dynamodb:DescribeStream", "dynamodb:GetShardIterator",
                                      "dynamodb:GetRecords", NULL};
static const char *const table[] = {"dynamodb:DescribeTable", NULL};

/* The rights on the lease table, which is created if it does not exist. Rows of the native layout are read by
 * Query. Tables of other layouts have no key for that, so they are scanned. */
#define LEASES                                                                                   \
  "dynamodb:DescribeTable", "dynamodb:CreateTable", "dynamodb:GetItem", "dynamodb:BatchGetItem", \
      "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"
static const char *const leases[] = {LEASES, "dynamodb:Query", NULL};
static const char *const leases_scanned[] = {LEASES, "dynamodb:Scan", NULL};
static const char *const metrics[] = {"cloudwatch:PutMetricData", NULL};
static const char *const registry[] = {"glue:GetSchemaVersion", NULL};
/* The rights on tables that KCL 3.0 to 3.4 uses in addition to its lease table. This program never creates
 * such tables. */
static const char *const beside[] = {"dynamodb:DescribeTable", "dynamodb:Scan", NULL};
static const char *const loads[] = {"dynamodb:DescribeTable", "dynamodb:Scan",       "dynamodb:GetItem",
                                    "dynamodb:UpdateItem",    "dynamodb:DeleteItem", NULL};

static int is_arn(const char *stream) { return strncmp(stream, "arn:", 4) == 0; }

static int is_dynamodb(const char *stream) { return slp_stream_is_of_table(slp_str_of(stream)); }

static int is_stream_arn(const char *stream) { return is_arn(stream) && strstr(stream, "/stream/") != NULL; }

int slp_iam_resource(slp_buf *b, const slp_args *a, const slp_iam_statement *st) {
  char real[64];
  const char *stream = st->of;
  if (!stream) return slp_buf_add_char(b, '*');
  slp_str given = slp_str_of(a->opts.region);
  const char *region = "*";
  if (slp_region_valid(given)) {
    slp_region_real(given, real);
    region = real;
  }
  int of_table = is_dynamodb(stream), arn = is_arn(stream);
  if (!arn)
    slp_buf_addf(b, "arn:aws:%s:%s:*:%s/", of_table ? "dynamodb" : "kinesis", region,
                 of_table ? "table" : "stream");
  /* a pattern of stream names becomes a pattern of IAM */
  slp_stream_pattern_for_iam(slp_str_of(of_table && !arn ? stream + strlen("dynamodb:") : stream), b);
  return slp_buf_add_z(b, st->suffix);
}

/* ---- all statements, one by one -------------------------------------------------------------------- */
typedef struct walk {
  const slp_args *a;
  slp_mem *mem;
  slp_iam_fn fn;
  void *ctx;
  int failed; /* 0, or the first error of a buffer */
} walk;

/* Passes the rights on a table to w->fn. The table's name is `name` (the application's name if NULL) with
 * `behind` appended. */
static void tell_table(walk *w, const char *const *actions, const char *name, const char *behind) {
  slp_buf of;
  slp_buf_init(&of, w->mem, 1 << 16);
  int r = slp_buf_addf(&of, "dynamodb:%s%s", name ? name : w->a->opts.app, behind);
  if (r && !w->failed) w->failed = r;
  slp_iam_statement st = {
      .actions = actions, .of = slp_buf_z(&of), .suffix = "", .subject = slp_buf_z(&of), .leases = 1};
  w->fn(w->ctx, &st);
  slp_buf_free(&of);
}

static void walk_leases(walk *w) {
  static const char named[] = "dynamodb:";
  const sloop_opts_t *o = &w->a->opts;
  const char *store = o->store ? o->store : "dynamodb";
  const slp_layout *layout = slp_layout_of(o->schema);
  int own = !layout || layout->own_table;
  if (!o->app || strncmp(store, "dynamodb", sizeof named - 2) != 0) return;
  const char *name = strncmp(store, named, sizeof named - 1) == 0 ? store + sizeof named - 1
                     : own                                        ? o->app
                                                                  : layout->name;
  static const char *const plain[] = {NULL};
  const char *const *ends = layout ? layout->ends : plain;
  do tell_table(w, own ? leases_scanned : leases, name, *ends ? *ends : "");
  while (*ends && *++ends);
  if (!layout || !layout->beside) return;
  tell_table(w, beside, o->kcl_coordinator, o->kcl_coordinator ? "" : "-CoordinatorState");
  tell_table(w, loads, o->kcl_metrics, o->kcl_metrics ? "" : "-WorkerMetricStats");
}

/* Passes to w->fn the right to put metrics to CloudWatch. No resource can be given for it. */
static void walk_metrics(walk *w) {
  slp_iam_statement st = {.actions = metrics, .suffix = "", .subject = "CloudWatch"};
  st.ns = slp_args_cloudwatch(w->a);
  if (st.ns) w->fn(w->ctx, &st);
}

static void tell_stream(walk *w, size_t i, const char *const *actions, const char *suffix) {
  const char *stream = w->a->streams[i];
  slp_iam_statement st = {.actions = actions, .of = stream, .suffix = suffix, .subject = stream, .stream = i};
  w->fn(w->ctx, &st);
}

static void tell_consumer(walk *w, size_t i, const char *const *actions, int by_arn) {
  const char *name = w->a->opts.push_consumer ? w->a->opts.push_consumer : w->a->opts.app;
  slp_iam_statement st = {.actions = actions,
                          .of = by_arn ? name : w->a->streams[i],
                          .suffix = by_arn ? "" : "/consumer/*",
                          .subject = w->a->streams[i],
                          .consumer = name,
                          .stream = i};
  w->fn(w->ctx, &st);
}

static void walk_stream(walk *w, size_t i) {
  const slp_args *a = w->a;
  const char *stream = a->streams[i];
  int pushes = !is_dynamodb(stream) && a->opts.retrieval != SLOOP_RETRIEVAL_POLL;
  if (a->iam_of == SLP_MODE_PRODUCE) {
    tell_stream(w, i, a->aggregate ? aggregated : produced, "");
  } else if (a->iam_of) {
    tell_stream(w, i, listed, "");
    if (a->iam_of == SLP_MODE_DEREGISTER) tell_stream(w, i, deregistered, "/consumer/*");
  } else if (pushes && a->opts.push_consumer && is_arn(a->opts.push_consumer)) {
    tell_stream(w, i, a->opts.retrieval == SLOOP_RETRIEVAL_AUTO ? kinesis : shards, "");
    tell_consumer(w, i, subscribed, 1);
  } else if (pushes) {
    tell_stream(w, i, pushed, "");
    tell_consumer(w, i, consumer, 0);
  } else if (!is_dynamodb(stream)) {
    tell_stream(w, i, kinesis, "");
  } else if (is_stream_arn(stream)) {
    tell_stream(w, i, changes, "");
  } else {
    tell_stream(w, i, table, "");
    tell_stream(w, i, changes, "/stream/*");
  }
}

static int may_ask_registry(const slp_decode_chain *c) {
  for (size_t i = 0; i < c->n; i++)
    if (c->step[i]->picks || c->step[i]->needs_schema) return 1;
  return 0;
}

/* Passes to w->fn the right to get a schema version from the Glue registry. The call gives only the id of the
 * version, so no resource can be given for the right. */
static void walk_registry(walk *w) {
  const slp_args *a = w->a;
  int asks = may_ask_registry(&a->decode) || may_ask_registry(&a->decode_key);
  for (size_t i = 0; i < a->schema_files_n; i++)
    /* a schema file without an id holds for all versions, so the registry is never asked */
    if (!slp_schemas_has_id(a->schema_files[i])) asks = 0;
  slp_iam_statement st = {.actions = registry, .suffix = "", .subject = "Glue"};
  if (asks) w->fn(w->ctx, &st);
}

/* Passes to w->fn the rights to list the streams, if there are patterns of their names. */
static void walk_patterns(walk *w) {
  int of_kinesis = 0, of_tables = 0;
  for (size_t i = 0; i < w->a->patterns_n; i++) {
    int is_table = is_dynamodb(w->a->patterns[i]);
    of_kinesis |= !is_table;
    of_tables |= is_table;
  }
  slp_iam_statement kinesis_st = {.actions = kinesis_names, .suffix = "", .subject = "Kinesis"};
  slp_iam_statement tables_st = {.actions = table_names, .suffix = "", .subject = "DynamoDB"};
  if (of_kinesis) w->fn(w->ctx, &kinesis_st);
  if (of_tables) w->fn(w->ctx, &tables_st);
}

int slp_iam_each(slp_mem *mem, const slp_args *a, slp_iam_fn fn, void *ctx) {
  walk w = {.a = a, .mem = mem, .fn = fn, .ctx = ctx};
  if (!a->try_rights) walk_patterns(&w); /* --try has listed the streams already */
  for (size_t i = 0; i < a->streams_n; i++) walk_stream(&w, i);
  if (!a->iam_of) walk_leases(&w);
  if (!a->iam_of) walk_metrics(&w);
  if (!a->iam_of) walk_registry(&w);
  return w.failed;
}

/* ---- the policy ---------------------------------------------------------------------------------------- */
typedef struct policy {
  slp_buf *b;
  const slp_args *a;
  int more; /* 1: a statement was written before, so the next statement begins with a comma */
} policy;

static void add_statement(void *ctx, const slp_iam_statement *st) {
  policy *p = ctx;
  slp_buf *b = p->b, resource;
  slp_buf_addf(b, "%s    {\n      \"Effect\": \"Allow\",\n      \"Action\": [", p->more ? ",\n" : "");
  p->more = 1;
  for (size_t i = 0; st->actions[i]; i++) slp_buf_addf(b, "%s\"%s\"", i ? ", " : "", st->actions[i]);
  slp_buf_add_z(b, "],\n      \"Resource\": ");
  slp_buf_init(&resource, b->mem, 1 << 16);
  if (slp_iam_resource(&resource, p->a, st)) slp_buf_fail(b, slp_buf_failed(&resource));
  slp_json_put_string(b, slp_buf_str(&resource));
  slp_buf_free(&resource);
  if (st->ns) {
    slp_buf_add_z(b, ",\n      \"Condition\": {\"StringEquals\": {\"cloudwatch:namespace\": ");
    slp_json_put_string(b, slp_str_of(st->ns));
    slp_buf_add_z(b, "}}");
  }
  slp_buf_add_z(b, "\n    }");
}

/* Warns of patterns that IAM can't express: the policy then matches more streams than the pattern. */
static void tell_wider(slp_mem *mem, const slp_args *a) {
  for (size_t i = 0; i < a->patterns_n && !a->quiet; i++) {
    slp_buf wide;
    slp_buf_init(&wide, mem, 1 << 16);
    if (slp_stream_pattern_for_iam(slp_str_of(a->patterns[i]), &wide) && !slp_buf_failed(&wide))
      slp_say("%s: IAM knows no [...], so the policy has %s, which matches more", a->patterns[i],
              slp_buf_z(&wide));
    slp_buf_free(&wide);
  }
}

int slp_iam(slp_buf *b, const slp_args *a) {
  tell_wider(b->mem, a);
  policy p = {.b = b, .a = a};
  slp_buf_add_z(b, "{\n  \"Version\": \"2012-10-17\",\n  \"Statement\": [\n");
  int r = slp_iam_each(b->mem, a, add_statement, &p);
  if (r) slp_buf_fail(b, r);
  return slp_buf_add_z(b, "\n  ]\n}\n");
}
