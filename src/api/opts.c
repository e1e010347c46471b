/* opts.c - the options of a consumer: their defaults, checks whose messages name the option, and the
 * library's own copy. */
#include "api/lease_options.h"
#include "api/open.h"
#include "api/settings.h"
#include "base/mem.h"
#include "codec/json.h"
#include "core/start.h"
#include "core/token.h"
#include "guest/layouts.h"
#include "lease/schema.h"
#include "source/stream_name.h"

#include <sloop.h>
#include <stdio.h>

/* The smallest sloop_opts_t that is accepted. The struct grows at its end, so a caller that was compiled with
 * an older header has a smaller one than this library. */
#define OPTS_SIZE_MIN offsetof(sloop_opts_t, creds)

static void set_default_opts(sloop_opts_t *o) {
  *o = (sloop_opts_t){
      .size = sizeof *o,
      .start = {.kind = SLOOP_LATEST},
      .order = SLOOP_ORDER_TIME,
      .wire = SLOOP_WIRE_AUTO,
      .on_trimmed = SLOOP_TRIMMED_CONTINUE,
      .order_wait_ms = 1000,
      .poll_ms = 1000,
      .fetch_records_max = 10000,
      .buffered_bytes_max = 64u * 1024 * 1024,
      .batches_out_max = 2,
      .batch_records_max = 1000,
      .batch_bytes_max = 1024 * 1024,
      .in_flight_max = 128,
      .list_ms = 60000,
      .log_level = SLOOP_LOG_WARN,
      .aggregates = SLOOP_AGGREGATES_EXPAND,
      .on_retry = SLOOP_RETRY_REDELIVER,
      .retry_max = 10,
      .checkpoint_ms = 5000,
      .handover_ms = 30000,
      .weight = 1,
      .retrieval = SLOOP_RETRIEVAL_POLL,
      .checkpoints = SLOOP_CHECKPOINTS_ACKED,
      .unready_ms = 60000,
  };
}

void sloop_opts_init_sized(sloop_opts_t *o, size_t size) {
  sloop_opts_t full;
  set_default_opts(&full);
  if (size < sizeof full.size) return;
  if (size > sizeof full) {
    memset((char *)o + sizeof full, 0, size - sizeof full);
    size = sizeof full;
  }
  memcpy(o, &full, size);
  o->size = size;
}

static int refuse_option(char why[160], const char *fmt, const char *text) {
  snprintf(why, 160, fmt, text);
  return SLOOP_EOPTION;
}

static int check_stream(const char *stream, char why[160]) {
  slp_stream_name named;
  const char *wrong;
  if (!stream || !*stream) return refuse_option(why, "stream is missing%s", "");
  int r = slp_stream_name_read(slp_str_of(stream), &named, &wrong);
  if (r) snprintf(why, 160, "stream: %s: %.80s", wrong, stream);
  return r;
}

/* Checks whether the start position is valid. A token is only parsed here, before anything exists that would
 * have to be closed. It is parsed again when the consumer is created. */
static int check_start(const sloop_opts_t *o, char why[160]) {
  slp_token *token = NULL;
  int r = slp_start_position_check(&o->start, why);
  if (r || o->start.kind != SLOOP_AT_TOKEN) return r;
  slp_mem *mem = slp_mem_new(o->alloc, o->alloc_ctx);
  if (!mem) return SLP_ENOMEM;
  r = slp_token_read(&token, mem, slp_str_of(o->start.token), why);
  slp_token_free(token);
  slp_mem_drop(mem);
  return r;
}

/* Returns 1 if s may be the name of an application or worker. Such names become parts of keys, and of lines
 * that people read. */
static int is_name(const char *s, size_t most) {
  size_t n = strlen(s);
  if (!n || n > most) return 0;
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)s[i] <= ' ' || s[i] == '/' || (unsigned char)s[i] == 127) return 0;
  return slp_utf8_valid((slp_str){s, n}); /* a table takes only UTF-8 as text */
}

static int check_leases(const sloop_opts_t *o, char why[160]) {
  slp_lease_place place;
  if (!o->app) {
    if (o->worker || o->store || o->store_endpoint || o->schema)
      return refuse_option(why, "%s needs app", o->worker ? "worker" : o->schema ? "schema" : "store");
    if (o->kcl_coordinator || o->kcl_metrics)
      return refuse_option(why, "%s needs app", o->kcl_coordinator ? "kcl_coordinator" : "kcl_metrics");
    if (o->checkpoints == SLOOP_CHECKPOINTS_ASKED)
      return refuse_option(why, "checkpoints: asked needs app%s", "");
    return o->on_retry == SLOOP_RETRY_PARK ? refuse_option(why, "on_retry: parking needs app%s", "") : 0;
  }
  if (!is_name(o->app, 200))
    return refuse_option(why, "app: not a name of 1 to 200 characters without spaces and slashes%s", "");
  if (o->worker && (!is_name(o->worker, SLP_WORKER_ID_MAX) || o->worker[strlen(o->worker) - 1] == '.'))
    return refuse_option(
        why, "worker: not a name of 1 to 64 characters without spaces, slashes or a dot at its end%s", "");
  if (o->start.kind == SLOOP_AT_SEQ || o->start.kind == SLOOP_AT_TOKEN)
    return refuse_option(why, "start: an application starts at the latest, the oldest or a time%s", "");
  if (o->shards_n) return refuse_option(why, "shards: not with app, which reads all%s", "");
  if (!o->weight) return refuse_option(why, "weight is 0%s", "");
  int r = slp_lease_place_read(o, &place, why);
  if (!r && place.layout->untimed_start && o->start.kind != SLOOP_LATEST && o->start.kind != SLOOP_OLDEST)
    return refuse_option(why, "start: rows of schema %s store the latest and the oldest only",
                         place.layout->name);
  if (!r && !place.layout->beside && (o->kcl_coordinator || o->kcl_metrics))
    return refuse_option(why, "%s needs the schema kcl",
                         o->kcl_coordinator ? "kcl_coordinator" : "kcl_metrics");
  if (!r && o->checkpoints == SLOOP_CHECKPOINTS_ASKED && !place.layout->asked)
    return refuse_option(why, "checkpoints: asked needs the schema sloop or kcl%s", "");
  return r;
}

/* Returns 1 if the registered consumer belongs to the stream. If the user gave only the stream's name, only
 * names are compared, because the stream's account is not known yet. */
static int is_consumer_of(const slp_consumer_name *consumer, const slp_stream_name *stream) {
  slp_stream_name its;
  const char *wrong;
  if (stream->arn.p) return slp_str_eq(consumer->stream_arn, stream->arn);
  return slp_stream_name_read(consumer->stream_arn, &its, &wrong) == 0 && slp_str_eq(its.name, stream->name);
}

static int check_retrieval(const sloop_opts_t *o, char why[160]) {
  slp_stream_name named;
  const char *wrong, *name = o->push_consumer ? o->push_consumer : o->app;
  if (o->retrieval == SLOOP_RETRIEVAL_POLL) return 0;
  int r = slp_stream_name_read(slp_str_of(o->stream), &named, &wrong);
  if (!r && named.what == SLP_NAMES_DYNAMODB && o->retrieval == SLOOP_RETRIEVAL_PUSH)
    return refuse_option(why, "retrieval: streams of DynamoDB can only be polled%s", "");
  if (!name) return refuse_option(why, "push_consumer is missing, retrieval needs it or app%s", "");
  slp_consumer_name consumer;
  if (slp_consumer_name_read(slp_str_of(name), &consumer, &wrong)) {
    snprintf(why, 160, "%s: %s", o->push_consumer ? "push_consumer" : "app", wrong);
    return SLOOP_EOPTION;
  }
  if (!r && consumer.stream_arn.p && !is_consumer_of(&consumer, &named))
    return refuse_option(why, "push_consumer: the ARN is of a consumer of another stream%s", "");
  return 0;
}

int slp_opts_check(const sloop_opts_t *o, char why[160]) {
  int r = check_stream(o->stream, why);
  if (r) return r;
  char bounds[SLP_SETTING_WHY];
  if (o->start.kind < SLOOP_LATEST || o->start.kind > SLOOP_AT_TOKEN) {
    snprintf(why, 160, "start.kind is %d; it must be from %d to %d", (int)o->start.kind, (int)SLOOP_LATEST,
             (int)SLOOP_AT_TOKEN);
    return SLOOP_EOPTION;
  }
  for (size_t i = 0; i < slp_settings_n; i++) {
    const slp_setting *setting = &slp_settings[i];
    /* 1: `start` accepts more words than its row in the table of settings has */
    int is_start = setting->at == offsetof(sloop_opts_t, start.kind);
    if (is_start || !slp_setting_check(setting, o, bounds)) continue;
    snprintf(why, 160, "%.159s", bounds);
    return SLOOP_EOPTION;
  }
  if (o->lease_ms && o->lease_ms < 1000) {
    snprintf(why, 160, "lease_ms is %u; it must be 0 or from 1000 to 3600000", (unsigned)o->lease_ms);
    return SLOOP_EOPTION;
  }
  if (!o->on_batch) return refuse_option(why, "on_batch is missing%s", "");
  if (o->user_agent && strpbrk(o->user_agent, "\r\n"))
    return refuse_option(why, "user_agent: an HTTP header can't contain a line break%s", "");
  if ((r = check_start(o, why))) return r;
  if (o->shards_n && !o->shards) return refuse_option(why, "shards is missing%s", "");
  for (size_t i = 0; i < o->shards_n; i++) {
    if (!o->shards[i] || !*o->shards[i]) return refuse_option(why, "shards: an empty shard id%s", "");
  }
  if (o->on_retry == SLOOP_RETRY_SKIP && !o->on_dead_letter)
    return refuse_option(why, "on_dead_letter is missing, on_retry needs it%s", "");
  r = check_retrieval(o, why);
  return r ? r : check_leases(o, why);
}

/* all options that are texts */
#define TEXTS(X)      \
  X(stream);          \
  X(region);          \
  X(endpoint);        \
  X(profile);         \
  X(ca_bundle);       \
  X(user_agent);      \
  X(start.shard);     \
  X(start.seq);       \
  X(start.token);     \
  X(app);             \
  X(worker);          \
  X(store);           \
  X(store_endpoint);  \
  X(schema);          \
  X(kcl_coordinator); \
  X(kcl_metrics);     \
  X(push_consumer)

static int copy_texts(sloop_opts_t *to, const sloop_opts_t *from, slp_mem *mem) {
  int r = 0;
#define X(name) \
  if (from->name && !(to->name = slp_strdup(mem, slp_str_of(from->name)))) r = SLP_ENOMEM;
  TEXTS(X)
#undef X
  return r;
}

int slp_opts_copy(sloop_opts_t *to, const sloop_opts_t *from, slp_mem *mem) {
  if (from->size < OPTS_SIZE_MIN) return SLOOP_EOPTION;
  sloop_opts_t given;
  set_default_opts(&given);
  memcpy(&given, from, slp_min_u64(from->size, sizeof given));
  *to = given;
  if (!to->lease_ms) to->lease_ms = slp_layout_lease_ms(given.schema);
#define X(name) to->name = NULL;
  TEXTS(X)
#undef X
  to->shards = NULL;
  to->shards_n = 0;
  int r = copy_texts(to, &given, mem);
  if (!r && given.shards_n) {
    const char **shards = slp_zalloc_n(mem, given.shards_n, sizeof *shards);
    to->shards = shards;
    for (size_t i = 0; shards && i < given.shards_n; i++) {
      shards[i] = slp_strdup(mem, slp_str_of(given.shards[i]));
      to->shards_n = i + 1;
      if (!shards[i]) r = SLP_ENOMEM;
    }
    if (!shards) r = SLP_ENOMEM;
  }
  if (r) slp_opts_free(to, mem);
  return r;
}

void slp_opts_free(sloop_opts_t *o, slp_mem *mem) {
#define X(name)                              \
  slp_free(mem, (void *)(uintptr_t)o->name); \
  o->name = NULL;
  TEXTS(X)
#undef X
  for (size_t i = 0; i < o->shards_n; i++) slp_free(mem, (void *)(uintptr_t)o->shards[i]);
  slp_free(mem, (void *)(uintptr_t)o->shards);
  o->shards = NULL;
  o->shards_n = 0;
}
