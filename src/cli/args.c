/* args.c - the option table, and the parser and the help text made from it. */
#include "cli/args.h"

#include <stdio.h>

#include "base/num.h"
#include "cli/knobs.h"

#define READS (SLP_MODE_TAIL | SLP_MODE_BENCH)
#define TALKS (READS | SLP_MODE_LIST)
#define ALL (TALKS | SLP_MODE_SERVE | SLP_MODE_DEMO)

typedef enum { NO_VALUE, NEEDS_VALUE, MAY_HAVE_VALUE /* only as --name=VALUE */ } value_kind;

typedef enum {
  O_START,
  O_TIP,
  O_COUNT,
  O_TIMEOUT,
  O_SHARD,
  O_ORDER,
  O_LOSS,
  O_FORMAT,
  O_JSON,
  O_ENDPOINT,
  O_WIRE,
  O_KNOB,
  O_QUIET,
  O_VERBOSE,
  O_LIST,
  O_SERVE,
  O_DEMO,
  O_BENCH,
  O_HELP,
  O_VERSION
} option_id;

typedef struct option {
  option_id id;
  char letter; /* or 0 */
  const char *name;
  value_kind kind;
  const char *value; /* what the help calls it */
  int modes;         /* where it makes sense */
  const char *help;  /* lines after the first are indented */
} option;

static const option options[] = {
    {O_START, 'o', "start", NEEDS_VALUE, "POSITION", READS,
     "where to begin: latest (default), oldest, s@TIME or SHARD:SEQUENCE.\n"
     "TIME: Unix seconds or ms, 2026-01-31T12:00:00Z, or how long ago: 10m, 2h30m"},
    {O_TIP, 'e', "exit-at-tip", NO_VALUE, NULL, SLP_MODE_TAIL, "leave when every shard is read to its tip"},
    {O_COUNT, 'c', "count", NEEDS_VALUE, "N", SLP_MODE_TAIL, "leave after N records"},
    {O_TIMEOUT, 0, "timeout", NEEDS_VALUE, "SECONDS", TALKS,
     "leave that long after the last record; fail when nothing was\nanswered in that time"},
    {O_SHARD, 'p', "shard", NEEDS_VALUE, "SHARD", READS,
     "only shards whose id ends with this; may be given several times"},
    {O_ORDER, 0, "order", NEEDS_VALUE, "time|shard", READS,
     "time (default): by arrival across all shards; shard: each for itself"},
    {O_LOSS, 0, "fail-on-loss", NO_VALUE, NULL, SLP_MODE_TAIL,
     "leave with status 3 when records can no longer be read"},
    {O_FORMAT, 'f', "format", NEEDS_VALUE, "FORMAT", SLP_MODE_TAIL,
     "print this for each record (no newline is added):\n"
     "%s payload   %S its length   %R length as 4 bytes   %k key   %K its length\n"
     "%T time, ms  %t stream  %p shard  %o sequence  %u sub-sequence\n"
     "%l ms behind the tip   %% percent   \\n \\r \\t \\0 \\\\ \\xXX one byte"},
    {O_JSON, 'J', "json", NO_VALUE, NULL, TALKS, "one JSON object a line"},
    {O_ENDPOINT, 'b', "endpoint", NEEDS_VALUE, "URL", TALKS,
     "talk to this instead of AWS; else AWS_ENDPOINT_URL_KINESIS, AWS_ENDPOINT_URL"},
    {O_WIRE, 0, "wire", NEEDS_VALUE, "auto|cbor|json", READS,
     "how records travel (auto: CBOR where it is spoken)"},
    {O_KNOB, 'X', "set", NEEDS_VALUE, "NAME=VALUE", ALL, "set anything else; -X list shows all"},
    {O_QUIET, 'q', "quiet", NO_VALUE, NULL, ALL, "nothing on standard error but the reason of a failure"},
    {O_VERBOSE, 'v', "verbose", NO_VALUE, NULL, ALL,
     "a progress line a second on standard error; -vv, -vvv: logs"},
    {O_LIST, 'L', "list", NO_VALUE, NULL, ALL, "list the shards of STREAM: id, state, parents, ranges"},
    {O_SERVE, 'M', "sandbox", NEEDS_VALUE, "N", ALL,
     "serve a sandbox Kinesis with a stream of N shards until standard input\n"
     "ends; prints the environment that clients need. STREAM: demo"},
    {O_DEMO, 0, "demo", MAY_HAVE_VALUE, "SECONDS", ALL,
     "sandbox, producers, a split and a merge, and a tail of it all"},
    {O_BENCH, 0, "bench", MAY_HAVE_VALUE, "SECONDS", ALL,
     "read STREAM to nowhere and report; without STREAM: a sandbox in a\nprocess of its own"},
    {O_HELP, 'h', "help", NO_VALUE, NULL, ALL, "this text"},
    {O_VERSION, 'V', "version", NO_VALUE, NULL, ALL, "the version"},
};

static const char head[] =
    "Usage: stream-tail [options] STREAM        STREAM is a name or an ARN\n"
    "Prints the records of a Kinesis stream, all shards in order, and follows it through resharding.\n\n";
static const char tail[] =
    "\nExit status: 0 the end was reached, -c, --timeout, or a first Ctrl-C; 1 failed; 2 wrong usage;\n"
    "3 --fail-on-loss; 130 a second Ctrl-C. Standard output is data only.\n";

int slp_args_help(slp_buf *b) {
  int bad = slp_buf_add_z(b, head);
  for (size_t i = 0; i < SLP_COUNT(options) && !bad; i++) {
    const option *o = &options[i];
    char names[64];
    char letter[8] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const char *before = o->kind == NO_VALUE ? "" : o->kind == NEEDS_VALUE ? " " : "[=";
    snprintf(names, sizeof names, "%s--%s%s%s%s", letter, o->name, before, o->value ? o->value : "",
             o->kind == MAY_HAVE_VALUE ? "]" : "");
    bad = slp_buf_addf(b, "  %-28s", names);
    for (const char *line = o->help; !bad && *line;) {
      size_t n = strcspn(line, "\n");
      bad = slp_buf_addf(b, "%s%.*s\n", line == o->help ? " " : "                               ", (int)n,
                         line);
      line += n + (line[n] == '\n');
    }
  }
  return bad ? bad : slp_buf_add_z(b, tail);
}

/* ---- values --------------------------------------------------------------------------------- */

/* How the user wrote the option, for messages. */
static void name_option(const option *o, char out[40]) {
  if (o->letter)
    snprintf(out, 40, "-%c", o->letter);
  else
    snprintf(out, 40, "--%s", o->name);
}

static int wrong(const option *o, const char *value, const char *need, char why[200]) {
  char name[40];
  name_option(o, name);
  snprintf(why, 200, "%s: \"%.60s\" is not %s", name, value, need);
  return SLP_EINVAL;
}

static int parse_count(const option *o, const char *value, uint64_t max, uint64_t *ret, char why[200]) {
  if (slp_parse_u64(slp_str_of(value), ret) == 0 && *ret >= 1 && *ret <= max) return 0;
  char need[60];
  if (max == UINT64_MAX)
    snprintf(need, sizeof need, "a whole number from 1 on");
  else
    snprintf(need, sizeof need, "a whole number from 1 to %llu", (unsigned long long)max);
  return wrong(o, value, need, why);
}

static int set_mode(slp_args *a, slp_mode mode, char why[200]) {
  if (a->mode && a->mode != mode) {
    snprintf(why, 200, "only one of -L, -M, --demo and --bench can be given");
    return SLP_EINVAL;
  }
  a->mode = mode;
  return 0;
}

static int set_seconds(slp_args *a, const option *o, slp_mode mode, const char *value, char why[200]) {
  uint64_t n = 0;
  int r = value ? parse_count(o, value, 86400, &n, why) : 0;
  a->seconds = (uint32_t)n;
  return r ? r : set_mode(a, mode, why);
}

static int add_shard(slp_args *a, const char *value, char why[200]) {
  if (a->opts.shards_n == SLP_ARGS_SHARDS_MAX || !*value) {
    snprintf(why, 200, *value ? "-p: at most %d shards can be named" : "-p: needs the end of a shard id",
             SLP_ARGS_SHARDS_MAX);
    return SLP_EINVAL;
  }
  a->shards[a->opts.shards_n++] = value;
  a->opts.shards = a->shards;
  return 0;
}

static int set_order(slp_args *a, const option *o, const char *value, char why[200]) {
  if (strcmp(value, "time") == 0)
    a->opts.order = SLOOP_ORDER_TIME;
  else if (strcmp(value, "shard") == 0)
    a->opts.order = SLOOP_ORDER_SHARD;
  else
    return wrong(o, value, "time or shard", why);
  return 0;
}

static int set_wire(slp_args *a, const option *o, const char *value, char why[200]) {
  if (strcmp(value, "auto") == 0)
    a->opts.wire = SLOOP_WIRE_AUTO;
  else if (strcmp(value, "cbor") == 0)
    a->opts.wire = SLOOP_WIRE_CBOR;
  else if (strcmp(value, "json") == 0)
    a->opts.wire = SLOOP_WIRE_JSON;
  else
    return wrong(o, value, "auto, cbor or json", why);
  return 0;
}

static int set_knob(slp_args *a, const char *value, char why[200]) {
  if (strcmp(value, "list") == 0) {
    a->mode = SLP_MODE_KNOBS;
    return 0;
  }
  return slp_knob_set(a, slp_str_of(value), why);
}

/* value_or_null is there for every option that needs one: take_option saw to that. */
static int set_option(slp_args *a, const option *o, const char *value_or_null, int64_t now_ms,
                      char why[200]) {
  const char *value = value_or_null ? value_or_null : "";
  uint64_t n = 0;
  int r = 0;
  switch (o->id) {
    case O_START: a->start_given = 1; return slp_start_parse(slp_str_of(value), now_ms, &a->start, why);
    case O_TIP: a->until_tip = 1; return 0;
    case O_COUNT: return parse_count(o, value, UINT64_MAX, &a->count, why);
    case O_TIMEOUT:
      r = parse_count(o, value, 10u * 365u * 86400u, &n, why);
      a->timeout_ms = n * 1000u;
      return r;
    case O_SHARD: return add_shard(a, value, why);
    case O_ORDER: return set_order(a, o, value, why);
    case O_LOSS: a->fail_on_loss = 1; return 0;
    case O_FORMAT: a->format = value; return 0;
    case O_JSON: a->json = 1; return 0;
    case O_ENDPOINT: a->opts.endpoint = value; return 0;
    case O_WIRE: return set_wire(a, o, value, why);
    case O_KNOB: return set_knob(a, value, why);
    case O_QUIET: a->quiet = 1; return 0;
    case O_VERBOSE: a->verbose++; return 0;
    case O_LIST: return set_mode(a, SLP_MODE_LIST, why);
    case O_SERVE:
      r = parse_count(o, value, 10000, &n, why);
      a->serve_shards = (uint32_t)n;
      return r ? r : set_mode(a, SLP_MODE_SERVE, why);
    case O_DEMO: return set_seconds(a, o, SLP_MODE_DEMO, value_or_null, why);
    case O_BENCH: return set_seconds(a, o, SLP_MODE_BENCH, value_or_null, why);
    case O_HELP: a->mode = SLP_MODE_HELP; return 0;
    case O_VERSION: a->mode = SLP_MODE_VERSION; return 0;
  }
  return 0;
}

/* ---- words ---------------------------------------------------------------------------------- */

typedef struct words {
  int argc;
  const char *const *argv;
  int at;        /* the next word */
  uint32_t seen; /* bits of option_id */
  int64_t now_ms;
} words;

static int take_option(slp_args *a, words *w, const option *o, const char *value, char why[200]) {
  if (!value && o->kind == NEEDS_VALUE) {
    if (w->at == w->argc) {
      char name[40];
      name_option(o, name);
      snprintf(why, 200, "%s needs a value: %s", name, o->value);
      return SLP_EINVAL;
    }
    value = w->argv[w->at++];
  }
  w->seen |= 1u << o->id;
  return set_option(a, o, value, w->now_ms, why);
}

static int take_long(slp_args *a, words *w, const char *word, char why[200]) {
  size_t n = strcspn(word, "=");
  const char *value = word[n] == '=' ? word + n + 1 : NULL;
  for (size_t i = 0; i < SLP_COUNT(options); i++) {
    const option *o = &options[i];
    if (strlen(o->name) != n || memcmp(o->name, word, n) != 0) continue;
    if (value && o->kind == NO_VALUE) {
      snprintf(why, 200, "--%s takes no value", o->name);
      return SLP_EINVAL;
    }
    return take_option(a, w, o, value, why);
  }
  snprintf(why, 200, "unknown option --%.*s; try stream-tail -h", (int)(n < 60 ? n : 60), word);
  return SLP_EINVAL;
}

/* -eJ, -c5 and -c 5: letters until one takes a value, which is the rest of the word or the next word. */
static int take_letters(slp_args *a, words *w, const char *letters, char why[200]) {
  for (; *letters; letters++) {
    const option *o = NULL;
    for (size_t i = 0; i < SLP_COUNT(options) && !o; i++)
      if (options[i].letter == *letters) o = &options[i];
    if (!o) {
      snprintf(why, 200, "unknown option -%c; try stream-tail -h", *letters);
      return SLP_EINVAL;
    }
    int rest = o->kind == NEEDS_VALUE && letters[1];
    int r = take_option(a, w, o, rest ? letters + 1 : NULL, why);
    if (r || rest) return r;
  }
  return 0;
}

static int take_stream(slp_args *a, const char *word, char why[200]) {
  if (a->stream) {
    snprintf(why, 200, "one stream at a time: \"%.60s\" and \"%.60s\"", a->stream, word);
    return SLP_EINVAL;
  }
  if (!*word) {
    snprintf(why, 200, "the stream's name is empty");
    return SLP_EINVAL;
  }
  a->stream = word;
  return 0;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int check_together(slp_args *a, const words *w, char why[200]) {
  for (size_t i = 0; i < SLP_COUNT(options); i++) {
    const option *o = &options[i];
    if (!(w->seen & 1u << o->id) || (o->modes & (int)a->mode)) continue;
    char name[40];
    name_option(o, name);
    const char *mode = a->mode == SLP_MODE_LIST    ? "-L"
                       : a->mode == SLP_MODE_SERVE ? "-M"
                       : a->mode == SLP_MODE_DEMO  ? "--demo"
                                                   : "--bench";
    snprintf(why, 200, "%s does not go together with %s", name, mode);
    return SLP_EINVAL;
  }
  if (a->format && a->json) {
    snprintf(why, 200, "-f does not go together with -J");
    return SLP_EINVAL;
  }
  if (!a->stream && (a->mode == SLP_MODE_TAIL || a->mode == SLP_MODE_LIST)) {
    snprintf(why, 200,
             "which stream? Usage: stream-tail [options] STREAM; -h for help, --demo to see it work");
    return SLP_EINVAL;
  }
  if (a->stream && a->mode == SLP_MODE_DEMO) {
    snprintf(why, 200, "--demo makes its own stream; leave \"%.60s\" away", a->stream);
    return SLP_EINVAL;
  }
  return 0;
}

static void settle(slp_args *a) {
  a->opts.stream = a->stream;
  if (a->start_given) {
    a->opts.start = a->start.kind;
    a->opts.start_at_ms = a->start.at_ms;
    if (a->start.kind == SLOOP_AT_SEQ) {
      a->opts.start_shard = a->start.shard;
      a->opts.start_seq = a->start.seq;
    }
  }
  /* Who asks for a definite set of records wants them in order, however long a slow shard takes. */
  if ((a->until_tip || a->count) && !a->order_wait_given) a->opts.order_wait_ms = UINT32_MAX;
  if (a->verbose > 1) a->opts.log_level = a->verbose > 2 ? SLOOP_LOG_DEBUG : SLOOP_LOG_INFO;
}

int slp_args_parse(slp_args *a, int argc, const char *const *argv, int64_t now_ms, char why[200]) {
  _Static_assert(O_VERSION < 32, "the seen options are bits of one word");
  memset(a, 0, sizeof *a);
  sloop_opts_init(&a->opts);
  sloop_sandbox_opts_init(&a->sandbox);
  a->synthetic.records = UINT64_MAX;
  words w = {.argc = argc, .argv = argv, .at = 1, .now_ms = now_ms};
  int only_stream = 0;
  while (w.at < argc) {
    const char *word = argv[w.at++];
    int r = 0;
    if (only_stream || word[0] != '-' || !word[1])
      r = take_stream(a, word, why);
    else if (strcmp(word, "--") == 0)
      only_stream = 1;
    else if (word[1] == '-')
      r = take_long(a, &w, word + 2, why);
    else
      r = take_letters(a, &w, word + 1, why);
    if (r) return r;
    /* These answer at once, whatever else is there. */
    if (a->mode == SLP_MODE_HELP || a->mode == SLP_MODE_VERSION || a->mode == SLP_MODE_KNOBS) return 0;
  }
  if (!a->mode) a->mode = SLP_MODE_TAIL;
  int r = check_together(a, &w, why);
  if (!r) settle(a);
  return r;
}
