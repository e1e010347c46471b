/* settings.c - the table of a consumer's options, and the conversion of their values from and to text. */
#include "api/settings.h"

#include "base/base.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/num.h"

#include <sloop.h>
#include <stdio.h>
#include <string.h>

#define TEXT(field, unit, meaning) \
  { #field, SLP_SETTING_TEXT, offsetof(sloop_opts_t, field), 0, 0, unit, meaning, 0 }
#define NUMBER(field, kind, min, max, unit, meaning) \
  { #field, SLP_SETTING_##kind, offsetof(sloop_opts_t, field), min, max, unit, meaning, 0 }
#define CHOICE(field, words, meaning) \
  { #field, SLP_SETTING_CHOICE, offsetof(sloop_opts_t, field), 0, 0, words, meaning, 0 }
#define FOR_PROGRAMS(field, kind, unit, meaning) \
  { #field, SLP_SETTING_##kind, offsetof(sloop_opts_t, field), 0, 0, unit, meaning, 1 }

const slp_setting slp_settings[] = {
    TEXT(region, "name", "AWS region; else the ARN's, AWS_REGION, the profile's"),
    TEXT(profile, "name", "profile in ~/.aws; else AWS_PROFILE or default"),
    TEXT(endpoint, "URL", "the same as -b"),
    TEXT(ca_bundle, "file", "certificates to trust; else AWS_CA_BUNDLE, SSL_CERT_FILE or the system's"),
    TEXT(user_agent, "text", "what we call ourselves; else sloop/VERSION"),
    NUMBER(order_wait_ms, U32, 0, UINT32_MAX, "ms",
           "how long a failing shard may hold the others back; max: for ever (with -e and -c)"),
    NUMBER(poll_ms, U32, 1, 3600000, "ms", "between calls at a shard's tip; the service's floor is 200"),
    CHOICE(retrieval, "poll|push|auto",
           "how records arrive; push: the same as --push; auto: push if the consumer can be used and events "
           "arrive, else poll"),
    TEXT(push_consumer, "name", "or ARN of the registered consumer; else -G"),
    NUMBER(fetch_records_max, U32, 1, 10000, "records", "requested in one call"),
    NUMBER(buffered_bytes_max, U64, 65536, UINT64_MAX / 4, "bytes", "fetched and not yet printed"),
    NUMBER(batches_out_max, U32, 1, 1000000, "batches", "being printed at once"),
    NUMBER(batch_records_max, U32, 1, 1000000, "records", "in one batch"),
    NUMBER(batch_bytes_max, U32, 1, UINT32_MAX, "bytes", "of payload in one batch"),
    NUMBER(buffered_records_per_shard_max, U32, 0, UINT32_MAX, "records",
           "of one shard, fetched and not yet printed; 0: no limit"),
    CHOICE(aggregates, "expand|keep",
           "what to do with aggregates of the Kinesis Producer Library: split them into records, or keep "
           "them as they came"),
    NUMBER(in_flight_max, U32, 1, 4096, "calls", "at once"),
    NUMBER(list_ms, U32, 1000, 86400000, "ms",
           "between listings of the shards; with -G by one worker for all, at least 6 ms a shard"),
    NUMBER(stats_ms, U32, 0, UINT32_MAX, "ms", "between progress lines of -v; 0: 1000"),
    CHOICE(on_trimmed, "stop|continue", "a shard whose position is no longer kept"),
    CHOICE(on_retry, "again|stop|park|skip",
           "of a record that was returned retry_max times in a row: try again, stop its shard, stop it for "
           "all workers (-G), or skip the record and report it"),
    NUMBER(retry_max, U32, 1, 250, "times", "see on_retry"),
    TEXT(app, "name", "the same as -G"),
    TEXT(store, "store", "the same as --store"),
    TEXT(store_endpoint, "URL", "of the DynamoDB that has the leases; else as -b, AWS_ENDPOINT_URL_DYNAMODB"),
    TEXT(schema, "sloop|kcl|vmware-go-kcl|kinsumer|motorway|kcl-rb",
         "layout of the leases: sloop's own, or that program's; kcl: Amazon's KCL 2 and 3"),
    TEXT(kcl_coordinator, "table", "of KCL 3.0 to 3.4, beside the leases; else APP-CoordinatorState"),
    TEXT(kcl_metrics, "table", "the same; else APP-WorkerMetricStats"),
    TEXT(worker, "name", "of this worker, unique in the application; else HOST-PID-RANDOM"),
    NUMBER(weight, U32, 1, 1000, "shares", "of the shards for this worker, beside the others'"),
    NUMBER(lease_ms, U32, 0, 3600000, "ms",
           "a worker that is silent for this long is evicted; 0: 10 s, with schema=kinsumer 5 min"),
    NUMBER(checkpoint_ms, U32, 0, 3600000, "ms",
           "between writes of a changed position; 0: only when a shard is given up. A table that throttles "
           "gets fewer"),
    NUMBER(handover_ms, U32, 1, 3600000, "ms",
           "how long a shard that another worker requests waits for what is being printed"),
    NUMBER(stall_ms, U32, 0, UINT32_MAX, "ms",
           "a shard whose records are not printed for this long goes to another worker; waiting for another "
           "shard's records does not count. 0: never"),
    NUMBER(unready_ms, U32, 1, UINT32_MAX, "ms",
           "/ready of --metrics says no when a shard has failed, or made no progress while records waited, "
           "for this long"),
    CHOICE(log_level, "error|warn|info|debug", "what the library logs on standard error"),
    FOR_PROGRAMS(stream, TEXT, "name", "or ARN, or dynamodb:TABLE"),
    FOR_PROGRAMS(order, CHOICE, "time|shard", "across shards, or of each shard by itself"),
    FOR_PROGRAMS(wire, CHOICE, "auto|cbor|json", "encoding of requests to the service"),
    FOR_PROGRAMS(checkpoints, CHOICE, "acked|asked", "which positions are written to the lease table"),
    {"start", SLP_SETTING_CHOICE, offsetof(sloop_opts_t, start.kind), 0, 0, "latest|oldest",
     "where reading starts", 1},
};
const size_t slp_settings_n = SLP_COUNT(slp_settings);

const slp_setting *slp_setting_find(const slp_setting *rows, size_t n, slp_str name) {
  for (size_t i = 0; i < n; i++)
    if (slp_str_is(name, rows[i].name)) return &rows[i];
  return NULL;
}

static int refuse_setting_value(const slp_setting *s, slp_str value, char why[SLP_SETTING_WHY]) {
  int n = (int)slp_min_u64(value.n, 60);
  if (s->kind == SLP_SETTING_CHOICE || s->kind == SLP_SETTING_FLAG)
    snprintf(why, SLP_SETTING_WHY, "%s: \"%.*s\" is not one of %s", s->name, n, value.p, s->unit);
  else if (s->kind == SLP_SETTING_I64)
    snprintf(why, SLP_SETTING_WHY, "%s: \"%.*s\" is not a whole number", s->name, n, value.p);
  else if (s->max == UINT64_MAX)
    snprintf(why, SLP_SETTING_WHY, "%s: \"%.*s\" is not a whole number from %llu on", s->name, n, value.p,
             (unsigned long long)s->min);
  else
    snprintf(why, SLP_SETTING_WHY, "%s: \"%.*s\" is not a whole number from %llu to %llu", s->name, n,
             value.p, (unsigned long long)s->min, (unsigned long long)s->max);
  return SLP_EINVAL;
}

/* Returns the place of `value` among the words "one|two|three", counted from 1; 0: it is not one of them. */
static int find_choice(const char *choices, slp_str value) {
  for (int place = 1;; place++) {
    size_t n = strcspn(choices, "|");
    if (slp_str_eq((slp_str){choices, n}, value)) return place;
    if (!choices[n]) return 0;
    choices += n + 1;
  }
}

static slp_str choice_name(const char *choices, int place) {
  for (; place > 1; place--) {
    choices += strcspn(choices, "|");
    if (*choices) choices++;
  }
  return (slp_str){choices, strcspn(choices, "|")};
}

static int read_number(const slp_setting *s, slp_str value, uint64_t *u) {
  *u = s->max;
  if (slp_str_is(value, "max")) return 0;
  return slp_parse_u64(value, u) || *u < s->min || *u > s->max ? SLP_EINVAL : 0;
}

int slp_setting_write(const slp_setting *s, void *to, slp_str value, char why[SLP_SETTING_WHY]) {
  _Static_assert(sizeof(sloop_trimmed_t) == sizeof(int) && sizeof(sloop_log_level_t) == sizeof(int),
                 "choices are stored as int");
  char *at = (char *)to + s->at;
  uint64_t u = 0;
  int64_t i = 0;
  int choice;
  switch (s->kind) {
    case SLP_SETTING_TEXT: memcpy(at, &value.p, sizeof value.p); return 0;
    case SLP_SETTING_CHOICE:
      choice = find_choice(s->unit, value);
      if (!choice) return refuse_setting_value(s, value, why);
      memcpy(at, &choice, sizeof choice);
      return 0;
    case SLP_SETTING_I64:
      if (slp_parse_i64(value, &i) != 0) return refuse_setting_value(s, value, why);
      memcpy(at, &i, sizeof i);
      return 0;
    case SLP_SETTING_FLAG:
    case SLP_SETTING_U16:
    case SLP_SETTING_U32:
    case SLP_SETTING_U64: break;
  }
  if (read_number(s, value, &u)) return refuse_setting_value(s, value, why);
  if (s->kind == SLP_SETTING_U16) memcpy(at, &(uint16_t){(uint16_t)u}, sizeof(uint16_t));
  if (s->kind == SLP_SETTING_U32) memcpy(at, &(uint32_t){(uint32_t)u}, sizeof(uint32_t));
  if (s->kind == SLP_SETTING_U64) memcpy(at, &u, sizeof u);
  if (s->kind == SLP_SETTING_FLAG) memcpy(at, &(int){(int)u}, sizeof(int));
  return 0;
}

/* Returns how many bytes the setting takes in the struct, from `at` on. */
static size_t size_of_setting(const slp_setting *s) {
  switch (s->kind) {
    case SLP_SETTING_U16: return sizeof(uint16_t);
    case SLP_SETTING_U32: return sizeof(uint32_t);
    case SLP_SETTING_CHOICE:
    case SLP_SETTING_FLAG: return sizeof(int);
    case SLP_SETTING_U64:
    case SLP_SETTING_I64: return sizeof(uint64_t);
    case SLP_SETTING_TEXT: break;
  }
  return sizeof(char *);
}

/* Returns the value of a setting as a number; 0 if the setting is a text. */
static uint64_t number_of(const slp_setting *s, const void *from) {
  const char *at = (const char *)from + s->at;
  int v = 0;
  switch (s->kind) {
    case SLP_SETTING_U16: return *(const uint16_t *)(const void *)at;
    case SLP_SETTING_U32: return *(const uint32_t *)(const void *)at;
    case SLP_SETTING_U64: return *(const uint64_t *)(const void *)at;
    case SLP_SETTING_CHOICE:
    case SLP_SETTING_FLAG: memcpy(&v, at, sizeof v); return (uint64_t)(int64_t)v;
    case SLP_SETTING_I64:
    case SLP_SETTING_TEXT: break;
  }
  return 0;
}

int slp_setting_check(const slp_setting *s, const void *from, char why[SLP_SETTING_WHY]) {
  if (s->kind == SLP_SETTING_TEXT || s->kind == SLP_SETTING_I64) return 0;
  uint64_t u = number_of(s, from), min = s->min, max = s->max;
  if (s->kind == SLP_SETTING_CHOICE) {
    min = max = 1;
    for (const char *p = s->unit; *p; p++) max += *p == '|';
  }
  if (u >= min && u <= max) return 0;
  snprintf(why, SLP_SETTING_WHY, "%s is %llu; it must be from %llu to %llu", s->name, (unsigned long long)u,
           (unsigned long long)min, (unsigned long long)max);
  return SLP_EINVAL;
}

int slp_setting_put(const slp_setting *s, const void *from, slp_buf *b) {
  const char *at = (const char *)from + s->at, *text;
  int64_t i;
  uint64_t u = number_of(s, from);
  switch (s->kind) {
    case SLP_SETTING_TEXT: memcpy(&text, at, sizeof text); return text ? slp_buf_add_z(b, text) : 0;
    case SLP_SETTING_CHOICE: return slp_buf_add_str(b, choice_name(s->unit, (int)u));
    case SLP_SETTING_I64: memcpy(&i, at, sizeof i); return slp_buf_add_i64(b, i);
    case SLP_SETTING_FLAG:
    case SLP_SETTING_U16:
    case SLP_SETTING_U32:
    case SLP_SETTING_U64: break;
  }
  return u == UINT64_MAX ? slp_buf_add_z(b, "max") : slp_buf_add_u64(b, u);
}

int sloop_opts_set(sloop_opts_t *o, const char *name, const char *value, char *why, size_t why_size) {
  char text[SLP_SETTING_WHY] = "";
  const slp_setting *s = name ? slp_setting_find(slp_settings, slp_settings_n, slp_str_of(name)) : NULL;
  int r = SLOOP_EOPTION;
  if (!s)
    snprintf(text, sizeof text, "there is no option \"%.60s\" that can be set by its name", name ? name : "");
  else if (!value)
    snprintf(text, sizeof text, "%s: the value is missing", s->name);
  else if (s->at + size_of_setting(s) > o->size)
    snprintf(text, sizeof text, "%s: the program's header does not have it", s->name);
  else if (!slp_setting_write(s, o, slp_str_of(value), text))
    r = 0;
  slp_clean_copy(why, why_size, r ? text : "");
  return r;
}
