/* take_option.c - stores one option with its value, from the command line or from the configuration file. A
 * new option needs a case in set_option(). */
#include "base/num.h"
#include "cli/args.h"
#include "cli/decode.h"
#include "cli/knobs.h"
#include "cli/log_filter.h"
#include "cli/options.h"
#include "cli/point_in_time.h"
#include "cli/start_option.h"
#include "cli/topics.h"
#include "codec/json.h"

#include <sloop.h>
#include <stdio.h>

static int parse_count(const slp_option *o, const char *value, uint64_t max, uint64_t *ret, char why[200]) {
  if (slp_parse_u64(slp_str_of(value), ret) == 0 && *ret >= 1 && *ret <= max) return 0;
  char need[60];
  if (max == UINT64_MAX)
    snprintf(need, sizeof need, "a whole number from 1 on");
  else
    snprintf(need, sizeof need, "a whole number from 1 to %llu", (unsigned long long)max);
  return slp_option_wrong(o, value, need, why);
}

static int parse_seconds(const slp_option *o, const char *value, uint64_t *ret_ms, char why[200]) {
  uint64_t n = 0;
  int r = parse_count(o, value, 10u * 365u * 86400u, &n, why);
  *ret_ms = n * 1000u;
  return r;
}

/* Sets *ret to the position of `value` in the list o->value ("one|two"), counted from 1. */
static int parse_word(const slp_option *o, const char *value, int *ret, char why[200]) {
  const char *words = o->value;
  for (int place = 1;; place++) {
    size_t n = strcspn(words, "|");
    if (strlen(value) == n && memcmp(words, value, n) == 0) {
      *ret = place;
      return 0;
    }
    if (!words[n]) return slp_option_wrong(o, value, o->value, why);
    words += n + 1;
  }
}

static int set_mode(slp_args *a, slp_mode mode, char why[200]) {
  if (a->mode && a->mode != mode) {
    snprintf(why, 200, "%s can't be combined with %s", slp_mode_shown(mode), slp_mode_shown(a->mode));
    return SLP_EINVAL;
  }
  a->mode = mode;
  return 0;
}

static int set_lease_command(slp_args *a, const slp_option *o, slp_mode mode, const char *value,
                             char why[200]) {
  if (!*value) return slp_option_wrong(o, value, o->id == O_RELEASE ? "a shard or a worker" : "a shard", why);
  a->lease_name = value;
  return set_mode(a, mode, why);
}

static int set_seconds(slp_args *a, const slp_option *o, slp_mode mode, const char *value, char why[200]) {
  uint64_t n = 0;
  int r = value ? parse_count(o, value, 86400, &n, why) : 0;
  a->seconds = (uint32_t)n;
  return r ? r : set_mode(a, mode, why);
}

static int add_shard(slp_args *a, const char *value, char why[200]) {
  if (strncmp(value, "key:", 4) == 0) {
    a->shard_key = value + 4;
    return 0;
  }
  if (a->opts.shards_n == SLP_ARGS_SHARDS_MAX || !*value) {
    snprintf(why, 200, *value ? "-p: at most %d shards can be named" : "-p: needs the end of a shard id",
             SLP_ARGS_SHARDS_MAX);
    return SLP_EINVAL;
  }
  a->shards[a->opts.shards_n++] = value;
  a->opts.shards = a->shards;
  return 0;
}

static int add_regex(const slp_option *o, const char **list, size_t *n, const char *value, char why[200]) {
  if (*n == SLP_ARGS_REGEXES_MAX) {
    snprintf(why, 200, "--%s: at most %d can be given", o->name, SLP_ARGS_REGEXES_MAX);
    return SLP_EINVAL;
  }
  list[(*n)++] = value;
  return 0;
}

/* Stores --key as the key of -P and as the filter of a reading command, because -P may come later. In the
 * configuration file, only as the key of -P: a key for writing must not hide records from commands that
 * read. */
static int set_key(slp_args *a, const slp_option *o, const char *value, char why[200]) {
  a->key = value;
  return a->in_file ? 0 : add_regex(o, a->key_grep, &a->key_grep_n, value, why);
}

/* Removes the end of reading (--until, -o e@TIME) that the configuration file sets, because the command line
 * sets another end. */
static void forget_end_of_file(slp_args *a) {
  size_t n = 0;
  for (size_t i = 0; i < a->given_n; i++) {
    const slp_given *g = &a->given[i];
    int ends = g->option->id == O_UNTIL || (g->option->id == O_START && strncmp(g->value, "e@", 2) == 0);
    if (!g->from_file || !ends) a->given[n++] = *g;
  }
  a->given_n = n;
  a->until_given = 0;
}

static int set_until(slp_args *a, const slp_option *o, int64_t at_ms, char why[200]) {
  if (a->until_given && a->until_from_file && !a->in_file) forget_end_of_file(a);
  if (a->until_given && a->until_ms != at_ms) {
    char name[40];
    slp_option_shown(o, name);
    snprintf(why, 200, "%s: only one end can be given (--until, -o e@TIME)", name);
    return SLP_EINVAL;
  }
  a->until_given = 1;
  a->until_from_file = a->in_file;
  a->until_ms = at_ms;
  return 0;
}

static int set_start(slp_args *a, const slp_option *o, const char *value, const slp_clock *clock,
                     char why[200]) {
  slp_start start = {0};
  int r = slp_start_parse(value, clock, &start, why);
  if (r) return r;
  if (start.is_end) return set_until(a, o, start.at_ms, why);
  a->last = start.last;
  a->last_ends = 0;
  a->start_given = !start.last;
  a->start = start;
  return 0;
}

/* Parses the position of --to. The syntax is that of -o, except that a sequence number is given without a
 * shard, because --reset names the shard. */
static int set_to(slp_args *a, const slp_option *o, const char *value, const slp_clock *clock,
                  char why[200]) {
  a->to_given = 1;
  if (slp_start_parse_seq(slp_str_of(value), &a->to) == 0) return 0;
  if (slp_start_parse(value, clock, &a->to, why) == 0 && !a->to.is_end && !a->to.last &&
      (a->to.kind == SLOOP_OLDEST || a->to.kind == SLOOP_LATEST || a->to.kind == SLOOP_AT_TIME))
    return 0;
  return slp_option_wrong(
      o, value, "a position; use oldest, latest, s@TIME (as s@10m: ten minutes ago) or SEQUENCE", why);
}

static int set_time(slp_args *a, const slp_option *o, const char *value, const slp_clock *clock,
                    char why[200]) {
  int64_t at_ms = 0;
  if (slp_when_parse(slp_str_of(value), clock, &at_ms) != 0) {
    const char *remedy = slp_when_number_remedy(slp_str_of(value));
    static const char forms[] =
        "a time; use 1767225600, 2026-01-01T00:00:00Z, 2026-01-01, 13:10 or 2h30m (ago)";
    return slp_option_wrong(o, value, remedy ? remedy : forms, why);
  }
  if (o->id == O_UNTIL) return set_until(a, o, at_ms, why);
  a->last = 0;
  a->start_given = 1;
  a->start = (slp_start){.kind = SLOOP_AT_TIME, .at_ms = at_ms};
  return 0;
}

static int set_knob(slp_args *a, const char *value, char why[200]) {
  if (strcmp(value, "list") == 0) {
    a->mode = SLP_MODE_KNOBS;
    return 0;
  }
  if (strcmp(value, "dump") == 0) {
    a->mode = SLP_MODE_DUMP;
    return 0;
  }
  return slp_knob_set(a, slp_str_of(value), why);
}

static int set_decoder(slp_args *a, const char *value, char why[200]) {
  if (strncmp(value, "key=", 4) == 0) return slp_decode_parse(value + 4, &a->decode_key, why);
  return slp_decode_parse(strncmp(value, "value=", 6) == 0 ? value + 6 : value, &a->decode, why);
}

static int add_schema_file(slp_args *a, const slp_option *o, const char *value, char why[200]) {
  if (!*value) return slp_option_wrong(o, value, "the name of a file", why);
  if (a->schema_files_n == SLP_ARGS_SCHEMAS_MAX) {
    snprintf(why, 200, "--schema-file: more than %d", SLP_ARGS_SCHEMAS_MAX);
    return SLP_EINVAL;
  }
  a->schema_files[a->schema_files_n++] = value;
  return 0;
}

static int set_choice(slp_args *a, const slp_option *o, const char *value, char why[200]) {
  int place = 0;
  int r = parse_word(o, value, &place, why);
  if (r) return r;
  if (o->id == O_ORDER) a->opts.order = place == 1 ? SLOOP_ORDER_TIME : SLOOP_ORDER_SHARD;
  if (o->id == O_WIRE)
    a->opts.wire = place == 1 ? SLOOP_WIRE_AUTO : place == 2 ? SLOOP_WIRE_CBOR : SLOOP_WIRE_JSON;
  if (o->id == O_COLOR)
    a->color = place == 1 ? SLP_COLOR_AUTO : place == 2 ? SLP_COLOR_ALWAYS : SLP_COLOR_NEVER;
  if (o->id == O_COMPLETION) {
    a->completion = value;
    a->mode = SLP_MODE_COMPLETION;
  }
  return 0;
}

/* Handles -P, --consumers and --deregister. After --iam they do not choose a mode: --iam prints the rights
 * that they need. */
static int set_mode_or_its_rights(slp_args *a, slp_mode mode, char why[200]) {
  if (a->mode != SLP_MODE_IAM) return set_mode(a, mode, why);
  if (a->iam_of && a->iam_of != mode) {
    snprintf(why, 200, "%s can't be combined with %s", slp_mode_shown(mode), slp_mode_shown(a->iam_of));
    return SLP_EINVAL;
  }
  a->iam_of = mode;
  return 0;
}

/* Parses the value of --speed: 10x, 10 or 0.5x. */
static int set_speed(slp_args *a, const slp_option *o, const char *value, char why[200]) {
  slp_str number = slp_str_of(value);
  int64_t milli = 0;
  if (number.n && number.p[number.n - 1] == 'x') number.n--;
  if (strspn(value, "0123456789.") < number.n || slp_decimal_scaled(number, 3, &milli) || milli < 1 ||
      milli > 1000000000)
    return slp_option_wrong(o, value, "a speed from 0.001x to 1000000x", why);
  a->speed_milli = (uint64_t)milli;
  return 0;
}

/* Stores the option in `a`. take_option() has already refused a missing value, so value_or_null is NULL only
 * if the option may be given without a value. */
static int set_option(slp_args *a, const slp_option *o, const char *value_or_null, const slp_clock *clock,
                      char why[200]) {
  const char *value = value_or_null ? value_or_null : "";
  uint64_t n = 0;
  int r = 0;
  switch (o->id) {
    case O_START: return set_start(a, o, value, clock, why);
    case O_SINCE:
    case O_UNTIL: return set_time(a, o, value, clock, why);
    case O_TIP:
    case O_NO_FOLLOW: a->until_tip = 1; return 0;
    case O_COUNT: return parse_count(o, value, UINT64_MAX, &a->count, why);
    case O_TIMEOUT: return parse_seconds(o, value, &a->timeout_ms, why);
    case O_CONTACT: return parse_seconds(o, value, &a->contact_ms, why);
    case O_SHARD: return add_shard(a, value, why);
    case O_ORDER:
    case O_WIRE:
    case O_COLOR:
    case O_COMPLETION: return set_choice(a, o, value, why);
    case O_SAVE: a->save = value; return *value ? 0 : slp_option_wrong(o, value, "the name of a file", why);
    case O_LAST:
      a->start_given = 0;
      a->start = (slp_start){0};
      a->last_ends = 1;
      return parse_count(o, value, SLP_START_LAST_MAX, &a->last, why);
    case O_TOKEN: a->token = 1; return 0;
    case O_GREP: return add_regex(o, a->grep, &a->grep_n, value, why);
    case O_GREPV: return add_regex(o, a->grepv, &a->grepv_n, value, why);
    case O_KEY_IS: return add_regex(o, a->key_is, &a->key_is_n, value, why);
    case O_IGNORE_CASE: a->ignore_case = 1; return 0;
    case O_UNIQUE: a->unique = 1; return 0;
    case O_DECODE: return set_decoder(a, value, why);
    case O_SCHEMA_FILE: return add_schema_file(a, o, value, why);
    case O_FORMAT: a->format = value; return 0;
    case O_JSON: a->json = 1; return 0;
    case O_DELIMITER: a->delimiter = value; return 0;
    case O_KEY: a->key_delimiter = value; return 0;
    case O_OFFSET: a->show_offset = 1; return 0;
    case O_TIMESTAMPS: a->timestamps = 1; return 0;
    case O_UTC: a->utc = 1; return 0;
    case O_NULL: a->show_null = 1; return 0;
    case O_UNBUFFERED: a->unbuffered = 1; return 0;
    case O_PRODUCE: return set_mode_or_its_rights(a, SLP_MODE_PRODUCE, why);
    case O_LINES: a->lines = 1; return 0;
    case O_FIXED_KEY: return set_key(a, o, value, why);
    case O_KEY_FROM: a->key_from = value; return 0;
    case O_RATE: return parse_count(o, value, 1000000, &a->rate, why);
    case O_SPEED: return set_speed(a, o, value, why);
    case O_REJECTS:
      a->rejects = value;
      return *value ? 0 : slp_option_wrong(o, value, "the name of a file", why);
    case O_UNORDERED: a->unordered = 1; return 0;
    case O_AGGREGATE: a->aggregate = 1; return 0;
    case O_LOSS: a->fail_on_loss = 1; return 0;
    case O_KEEP_GOING: a->keep_going = 1; return 0;
    case O_ENDPOINT: a->opts.endpoint = value; return 0;
    case O_METRICS: a->metrics.listen = value; return 0; /* the address is checked when the server opens */
    case O_PUSH:
      a->opts.retrieval = SLOOP_RETRIEVAL_PUSH;
      if (value_or_null) a->opts.push_consumer = value;
      return value_or_null && !*value ? slp_option_wrong(o, value, "the name of a consumer", why) : 0;
    case O_CONSUMERS: return set_mode_or_its_rights(a, SLP_MODE_CONSUMERS, why);
    case O_DEREGISTER:
      a->deregister = value;
      return *value ? set_mode_or_its_rights(a, SLP_MODE_DEREGISTER, why)
                    : slp_option_wrong(o, value, "the name of a consumer", why);
    case O_KNOB: return set_knob(a, value, why);
    case O_CONFIG: return 0; /* slp_args_parse has read this file already */
    case O_QUIET: a->quiet = 1; return 0;
    case O_VERBOSE: a->verbose++; return 0;
    case O_DEBUG: a->contexts = value; return slp_log_contexts_check(value, why);
    case O_CONSUME: return 0;
    case O_LIST: return set_mode(a, SLP_MODE_LIST, why);
    case O_IAM:
      if (a->mode & (SLP_MODE_CONSUMERS | SLP_MODE_DEREGISTER | SLP_MODE_PRODUCE)) {
        a->iam_of = a->mode;
        a->mode = 0;
      }
      return set_mode(a, SLP_MODE_IAM, why);
    case O_SERVE:
      r = parse_count(o, value, 10000, &n, why);
      a->serve_shards = (uint32_t)n;
      return r ? r : set_mode(a, SLP_MODE_SERVE, why);
    case O_FEED: return parse_count(o, value, 10000, &a->feed, why);
    case O_DEMO: return set_seconds(a, o, SLP_MODE_DEMO, value_or_null, why);
    case O_BENCH: return set_seconds(a, o, SLP_MODE_BENCH, value_or_null, why);
    case O_APP:
      a->opts.app = value;
      return *value ? 0 : slp_option_wrong(o, value, "the name of an application", why);
    case O_STORE: a->opts.store = value; return *value ? 0 : slp_option_wrong(o, value, "a store", why);
    case O_APPS: return set_mode(a, SLP_MODE_APPS, why);
    case O_LEASES: return set_mode(a, SLP_MODE_LEASES, why);
    case O_NO_READ: a->no_read = 1; return 0;
    case O_LAG_OVER:
      a->lag_over = value;
      return slp_when_parse_span(slp_str_of(value), &a->lag_over_ms)
                 ? slp_option_wrong(o, value, "a length of time; use 90s, 5m, 2h30m, 1d", why)
                 : 0;
    case O_EXPLAIN: return set_lease_command(a, o, SLP_MODE_EXPLAIN, value, why);
    case O_RELEASE: return set_lease_command(a, o, SLP_MODE_RELEASE, value, why);
    case O_RESET: return set_lease_command(a, o, SLP_MODE_RESET, value, why);
    case O_DRAIN: return set_mode(a, SLP_MODE_DRAIN, why);
    case O_UNDRAIN: return set_mode(a, SLP_MODE_UNDRAIN, why);
    case O_PAUSE: return set_lease_command(a, o, SLP_MODE_PAUSE, value, why);
    case O_RESUME: return set_lease_command(a, o, SLP_MODE_RESUME, value, why);
    case O_TO: return set_to(a, o, value, clock, why);
    case O_FORCE: a->force = 1; return 0;
    case O_MIGRATE: a->migrate = value; return set_mode(a, SLP_MODE_MIGRATE, why);
    case O_WRITE: a->write = 1; return 0;
    case O_SNAPSHOT: a->snapshot = 1; return 0;
    case O_TRY: a->try_rights = 1; return 0;
    case O_MULTILANG:
    case O_CHECK:
      a->multilang = value;
      if (!*value) return slp_option_wrong(o, value, "the name of a file", why);
      return o->id == O_CHECK ? set_mode(a, SLP_MODE_CHECK, why) : 0;
    case O_TRACE_PROTOCOL: a->trace_protocol = 1; return 0;
    case O_WATCH:
      r = value_or_null ? parse_count(o, value, 3600, &n, why) : 0;
      a->watch_ms = value_or_null ? (uint32_t)n * 1000u : SLP_WATCH_MS;
      return r ? r : set_mode(a, SLP_MODE_WATCH, why);
    case O_KCAT: a->mode = SLP_MODE_KCAT; return 0;
    case O_MAN: a->mode = SLP_MODE_MAN; return 0;
    case O_HELP:
      a->mode = SLP_MODE_HELP;
      a->topic = value_or_null;
      return value_or_null ? slp_topic_check(value, why) : 0;
    case O_VERSION: a->mode = SLP_MODE_VERSION; return 0;
  }
  return 0;
}

int slp_args_take(slp_args *a, const slp_option *o, const char *value_or_null, int from_file,
                  const slp_clock *clock, char why[200]) {
  a->in_file = (uint8_t)from_file;
  int r = set_option(a, o, value_or_null, clock, why);
  if (r) return r;
  if (a->given_n == SLP_ARGS_GIVEN_MAX) {
    snprintf(why, 200, "more than %d options", SLP_ARGS_GIVEN_MAX);
    return SLP_EINVAL;
  }
  a->given[a->given_n++] = (slp_given){o, value_or_null, (uint8_t)from_file};
  return 0;
}
