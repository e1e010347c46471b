/* args.c - parses the command line by the table of options (options.h), in two rounds.
 *   1. The first round only looks for -F, because that file must be read before the other options.
 *   2. The second round takes the options of the command line, after those of the file. Checks then refuse
 *      options that do not go together. */
#include "cli/args.h"

#include <stdio.h>

#include "base/num.h"
#include "cli/config.h"
#include "cli/knobs.h"
#include "cli/log_filter.h"
#include "cli/nearest.h"

/* ---- values --------------------------------------------------------------------------------- */

static int wrong(const slp_option *o, const char *value, const char *need, char why[200]) {
  char name[40];
  slp_option_shown(o, name);
  snprintf(why, 200, "%s: \"%.60s\" is not %s", name, value, need);
  return SLP_EINVAL;
}

static int parse_count(const slp_option *o, const char *value, uint64_t max, uint64_t *ret, char why[200]) {
  if (slp_parse_u64(slp_str_of(value), ret) == 0 && *ret >= 1 && *ret <= max) return 0;
  char need[60];
  if (max == UINT64_MAX)
    snprintf(need, sizeof need, "a whole number from 1 on");
  else
    snprintf(need, sizeof need, "a whole number from 1 to %llu", (unsigned long long)max);
  return wrong(o, value, need, why);
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
    if (!words[n]) return wrong(o, value, o->value, why);
    words += n + 1;
  }
}

/* Returns how an error line shows a mode: by the option that chooses it. */
static const char *mode_shown(slp_mode mode) {
  switch (mode) {
    case SLP_MODE_LIST: return "-L";
    case SLP_MODE_SERVE: return "-M";
    case SLP_MODE_DEMO: return "--demo";
    case SLP_MODE_BENCH: return "--bench";
    case SLP_MODE_IAM: return "--iam";
    case SLP_MODE_LEASES: return "--leases";
    case SLP_MODE_EXPLAIN: return "--explain";
    case SLP_MODE_RELEASE: return "--release";
    case SLP_MODE_RESET: return "--reset";
    case SLP_MODE_WATCH: return "--watch";
    case SLP_MODE_MIGRATE: return "--migrate";
    case SLP_MODE_CONSUMERS: return "--consumers";
    case SLP_MODE_DEREGISTER: return "--deregister";
    case SLP_MODE_MULTILANG: return "--multilang";
    case SLP_MODE_CHECK: return "--check";
    default: return "following a stream";
  }
}

static int set_mode(slp_args *a, slp_mode mode, char why[200]) {
  if (a->mode && a->mode != mode) {
    snprintf(why, 200, "%s does not go together with %s", mode_shown(mode), mode_shown(a->mode));
    return SLP_EINVAL;
  }
  a->mode = mode;
  return 0;
}

static int set_lease_command(slp_args *a, const slp_option *o, slp_mode mode, const char *value,
                             char why[200]) {
  if (!*value) return wrong(o, value, o->id == O_RELEASE ? "a shard or a worker" : "a shard", why);
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

/* Removes the end of reading that the file sets (--until, -o e@TIME), because the command line sets another
 * end. */
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
  a->start_given = 1;
  a->start = start;
  return 0;
}

/* Parses the position of --to. The syntax is that of -o, except that a sequence number is given without a
 * shard, because --reset names the shard. */
static int set_to(slp_args *a, const slp_option *o, const char *value, const slp_clock *clock,
                  char why[200]) {
  a->to_given = 1;
  if (slp_start_parse_seq(slp_str_of(value), &a->to) == 0) return 0;
  if (slp_start_parse(value, clock, &a->to, why) == 0 && !a->to.is_end &&
      (a->to.kind == SLOOP_OLDEST || a->to.kind == SLOOP_LATEST || a->to.kind == SLOOP_AT_TIME))
    return 0;
  return wrong(o, value, "a position; use oldest, latest, s@TIME or SEQUENCE", why);
}

static int set_time(slp_args *a, const slp_option *o, const char *value, const slp_clock *clock,
                    char why[200]) {
  int64_t at_ms = 0;
  if (slp_when_parse(slp_str_of(value), clock, &at_ms) != 0) {
    const char *remedy = slp_when_number_remedy(slp_str_of(value));
    static const char forms[] =
        "a time; use 1767225600, 2026-01-01T00:00:00Z, 2026-01-01, 13:10 or 2h30m (ago)";
    return wrong(o, value, remedy ? remedy : forms, why);
  }
  if (o->id == O_UNTIL) return set_until(a, o, at_ms, why);
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
  if (!*value) return wrong(o, value, "the name of a file", why);
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

/* Handles --consumers and --deregister. After --iam they do not choose a mode: --iam prints the rights that
 * they need. */
static int set_registry(slp_args *a, slp_mode mode, char why[200]) {
  if (a->mode != SLP_MODE_IAM) return set_mode(a, mode, why);
  a->iam_of = mode;
  return 0;
}

/* Stores the option in `a`. take_option has already refused a missing value, so value_or_null is NULL only if
 * the option may stand without one. */
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
    case O_SAVE: a->save = value; return *value ? 0 : wrong(o, value, "the name of a file", why);
    case O_GREP: return add_regex(o, a->grep, &a->grep_n, value, why);
    case O_GREPV: return add_regex(o, a->grepv, &a->grepv_n, value, why);
    case O_IGNORE_CASE: a->ignore_case = 1; return 0;
    case O_UNIQUE: a->unique = 1; return 0;
    case O_DECODE: return set_decoder(a, value, why);
    case O_SCHEMA_FILE: return add_schema_file(a, o, value, why);
    case O_FORMAT: a->format = value; return 0;
    case O_JSON: a->json = 1; return 0;
    case O_DELIMITER: a->delimiter = value; return 0;
    case O_KEY: a->key_delimiter = value; return 0;
    case O_OFFSET: a->show_offset = 1; return 0;
    case O_NULL: a->show_null = 1; return 0;
    case O_UNBUFFERED: a->unbuffered = 1; return 0;
    case O_LOSS: a->fail_on_loss = 1; return 0;
    case O_KEEP_GOING: a->keep_going = 1; return 0;
    case O_ENDPOINT: a->opts.endpoint = value; return 0;
    case O_METRICS: a->metrics.listen = value; return 0; /* the address is checked when the server opens */
    case O_PUSH:
      a->opts.retrieval = SLOOP_RETRIEVAL_PUSH;
      if (value_or_null) a->opts.push_consumer = value;
      return value_or_null && !*value ? wrong(o, value, "the name of a consumer", why) : 0;
    case O_CONSUMERS: return set_registry(a, SLP_MODE_CONSUMERS, why);
    case O_DEREGISTER:
      a->deregister = value;
      return *value ? set_registry(a, SLP_MODE_DEREGISTER, why)
                    : wrong(o, value, "the name of a consumer", why);
    case O_KNOB: return set_knob(a, value, why);
    case O_CONFIG: return 0; /* slp_args_parse has read this file already */
    case O_QUIET: a->quiet = 1; return 0;
    case O_VERBOSE: a->verbose++; return 0;
    case O_DEBUG: a->contexts = value; return slp_log_contexts_check(value, why);
    case O_CONSUME: return 0;
    case O_LIST: return set_mode(a, SLP_MODE_LIST, why);
    case O_IAM:
      if (a->mode & (SLP_MODE_CONSUMERS | SLP_MODE_DEREGISTER)) {
        a->iam_of = a->mode;
        a->mode = 0;
      }
      return set_mode(a, SLP_MODE_IAM, why);
    case O_SERVE:
      r = parse_count(o, value, 10000, &n, why);
      a->serve_shards = (uint32_t)n;
      return r ? r : set_mode(a, SLP_MODE_SERVE, why);
    case O_DEMO: return set_seconds(a, o, SLP_MODE_DEMO, value_or_null, why);
    case O_BENCH: return set_seconds(a, o, SLP_MODE_BENCH, value_or_null, why);
    case O_APP: a->opts.app = value; return *value ? 0 : wrong(o, value, "the name of an application", why);
    case O_STORE: a->opts.store = value; return *value ? 0 : wrong(o, value, "a store", why);
    case O_LEASES: return set_mode(a, SLP_MODE_LEASES, why);
    case O_NO_READ: a->no_read = 1; return 0;
    case O_LAG_OVER:
      a->lag_over = value;
      return slp_when_parse_span(slp_str_of(value), &a->lag_over_ms)
                 ? wrong(o, value, "a length of time; use 90s, 5m, 2h30m, 1d", why)
                 : 0;
    case O_EXPLAIN: return set_lease_command(a, o, SLP_MODE_EXPLAIN, value, why);
    case O_RELEASE: return set_lease_command(a, o, SLP_MODE_RELEASE, value, why);
    case O_RESET: return set_lease_command(a, o, SLP_MODE_RESET, value, why);
    case O_TO: return set_to(a, o, value, clock, why);
    case O_FORCE: a->force = 1; return 0;
    case O_MIGRATE: a->migrate = value; return set_mode(a, SLP_MODE_MIGRATE, why);
    case O_WRITE: a->write = 1; return 0;
    case O_TRY: a->try_rights = 1; return 0;
    case O_MULTILANG:
    case O_CHECK:
      a->multilang = value;
      if (!*value) return wrong(o, value, "the name of a file", why);
      return o->id == O_CHECK ? set_mode(a, SLP_MODE_CHECK, why) : 0;
    case O_TRACE_PROTOCOL: a->trace_protocol = 1; return 0;
    case O_WATCH:
      r = value_or_null ? parse_count(o, value, 3600, &n, why) : 0;
      a->watch_ms = value_or_null ? (uint32_t)n * 1000u : SLP_WATCH_MS;
      return r ? r : set_mode(a, SLP_MODE_WATCH, why);
    case O_KCAT: a->mode = SLP_MODE_KCAT; return 0;
    case O_MAN: a->mode = SLP_MODE_MAN; return 0;
    case O_HELP: a->mode = SLP_MODE_HELP; return 0;
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

/* ---- words of the command line ------------------------------------------------------------------ */

typedef struct words {
  int argc;
  const char *const *argv;
  int at; /* index in argv of the next word to take */
  const slp_clock *clock;
  /* 1 in the first round, which only looks for -F and for modes that need no file */
  /* quick: the first round found a mode that needs no file */
  uint8_t looking, quick;
  /* the path that -F gives */
  const char *config;
} words;

static int is_quick(const slp_option *o, const char *value) {
  return o->id == O_HELP || o->id == O_VERSION || o->id == O_MAN || o->id == O_COMPLETION ||
         o->id == O_KCAT || (o->id == O_KNOB && value && strcmp(value, "list") == 0);
}

static int take_option(slp_args *a, words *w, const slp_option *o, const char *value, char why[200]) {
  if (!value && o->kind == SLP_NEEDS_VALUE) {
    if (w->at == w->argc) {
      char name[40];
      slp_option_shown(o, name);
      snprintf(why, 200, "%s needs a value: %s", name, o->value);
      return SLP_EINVAL;
    }
    value = w->argv[w->at++];
  }
  if (o->id == O_CONFIG && slp_str_of(value).n == 0) return wrong(o, value, "the name of a file", why);
  if (!w->looking) return slp_args_take(a, o, value, 0, w->clock, why);
  if (o->id == O_CONFIG) w->config = value;
  if (is_quick(o, value)) w->quick = 1;
  return 0;
}

/* Says that there is no such option, and names the options that are most like it. */
static int unknown_option(slp_str name, char why[200]) {
  slp_nearest like;
  slp_nearest_begin(&like, name);
  for (size_t i = 0; i < slp_options_n; i++) slp_nearest_offer(&like, slp_options[i].name);
  int n = snprintf(why, 200, "unknown option --%.*s", (int)(name.n < 60 ? name.n : 60), name.p);
  slp_nearest_text(&like, "--", why + n, 200 - (size_t)n);
  if (!like.n) snprintf(why + n, 200 - (size_t)n, "; try stream-tail -h");
  return SLP_EINVAL;
}

static int take_long(slp_args *a, words *w, const char *word, char why[200]) {
  size_t n = strcspn(word, "=");
  const char *value = word[n] == '=' ? word + n + 1 : NULL;
  const slp_option *o = slp_option_by_name((slp_str){word, n});
  if (!o) return unknown_option((slp_str){word, n}, why);
  if (value && o->kind == SLP_NO_VALUE) {
    snprintf(why, 200, "--%s takes no value", o->name);
    return SLP_EINVAL;
  }
  return take_option(a, w, o, value, why);
}

/* Takes short options in one word: -eJ, -c5 or -c 5. Letters are options until one of them needs a value. The
 * value is the rest of the word or the next word. */
static int take_letters(slp_args *a, words *w, const char *letters, char why[200]) {
  for (; *letters; letters++) {
    const slp_option *o = slp_option_by_letter(*letters);
    if (!o) {
      snprintf(why, 200, "unknown option -%c; try stream-tail -h", *letters);
      return SLP_EINVAL;
    }
    int rest = o->kind == SLP_NEEDS_VALUE && letters[1];
    int r = take_option(a, w, o, rest ? letters + 1 : NULL, why);
    if (r || rest) return r;
  }
  return 0;
}

static int take_stream(slp_args *a, const char *word, char why[200]) {
  if (!*word) {
    snprintf(why, 200, "the stream's name is empty");
    return SLP_EINVAL;
  }
  if (a->streams_n == SLP_ARGS_STREAMS_MAX) {
    snprintf(why, 200, "at most %d streams at a time", SLP_ARGS_STREAMS_MAX);
    return SLP_EINVAL;
  }
  for (size_t i = 0; i < a->streams_n; i++) {
    if (strcmp(a->streams[i], word) != 0) continue;
    snprintf(why, 200, "\"%.100s\" is named twice", word);
    return SLP_EINVAL;
  }
  a->streams[a->streams_n++] = word;
  a->stream = a->streams[0];
  return 0;
}

static int answers_at_once(const slp_args *a) {
  return a->mode == SLP_MODE_HELP || a->mode == SLP_MODE_VERSION || a->mode == SLP_MODE_KNOBS ||
         a->mode == SLP_MODE_MAN || a->mode == SLP_MODE_COMPLETION || a->mode == SLP_MODE_KCAT;
}

/* Takes the words of the command line. Both rounds call it. */
static int take_words(slp_args *a, words *w, char why[200]) {
  int only_stream = 0;
  while (w->at < w->argc) {
    const char *word = w->argv[w->at++];
    int r = 0;
    if (only_stream || word[0] != '-' || !word[1])
      r = w->looking ? 0 : take_stream(a, word, why);
    else if (strcmp(word, "--") == 0)
      only_stream = 1;
    else if (word[1] == '-')
      r = take_long(a, w, word + 2, why);
    else
      r = take_letters(a, w, word + 1, why);
    if (r) return r;
    /* a mode such as -h, which only prints a text, ignores all other words */
    if (answers_at_once(a)) return 0;
  }
  return 0;
}

/* ---- checks of the whole command line ------------------------------------------------------------ */

static int check_mode(const slp_args *a, char why[200]) {
  for (size_t i = 0; i < a->given_n; i++) {
    const slp_given *g = &a->given[i];
    /* The file is for all commands, so an option of the file that does not fit this mode is no error. */
    if (g->from_file || (g->option->modes & (int)a->mode)) continue;
    char name[40];
    slp_option_shown(g->option, name);
    snprintf(why, 200, "%s does not go together with %s", name, mode_shown(a->mode));
    return SLP_EINVAL;
  }
  return 0;
}

static int on_command_line(const slp_args *a, slp_option_id id) {
  for (size_t i = 0; i < a->given_n; i++)
    if (a->given[i].option->id == id && !a->given[i].from_file) return 1;
  return 0;
}

static void forget(slp_args *a, slp_option_id id) {
  size_t n = 0;
  for (size_t i = 0; i < a->given_n; i++)
    if (a->given[i].option->id != id) a->given[n++] = a->given[i];
  a->given_n = n;
  if (id == O_JSON) a->json = 0;
  if (id == O_FORMAT) a->format = NULL;
  if (id == O_DELIMITER) a->delimiter = NULL;
  if (id == O_KEY) a->key_delimiter = NULL;
  if (id == O_OFFSET) a->show_offset = 0;
  if (id == O_NULL) a->show_null = 0;
}

/* Drops options of the file that contradict options of the command line about output lines. On the command
 * line -J drops the file's -f, -D, -K, -O and -Z; -f drops -J, -D, -K and -O; each of -D, -K and -O drops -J
 * and -f; -Z drops -J. */
static void let_command_line_win(slp_args *a) {
  static const slp_option_id parts[] = {O_DELIMITER, O_KEY, O_OFFSET, O_NULL};
  int json = on_command_line(a, O_JSON), format = on_command_line(a, O_FORMAT), part = 0;
  for (size_t i = 0; i < SLP_COUNT(parts); i++) {
    int here = on_command_line(a, parts[i]);
    part |= here && parts[i] != O_NULL;
    if (here && !json) forget(a, O_JSON);
    if ((json || (format && parts[i] != O_NULL)) && !here) forget(a, parts[i]);
  }
  if (format && !json) forget(a, O_JSON);
  if ((json || part) && !format) forget(a, O_FORMAT);
}

/* Refuses contradictions about output lines. -J and -f each describe a whole line; -D, -K, -O and -Z describe
 * parts of a plain line. -Z also goes with -f. */
static int check_output(const slp_args *a, char why[200]) {
  const char *whole = a->json ? "-J" : a->format ? "-f" : NULL;
  const char *part = a->delimiter       ? "-D"
                     : a->key_delimiter ? "-K"
                     : a->show_offset   ? "-O"
                     : a->show_null     ? "-Z"
                                        : NULL;
  if (a->json && a->format)
    snprintf(why, 200, "-f does not go together with -J");
  else if (whole && part && !(a->format && strcmp(part, "-Z") == 0))
    snprintf(why, 200, "%s does not go together with %s", part, whole);
  else
    return 0;
  return SLP_EINVAL;
}

#define SHOWS_LEASES (SLP_MODE_LEASES | SLP_MODE_EXPLAIN | SLP_MODE_RELEASE | SLP_MODE_RESET | SLP_MODE_WATCH)

/* Returns the first given option that contradicts leases, or NULL. Leases decide which shards a worker reads
 * and from which position. Sets *ret_remedy to what the user can do instead. */
static const char *against_leases(const slp_args *a, const char **ret_remedy) {
  *ret_remedy = "leave -G away to read some shards only";
  if (a->opts.shards_n || a->shard_key) return "-p";
  *ret_remedy = "the leases keep the place, so leave it away";
  if (a->save) return "--save";
  *ret_remedy = "--reset SHARD --to SEQUENCE sets where a shard is read next";
  if (a->start.kind == SLOOP_AT_SEQ) return "-o SHARD:SEQUENCE";
  *ret_remedy = "--migrate token:FILE sloop:APP makes leases of it";
  return a->start.kind == SLOOP_AT_TOKEN ? "-o @FILE" : NULL;
}

/* If no application is given, returns an option or setting of the command line that needs an application, or
 * NULL. The file may hold such options, because they are meant for commands that have an application. */
static const char *needs_app(const slp_args *a) {
  static const char *const settings[] = {"store=", "store_endpoint=", "schema=", "worker="};
  for (size_t i = 0; i < a->given_n; i++) {
    const slp_given *g = &a->given[i];
    if (g->from_file) continue;
    if (g->option->id == O_STORE) return "--store";
    for (size_t k = 0; k < SLP_COUNT(settings) && g->option->id == O_KNOB; k++)
      if (strncmp(g->value, settings[k], strlen(settings[k])) == 0) return settings[k];
  }
  return a->mode & SHOWS_LEASES ? mode_shown(a->mode) : NULL;
}

/* Checks the options that are given together with --multilang. The stream and the application come from the
 * properties file that --multilang names. */
static int check_multilang(const slp_args *a, char why[200]) {
  if (!(a->mode & (SLP_MODE_MULTILANG | SLP_MODE_CHECK | SHOWS_LEASES)))
    snprintf(why, 200, "--multilang does not go together with %s", mode_shown(a->mode));
  else if (a->stream)
    snprintf(why, 200, "--multilang: the file names the stream; leave \"%.60s\" away", a->stream);
  else if (on_command_line(a, O_APP))
    snprintf(why, 200, "-G does not go together with --multilang: the file names the application");
  else
    return 0;
  return SLP_EINVAL;
}

static int check_leases(const slp_args *a, char why[200]) {
  const char *remedy, *other = a->opts.app ? against_leases(a, &remedy) : needs_app(a);
  int tail = a->mode == SLP_MODE_TAIL, shows = (a->mode & SHOWS_LEASES) != 0;
  if (other && a->opts.app && (tail || shows))
    snprintf(why, 200, "%s does not go together with -G, whose leases say what is read, and from where: %s",
             other, remedy);
  else if (other && !a->opts.app && (tail || shows))
    snprintf(why, 200, "%s%.*s needs -G APP: whose leases?", *other == '-' ? "" : "-X ",
             (int)strcspn(other, "="), other);
  else if (shows && a->streams_n > 1 && a->mode != SLP_MODE_LEASES)
    snprintf(why, 200, "%s: one stream at a time: \"%.60s\" and \"%.60s\"", mode_shown(a->mode),
             a->streams[0], a->streams[1]);
  else if (shows && a->opts.store && strcmp(a->opts.store, "memory") == 0)
    snprintf(why, 200, "%s: leases in the memory of another process can't be looked at", mode_shown(a->mode));
  else if (a->mode == SLP_MODE_RESET && !a->to_given)
    snprintf(why, 200, "--reset needs --to POSITION: where is it to be read?");
  else if (a->mode == SLP_MODE_RESET && a->to.kind == SLOOP_AT_SEQ && strcmp(a->lease_name, "all") == 0)
    snprintf(why, 200, "--reset all: a sequence number is a place in one shard");
  else
    return 0;
  return SLP_EINVAL;
}

/* ---- --leases --metrics ---- */

/* Returns 1 if an -X on the command line sets `setting`, such as "metrics=". A metrics address in the file
 * does not turn --leases into a server, because it is meant for commands that read records. */
static int is_given_here(const slp_args *a, const char *setting) {
  for (size_t i = 0; i < a->given_n; i++) {
    const slp_given *g = &a->given[i];
    if (!g->from_file && g->option->id == O_KNOB && strncmp(g->value, setting, strlen(setting)) == 0)
      return 1;
  }
  return 0;
}

static int add_app(slp_args *a, const char *app) {
  for (size_t i = 0; i < a->apps_n; i++)
    if (strcmp(a->apps[i], app) == 0) return 0;
  if (a->apps_n == SLP_ARGS_TABLES_MAX) return SLP_ELIMIT;
  a->apps[a->apps_n++] = app;
  return 0;
}

/* Takes the application of each -G on the command line. If there is none, takes the last -G of the file. */
static int take_apps(slp_args *a, char why[200]) {
  int r = 0;
  for (size_t i = 0; i < a->given_n && !r; i++)
    if (a->given[i].option->id == O_APP && !a->given[i].from_file) r = add_app(a, a->given[i].value);
  if (!a->apps_n && a->opts.app) r = add_app(a, a->opts.app);
  if (!r && a->apps_n * slp_max_u64(a->streams_n, 1) <= SLP_ARGS_TABLES_MAX) return 0;
  snprintf(why, 200, "--leases --metrics: at most %d applications times streams at a time",
           SLP_ARGS_TABLES_MAX);
  return SLP_EINVAL;
}

static int check_exporter(slp_args *a, char why[200]) {
  static const slp_option_id ends[] = {O_LAG_OVER, O_JSON, O_TIMEOUT, O_CONTACT};
  if (a->mode != SLP_MODE_LEASES || !a->metrics.listen) return 0;
  a->exports = on_command_line(a, O_METRICS) || is_given_here(a, "metrics=");
  if (!a->exports) return 0;
  for (size_t i = 0; i < SLP_COUNT(ends); i++) {
    if (!on_command_line(a, ends[i])) continue;
    snprintf(why, 200, "%s does not go together with --metrics, which serves until it is stopped",
             ends[i] == O_LAG_OVER  ? "--lag-over"
             : ends[i] == O_JSON    ? "-J"
             : ends[i] == O_TIMEOUT ? "--timeout"
                                    : "-m");
    return SLP_EINVAL;
  }
  return take_apps(a, why);
}

int slp_args_want_metrics(const slp_args *a) {
  return a->metrics.listen || a->metrics.cloudwatch || a->metrics.cloudwatch_as_motorway;
}

/* Takes the words of --migrate FROM TO STREAM. FROM is the option's value; take_words has stored TO as the
 * first name in `streams`. */
static int take_target(slp_args *a, char why[200]) {
  if (a->streams_n != 2) {
    snprintf(why, 200, "--migrate FROM TO STREAM: %s",
             a->streams_n < 2 ? "a word is missing" : "a word too many");
    return SLP_EINVAL;
  }
  int r = slp_migrate_place_read(a->migrate, &a->migrate_from, why);
  if (!r) r = slp_migrate_place_read(a->streams[0], &a->migrate_to, why);
  if (!r && a->migrate_from.file && a->migrate_to.file) {
    snprintf(why, 200, "--migrate: both are tokens: the file is to be copied");
    r = SLP_EINVAL;
  }
  a->stream = a->streams[0] = a->streams[1];
  a->streams_n = 1;
  return r;
}

/* Refuses options that --iam can't use without --try. --iam alone asks no service and prints a policy in one
 * form only. */
static int check_iam(const slp_args *a, char why[200]) {
  static const slp_option_id asks[] = {O_JSON, O_ENDPOINT, O_CONTACT};
  for (size_t i = 0; i < SLP_COUNT(asks) && a->mode == SLP_MODE_IAM && !a->try_rights; i++) {
    if (!on_command_line(a, asks[i])) continue;
    snprintf(why, 200, "%s goes with --iam only beside --try, which asks the service",
             asks[i] == O_JSON       ? "-J"
             : asks[i] == O_ENDPOINT ? "-b"
                                     : "-m");
    return SLP_EINVAL;
  }
  return 0;
}

static int check_streams(const slp_args *a, char why[200]) {
  int needs = a->mode == SLP_MODE_TAIL || a->mode == SLP_MODE_IAM ||
              (a->mode & (SHOWS_LEASES | SLP_MODE_MIGRATE | SLP_MODE_CONSUMERS | SLP_MODE_DEREGISTER));
  if (!a->stream && needs)
    snprintf(why, 200,
             "which stream? Usage: stream-tail [options] STREAM...; -h for help, --demo to see it work");
  else if (a->stream && a->mode == SLP_MODE_DEMO)
    snprintf(why, 200, "--demo makes its own stream; leave \"%.60s\" away", a->stream);
  else if (a->streams_n > 1 && (a->mode == SLP_MODE_BENCH || a->mode == SLP_MODE_SERVE))
    snprintf(why, 200, "%s: one stream at a time: \"%.60s\" and \"%.60s\"",
             a->mode == SLP_MODE_BENCH ? "--bench" : "-M", a->streams[0], a->streams[1]);
  else if (a->streams_n > 1 && a->mode == SLP_MODE_DEREGISTER)
    snprintf(why, 200, "--deregister: one stream at a time: \"%.60s\" and \"%.60s\"", a->streams[0],
             a->streams[1]);
  else if (a->streams_n > 1 && a->start.kind == SLOOP_AT_SEQ)
    snprintf(why, 200, "-o SHARD:SEQUENCE is a place in one stream, and %zu are named", a->streams_n);
  else if (a->shard_key &&
           (a->opts.shards_n || a->save || a->start.kind == SLOOP_AT_SEQ || a->start.kind == SLOOP_AT_TOKEN))
    snprintf(why, 200, "-p key:TEXT does not go together with %s",
             a->opts.shards_n ? "another -p"
             : a->save        ? "--save"
                              : "-o SHARD:SEQUENCE or -o @FILE");
  else if (a->shard_key && slp_args_want_metrics(a))
    snprintf(why, 200, "-p key:TEXT does not go together with %s",
             a->metrics.listen ? "--metrics" : "-X cloudwatch");
  else if (a->shard_key && a->streams_n > 1)
    snprintf(why, 200, "-p key:TEXT reads one stream, and %zu are named", a->streams_n);
  else if (a->mode == SLP_MODE_BENCH && (a->shard_key || a->start.kind == SLOOP_AT_TOKEN))
    snprintf(why, 200, "%s does not go together with --bench", a->shard_key ? "-p key:TEXT" : "-o @FILE");
  else
    return 0;
  return SLP_EINVAL;
}

static void settle(slp_args *a) {
  a->opts.stream = a->stream;
  /* this mode does not use an application, so `app` can only come from the file */
  if (!(a->mode & (SLP_MODE_TAIL | SLP_MODE_IAM | SHOWS_LEASES))) a->opts.app = NULL;
  if (!a->opts.app) a->opts.store = a->opts.schema = a->opts.worker = NULL;
  if (!a->opts.app && a->mode != SLP_MODE_MIGRATE) a->opts.store_endpoint = NULL;
  if (!a->opts.push_consumer && !a->opts.app && !a->multilang) a->opts.push_consumer = "stream-tail";
  if (a->start_given) {
    a->opts.start.kind = a->start.kind;
    a->opts.start.at_ms = a->start.at_ms;
    if (a->start.kind == SLOOP_AT_SEQ) {
      a->opts.start.shard = a->start.shard;
      a->opts.start.seq = a->start.seq;
      a->opts.start.sub = a->start.sub;
    }
  }
  /* With -e, -c or --until the user asks for a definite set of records. The user wants that set in order, so
   * the command waits for slow shards without a limit. */
  if ((a->until_tip || a->count || a->until_given) && !a->order_wait_given)
    a->opts.order_wait_ms = UINT32_MAX;
  if (a->verbose > 1) a->opts.log_level = a->verbose > 2 ? SLOOP_LOG_DEBUG : SLOOP_LOG_INFO;
  if (a->contexts) a->opts.log_level = SLOOP_LOG_DEBUG;
}

static int check(slp_args *a, char why[200]) {
  if (!a->mode) a->mode = a->multilang ? SLP_MODE_MULTILANG : SLP_MODE_TAIL;
  int dump = a->mode == SLP_MODE_DUMP;
  int r = dump ? 0 : check_mode(a, why);
  let_command_line_win(a);
  if (!r) r = check_output(a, why);
  if (!r) r = check_iam(a, why);
  if (!r && a->mode == SLP_MODE_MIGRATE) r = take_target(a, why);
  if (!r && !dump && a->multilang) r = check_multilang(a, why);
  if (!r && !dump && !a->multilang) r = check_streams(a, why);
  if (!r && !dump && !a->multilang) r = check_leases(a, why);
  if (!r && !dump) r = check_exporter(a, why);
  if (!r) settle(a);
  return r;
}

/* Writes why the file could not be used. If the file could not be read, the sentence says whether -F or
 * STREAM_TAIL_CONFIG gave the path, or, if neither did, how to run without a file. */
static void tell_config(const char *of_file, const char *by, int named, char why[SLP_ARGS_WHY]) {
  int unread = strncmp(of_file, "can't read ", 11) == 0;
  snprintf(why, SLP_ARGS_WHY, "%s%.330s%s", unread ? by : "", of_file,
           unread && !named ? "; STREAM_TAIL_CONFIG=/dev/null reads none" : "");
}

int slp_args_parse(slp_args *a, slp_mem *mem, int argc, const char *const *argv,
                   const slp_surroundings *around, char why[SLP_ARGS_WHY]) {
  memset(a, 0, sizeof *a);
  slp_buf_init(&a->config_text, mem, 0);
  sloop_opts_init(&a->opts);
  a->decoded_bytes_max = SLP_DECODED_BYTES;
  a->leases_ms = SLP_LEASES_MS;
  sloop_metrics_opts_init(&a->metrics);
  sloop_sandbox_opts_init(&a->sandbox);
  a->synthetic.records = UINT64_MAX;
  a->color = SLP_COLOR_AUTO;
  *why = 0;
  char part[200] = "";
  words look = {.argc = argc, .argv = argv, .at = 1, .clock = &around->clock, .looking = 1};
  words take = {.argc = argc, .argv = argv, .at = 1, .clock = &around->clock};
  /* An error of the command line ends the first round early; the second round finds the same error and
   * reports it. */
  if (take_words(a, &look, part) == 0 && !look.quick && (look.config || around->config)) {
    int named = look.config != NULL || !around->config_may_be_absent;
    char of_file[SLP_ARGS_WHY];
    int r = slp_config_read(a, look.config ? look.config : around->config, !named, take.clock, of_file);
    if (r) {
      tell_config(of_file, look.config ? "-F: " : named ? "STREAM_TAIL_CONFIG: " : "", named, why);
      return r;
    }
  }
  int r = take_words(a, &take, part);
  if (!r && !answers_at_once(a)) r = check(a, part);
  if (r) snprintf(why, SLP_ARGS_WHY, "%s", part);
  return r;
}

void slp_args_free(slp_args *a) { slp_buf_free(&a->config_text); }
