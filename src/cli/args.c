/* args.c - parses the command line by the table of options (options.h), in two rounds. The first round only
 * looks for -F. Then the options of the configuration file are taken, so that the second round can replace
 * them by those of the command line. Finally, checks refuse options that do not go together. */
#include "cli/args.h"

#include "api/metrics_data.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cli/config.h"
#include "cli/decode.h"
#include "cli/migrate_place.h"
#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/other_words.h"
#include "cli/point_in_time.h"
#include "cli/stream_pattern.h"

#include <sloop.h>
#include <sloop_sandbox.h>
#include <stdio.h>

/* ---- words of the command line ------------------------------------------------------------------ */

typedef struct words {
  int argc;
  const char *const *argv;
  int at; /* index in argv of the next word to take */
  const slp_clock *clock;
  /* looking: 1 in the first round, which only looks for -F and for modes that need no configuration file.
   * quick: 1 if the first round has found such a mode */
  /* quick: 1 if the first round found a mode that needs no configuration file */
  uint8_t looking, quick;
  /* 1: the first round found -P, so the words behind STREAM are files */
  uint8_t produces;
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
  /* -h TOPIC: the topic may be a word of its own, because nothing behind -h has another meaning */
  if (o->id == O_HELP && !value && w->at < w->argc && w->argv[w->at][0] && w->argv[w->at][0] != '-')
    value = w->argv[w->at++];
  if (o->id == O_CONFIG && slp_str_of(value).n == 0)
    return slp_option_wrong(o, value, "the name of a file", why);
  if (!w->looking) return slp_args_take(a, o, value, 0, w->clock, why);
  if (o->id == O_CONFIG) w->config = value;
  if (o->id == O_PRODUCE) w->produces = 1;
  if (is_quick(o, value)) w->quick = 1;
  return 0;
}

/* Writes into `why` that the option `name` does not exist, and which options are most like it. */
static int unknown_option(slp_str name, char why[200]) {
  slp_nearest like;
  const char *here = slp_other_word(name);
  if (here) {
    snprintf(why, 200, "unknown option --%.*s: here it is: %.130s", (int)name.n, name.p, here);
    return SLP_EINVAL;
  }
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
      const char *here = slp_other_letter(*letters);
      snprintf(why, 200,
               here ? "unknown option -%c; what it is in kcat is here: %.100s"
                    : "unknown option -%c; try stream-tail -h",
               *letters, here);
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
    snprintf(why, 200, "\"%.100s\" is given twice", word);
    return SLP_EINVAL;
  }
  if (slp_is_stream_pattern(word)) a->patterns[a->patterns_n++] = word;
  a->streams[a->streams_n++] = word;
  a->stream = a->streams[0];
  return 0;
}

static int take_file(slp_args *a, const char *word, char why[200]) {
  if (a->files_n == SLP_ARGS_FILES_MAX) {
    snprintf(why, 200, "at most %d files at a time", SLP_ARGS_FILES_MAX);
    return SLP_EINVAL;
  }
  a->files[a->files_n++] = word;
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
      r = w->looking ? 0 : w->produces && a->streams_n ? take_file(a, word, why) : take_stream(a, word, why);
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
    /* The configuration file is for all commands, so an option in it that does not fit this mode is no
     * error. */
    if (g->from_file || (g->option->modes & (int)a->mode)) continue;
    char name[40];
    slp_option_shown(g->option, name);
    snprintf(why, 200, "%s can't be combined with %s", name, slp_mode_shown(a->mode));
    return SLP_EINVAL;
  }
  return 0;
}

static int on_command_line(const slp_args *a, slp_option_id id) {
  for (size_t i = 0; i < a->given_n; i++)
    if (a->given[i].option->id == id && !a->given[i].from_file) return 1;
  return 0;
}

static void forget_given_option(slp_args *a, slp_option_id id) {
  size_t n = 0;
  for (size_t i = 0; i < a->given_n; i++)
    if (a->given[i].option->id != id) a->given[n++] = a->given[i];
  a->given_n = n;
  if (id == O_JSON) a->json = 0;
  if (id == O_FORMAT) a->format = NULL;
  if (id == O_DELIMITER) a->delimiter = NULL;
  if (id == O_KEY) a->key_delimiter = NULL;
  if (id == O_OFFSET) a->show_offset = 0;
  if (id == O_TIMESTAMPS) a->timestamps = 0;
  if (id == O_NULL) a->show_null = 0;
  if (id == O_COUNT) a->count = 0;
}

/* Drops options of the configuration file that contradict options of the command line about output lines. On
 * the command line -J drops the file's -f, -D, -K, -O, --timestamps and -Z; -f drops -J, -D, -K, -O and
 * --timestamps; each of -D, -K, -O and --timestamps drops -J and -f; -Z drops -J. */
static void let_command_line_win(slp_args *a) {
  static const slp_option_id parts[] = {O_DELIMITER, O_KEY, O_OFFSET, O_TIMESTAMPS, O_NULL};
  int json = on_command_line(a, O_JSON), format = on_command_line(a, O_FORMAT), part = 0;
  for (size_t i = 0; i < SLP_COUNT(parts); i++) {
    int here = on_command_line(a, parts[i]);
    part |= here && parts[i] != O_NULL;
    if (here && !json) forget_given_option(a, O_JSON);
    if ((json || (format && parts[i] != O_NULL)) && !here) forget_given_option(a, parts[i]);
  }
  if (format && !json) forget_given_option(a, O_JSON);
  if ((json || part) && !format) forget_given_option(a, O_FORMAT);
}

/* Refuses contradictions about output lines. -J and -f each describe a whole line; -D, -K, -O, --timestamps
 * and -Z describe parts of a plain line. -Z also goes with -f. */
static int check_output(const slp_args *a, char why[200]) {
  const char *whole = a->json ? "-J" : a->format ? "-f" : NULL;
  const char *part = a->delimiter       ? "-D"
                     : a->key_delimiter ? "-K"
                     : a->show_offset   ? "-O"
                     : a->timestamps    ? "--timestamps"
                     : a->show_null     ? "-Z"
                                        : NULL;
  if (a->json && a->format)
    snprintf(why, 200, "-f can't be combined with -J");
  else if (whole && part && !(a->format && strcmp(part, "-Z") == 0))
    snprintf(why, 200, "%s can't be combined with %s", part, whole);
  else
    return 0;
  return SLP_EINVAL;
}

#define DRAINS (SLP_MODE_DRAIN | SLP_MODE_UNDRAIN)
#define SHOWS_LEASES                                                                                  \
  (SLP_MODE_LEASES | SLP_MODE_EXPLAIN | SLP_MODE_RELEASE | SLP_MODE_RESET | SLP_MODE_WATCH | DRAINS | \
   SLP_MODE_PAUSE | SLP_MODE_RESUME)

/* Returns the first given option that contradicts leases, or NULL. Leases decide which shards a worker reads
 * and from which position. Sets *ret_remedy to what the user can do instead. */
static const char *against_leases(const slp_args *a, const char **ret_remedy) {
  *ret_remedy = "leave out -G to read only some shards";
  if (a->opts.shards_n || a->shard_key) return "-p";
  *ret_remedy = "the leases keep the position; leave it out";
  if (a->save) return "--save";
  if (a->token) return "--token";
  *ret_remedy = "--reset SHARD --to SEQUENCE sets where a shard is read next";
  if (a->start.kind == SLOOP_AT_SEQ) return "-o SHARD:SEQUENCE";
  *ret_remedy = "--migrate token:FILE sloop:APP makes leases from it";
  return a->start.kind == SLOOP_AT_TOKEN ? "-o @FILE" : NULL;
}

/* If no application is given, returns an option or setting of the command line that needs an application, or
 * NULL if there is none. The configuration file may hold such options, because they are meant for commands
 * that have an application. */
static const char *needs_app(const slp_args *a) {
  static const char *const settings[] = {"store=", "store_endpoint=", "schema=", "worker="};
  for (size_t i = 0; i < a->given_n; i++) {
    const slp_given *g = &a->given[i];
    if (g->from_file) continue;
    if (g->option->id == O_STORE) return "--store";
    for (size_t k = 0; k < SLP_COUNT(settings) && g->option->id == O_KNOB; k++)
      if (strncmp(g->value, settings[k], strlen(settings[k])) == 0) return settings[k];
  }
  return a->mode & SHOWS_LEASES ? slp_mode_shown(a->mode) : NULL;
}

/* Checks the options that are given together with --multilang. The stream and the application come from the
 * properties file that --multilang names. */
static int check_multilang(const slp_args *a, char why[200]) {
  if (!(a->mode & (SLP_MODE_MULTILANG | SLP_MODE_CHECK | SHOWS_LEASES)))
    snprintf(why, 200, "--multilang can't be combined with %s", slp_mode_shown(a->mode));
  else if (a->stream)
    snprintf(why, 200, "--multilang: the file names the stream; leave out \"%.60s\"", a->stream);
  else if (on_command_line(a, O_APP))
    snprintf(why, 200, "-G can't be combined with --multilang: the file names the application");
  else
    return 0;
  return SLP_EINVAL;
}

static int check_leases(const slp_args *a, char why[200]) {
  const char *remedy = "", *other = a->opts.app ? against_leases(a, &remedy) : needs_app(a);
  int tail = a->mode == SLP_MODE_TAIL, shows = (a->mode & SHOWS_LEASES) != 0;
  if (other && a->opts.app && (tail || shows))
    snprintf(why, 200, "%s can't be combined with -G, because the leases say what is read and from where: %s",
             other, remedy);
  else if (other && !a->opts.app && (tail || shows))
    snprintf(why, 200, "%s%.*s needs -G APP, the application", *other == '-' ? "" : "-X ",
             (int)strcspn(other, "="), other);
  else if (shows && a->streams_n > 1 && !(a->mode & (SLP_MODE_LEASES | DRAINS)))
    snprintf(why, 200, "%s: one stream at a time: \"%.60s\" and \"%.60s\"", slp_mode_shown(a->mode),
             a->streams[0], a->streams[1]);
  else if (shows && a->opts.store && strcmp(a->opts.store, "memory") == 0)
    snprintf(why, 200, "%s: leases in the memory of another process can't be read", slp_mode_shown(a->mode));
  else if (a->mode == SLP_MODE_RESET && !a->to_given)
    snprintf(why, 200, "--reset needs --to POSITION, the position to read from");
  else if (a->mode == SLP_MODE_RESET && a->to.kind == SLOOP_AT_SEQ && strcmp(a->lease_name, "all") == 0)
    snprintf(why, 200, "--reset all: a sequence number is a position in one shard; name the shard");
  else
    return 0;
  return SLP_EINVAL;
}

/* ---- -n and -o -N ---- */

/* Returns the first given option that contradicts a search for the last records, or NULL. */
static const char *against_last(const slp_args *a) {
  if (a->opts.app) return "-G";
  if (a->shard_key) return "-p key:TEXT";
  if (a->opts.order == SLOOP_ORDER_SHARD) return "--order shard";
  if (!a->last_ends) return NULL;
  if (a->save) return "--save";
  return a->until_given ? "--until" : NULL;
}

/* Checks -n and -o -N, which ask for the last records. In commands that print no records, drops the one that
 * the configuration file gives. When -o or --since was taken from the command line, take_option.c has already
 * dropped an -n of the configuration file. */
static int check_last(slp_args *a, char why[200]) {
  int says_where = on_command_line(a, O_START) || on_command_line(a, O_SINCE);
  if (a->mode != SLP_MODE_TAIL && !says_where) a->last = 0;
  const char *other = !a->last ? NULL : a->mode != SLP_MODE_TAIL ? slp_mode_shown(a->mode) : against_last(a);
  if (says_where && on_command_line(a, O_LAST)) other = "-o";
  if (!other) return 0;
  snprintf(why, 200, "%s can't be combined with %s", on_command_line(a, O_LAST) ? "-n" : "-o -N", other);
  return SLP_EINVAL;
}

/* ---- -P ---- */

/* Refuses -P to the stream of a DynamoDB table. Records get into that stream only by writes to the table. */
static int check_writable(const slp_args *a, char why[200]) {
  if (!a->stream || (strncmp(a->stream, "dynamodb:", 9) != 0 && !strstr(a->stream, ":dynamodb:"))) return 0;
  snprintf(why, 200, "-P: \"%.60s\" is no stream of Kinesis; the changes of a table come from writes to it",
           a->stream);
  return SLP_EINVAL;
}

/* Checks the options of -P. Drops the options of the configuration file about how records are printed,
 * because they are meant for commands that print. */
static int check_produce(slp_args *a, char why[200]) {
  static const slp_option_id printing[] = {O_JSON, O_DELIMITER, O_KEY, O_COUNT};
  for (size_t i = 0; i < SLP_COUNT(printing); i++)
    if (!on_command_line(a, printing[i])) forget_given_option(a, printing[i]);
  const char *keys = a->key_delimiter ? "-K" : a->key ? "-k" : NULL;
  if (check_writable(a, why)) return SLP_EINVAL;
  if ((a->json && (a->key || a->key_from)) || (a->key_from && keys))
    snprintf(why, 200, "%s can't be combined with %s", a->key_from ? "--key-from" : "-k",
             a->json ? "-J" : keys);
  else if (a->speed_milli && !a->json)
    snprintf(why, 200, "--speed needs -J, whose lines say when a record had arrived");
  else if (a->speed_milli && a->rate)
    snprintf(why, 200, "--speed can't be combined with --rate");
  else if (a->lines && !a->files_n)
    snprintf(why, 200, "-l needs a FILE: -P -l STREAM FILE...; standard input is read by lines anyway");
  else if (a->files_n && !a->lines &&
           (a->json || a->key_delimiter || a->key_from || a->delimiter || a->rejects))
    snprintf(why, 200, "%s needs lines, and a FILE without -l is one record",
             a->json            ? "-J"
             : a->key_delimiter ? "-K"
             : a->key_from      ? "--key-from"
             : a->delimiter     ? "-D"
                                : "--rejects");
  else
    return 0;
  return SLP_EINVAL;
}

/* ---- --leases --metrics ---- */

/* Returns 1 if an -X on the command line sets `setting`, such as "metrics=". A metrics address in the
 * configuration file is meant for commands that read records, so it does not turn --leases into a server. */
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

/* Takes the application of each -G on the command line. If there is none, takes the last -G of the
 * configuration file. */
static int take_apps(slp_args *a, char why[200]) {
  int r = 0;
  for (size_t i = 0; i < a->given_n && !r; i++)
    if (a->given[i].option->id == O_APP && !a->given[i].from_file) r = add_app(a, a->given[i].value);
  if (!a->apps_n && a->opts.app) r = add_app(a, a->opts.app);
  if (!r && a->apps_n * slp_max_u64(a->streams_n, 1) <= SLP_ARGS_TABLES_MAX) return 0;
  snprintf(why, 200, "--leases --metrics: at most %d pairs of application and stream", SLP_ARGS_TABLES_MAX);
  return SLP_EINVAL;
}

static int check_exporter(slp_args *a, char why[200]) {
  static const slp_option_id ends[] = {O_LAG_OVER, O_JSON, O_TIMEOUT, O_CONTACT};
  if (a->mode != SLP_MODE_LEASES || !a->metrics.listen) return 0;
  a->exports = on_command_line(a, O_METRICS) || is_given_here(a, "metrics=");
  if (!a->exports) return 0;
  for (size_t i = 0; i < SLP_COUNT(ends); i++) {
    if (!on_command_line(a, ends[i])) continue;
    snprintf(why, 200, "%s can't be combined with --metrics, which serves until it is stopped",
             ends[i] == O_LAG_OVER  ? "--lag-over"
             : ends[i] == O_JSON    ? "-J"
             : ends[i] == O_TIMEOUT ? "--timeout"
                                    : "-m");
    return SLP_EINVAL;
  }
  return take_apps(a, why);
}

int slp_args_several(const slp_args *a) { return a->streams_n > 1 || a->patterns_n > 0; }

int slp_args_want_metrics(const slp_args *a) {
  const sloop_metrics_opts_t *m = &a->metrics;
  return m->listen || m->cloudwatch || m->cloudwatch_set || m->set_of_0_1;
}

const char *slp_args_cloudwatch(const slp_args *a) {
  const sloop_metrics_opts_t *m = &a->metrics;
  const char *name = !m->cloudwatch_set && m->set_of_0_1 ? "motorway" : m->cloudwatch_set;
  const slp_metrics_set *set = slp_metrics_set_of(name);
  return m->cloudwatch ? m->cloudwatch : set ? set->ns : NULL;
}

/* Takes the words of --migrate FROM TO STREAM. FROM is the value of the option. take_words has stored TO as
 * the first name in `streams`. */
static int take_target(slp_args *a, char why[200]) {
  if (a->streams_n != 2) {
    snprintf(why, 200, "--migrate FROM TO STREAM: %s",
             a->streams_n < 2 ? "an argument is missing" : "one argument too many");
    return SLP_EINVAL;
  }
  int r = slp_migrate_place_read(a->migrate, &a->migrate_from, why);
  if (!r) r = slp_migrate_place_read(a->streams[0], &a->migrate_to, why);
  if (!r && a->migrate_from.file && a->migrate_to.file) {
    snprintf(why, 200, "--migrate: both are tokens; copy the file instead");
    r = SLP_EINVAL;
  }
  a->stream = a->streams[0] = a->streams[1];
  a->streams_n = 1;
  return r;
}

/* Refuses options that --iam can't use without --try. --iam alone calls no service and prints a policy in one
 * form only. */
static int check_iam(const slp_args *a, char why[200]) {
  static const slp_option_id asks[] = {O_JSON, O_ENDPOINT, O_CONTACT};
  for (size_t i = 0; i < SLP_COUNT(asks) && a->mode == SLP_MODE_IAM && !a->try_rights; i++) {
    if (!on_command_line(a, asks[i])) continue;
    snprintf(why, 200, "%s can be used with --iam only if --try is given, which calls the service",
             asks[i] == O_JSON       ? "-J"
             : asks[i] == O_ENDPOINT ? "-b"
                                     : "-m");
    return SLP_EINVAL;
  }
  if (a->iam_of == SLP_MODE_PRODUCE) return check_writable(a, why);
  if (a->mode != SLP_MODE_IAM || !a->aggregate) return 0;
  snprintf(why, 200, "--aggregate needs -P");
  return SLP_EINVAL;
}

static int check_streams(const slp_args *a, char why[200]) {
  int needs = a->mode == SLP_MODE_TAIL || a->mode == SLP_MODE_IAM ||
              (a->mode & (SHOWS_LEASES | SLP_MODE_MIGRATE | SLP_MODE_CONSUMERS | SLP_MODE_DEREGISTER |
                          SLP_MODE_PRODUCE));
  if (!a->stream && (a->mode & SHOWS_LEASES) && a->opts.app)
    snprintf(why, 200, "which stream? %s -G %.60s needs its name too; stream-tail -L lists the streams",
             slp_mode_shown(a->mode), a->opts.app);
  else if (!a->stream && needs)
    snprintf(why, 200,
             "which stream? Usage: stream-tail [options] STREAM...; -h for help, --demo to see it work");
  else if (a->feed && a->synthetic.bytes)
    snprintf(why, 200,
             "--feed can't be combined with -X sandbox.synthetic_bytes, which makes records itself");
  else if (a->stream && a->mode == SLP_MODE_APPS)
    snprintf(why, 200, "--apps lists all applications of a store: leave out \"%.60s\"", a->stream);
  else if (a->mode == SLP_MODE_APPS && a->opts.store && strcmp(a->opts.store, "memory") == 0)
    snprintf(why, 200, "--apps: leases in the memory of another process can't be read");
  else if (a->stream && a->mode == SLP_MODE_DEMO)
    snprintf(why, 200, "--demo makes its own stream; leave out \"%.60s\"", a->stream);
  else if (a->streams_n > 1 && (a->mode == SLP_MODE_BENCH || a->mode == SLP_MODE_SERVE))
    snprintf(why, 200, "%s: one stream at a time: \"%.60s\" and \"%.60s\"",
             a->mode == SLP_MODE_BENCH ? "--bench" : "-M", a->streams[0], a->streams[1]);
  else if (a->streams_n > 1 && a->mode == SLP_MODE_DEREGISTER)
    snprintf(why, 200, "--deregister: one stream at a time: \"%.60s\" and \"%.60s\"", a->streams[0],
             a->streams[1]);
  else if (a->streams_n > 1 && a->start.kind == SLOOP_AT_SEQ)
    snprintf(why, 200, "-o SHARD:SEQUENCE is a position in one stream, but %zu are given", a->streams_n);
  else if (a->shard_key && (a->opts.shards_n || a->save || a->token || a->start.kind == SLOOP_AT_SEQ ||
                            a->start.kind == SLOOP_AT_TOKEN))
    snprintf(why, 200, "-p key:TEXT can't be combined with %s",
             a->opts.shards_n ? "another -p"
             : a->save        ? "--save"
             : a->token       ? "--token"
                              : "-o SHARD:SEQUENCE or -o @FILE");
  else if (a->shard_key && slp_args_want_metrics(a))
    snprintf(why, 200, "-p key:TEXT can't be combined with %s",
             a->metrics.listen ? "--metrics" : "-X cloudwatch");
  else if (a->shard_key && a->streams_n > 1)
    snprintf(why, 200, "-p key:TEXT reads one stream, but %zu are given", a->streams_n);
  else if (a->mode == SLP_MODE_BENCH && (a->shard_key || a->start.kind == SLOOP_AT_TOKEN))
    snprintf(why, 200, "%s can't be combined with --bench", a->shard_key ? "-p key:TEXT" : "-o @FILE");
  else
    return 0;
  return SLP_EINVAL;
}

/* Checks the patterns among the streams. A pattern stands for several streams, whose names are not known
 * yet. */
static int check_patterns(const slp_args *a, char why[200]) {
  const int several = SLP_MODE_TAIL | SLP_MODE_LIST | SLP_MODE_LEASES | SLP_MODE_IAM | SLP_MODE_CONSUMERS;
  slp_stream_pattern pattern;
  for (size_t i = 0; i < a->patterns_n; i++) {
    const char *word = a->patterns[i];
    if (slp_stream_pattern_read(word, &pattern, why)) return SLP_EINVAL;
    if (!(a->mode & several))
      snprintf(why, 200, "%s takes the name of one stream, and \"%.60s\" is a pattern of names",
               slp_mode_shown(a->mode), word);
    else if (a->mode == SLP_MODE_LEASES && a->exports)
      snprintf(why, 200, "--leases --metrics takes names of streams, and \"%.60s\" is a pattern", word);
    else if (a->start.kind == SLOOP_AT_SEQ || a->shard_key)
      snprintf(why, 200, "%s is about one stream, and \"%.60s\" is a pattern of names",
               a->shard_key ? "-p key:TEXT" : "-o SHARD:SEQUENCE", word);
    else
      continue;
    return SLP_EINVAL;
  }
  return 0;
}

static void derive_opts_from_args(slp_args *a) {
  a->opts.stream = a->stream;
  /* this mode uses no application, so `app` can only come from the configuration file */
  if (!(a->mode & (SLP_MODE_TAIL | SLP_MODE_IAM | SHOWS_LEASES))) a->opts.app = NULL;
  if (!a->opts.app && a->mode != SLP_MODE_APPS) a->opts.store = NULL;
  if (!a->opts.app) a->opts.schema = a->opts.worker = NULL;
  if (!a->opts.app && !(a->mode & (SLP_MODE_MIGRATE | SLP_MODE_APPS))) a->opts.store_endpoint = NULL;
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
  if ((a->until_tip || a->count || a->until_given || a->last_ends) && !a->order_wait_given)
    a->opts.order_wait_ms = UINT32_MAX;
  if (a->verbose > 1) a->opts.log_level = a->verbose > 2 ? SLOOP_LOG_DEBUG : SLOOP_LOG_INFO;
  if (a->contexts) a->opts.log_level = SLOOP_LOG_DEBUG;
}

static int check_args(slp_args *a, char why[200]) {
  if (!a->mode) a->mode = a->multilang ? SLP_MODE_MULTILANG : SLP_MODE_TAIL;
  int dump = a->mode == SLP_MODE_DUMP;
  int r = dump ? 0 : check_mode(a, why);
  let_command_line_win(a);
  if (!r && a->mode == SLP_MODE_PRODUCE) r = check_produce(a, why);
  if (!r) r = check_output(a, why);
  if (!r) r = check_iam(a, why);
  if (!r && a->mode == SLP_MODE_MIGRATE) r = take_target(a, why);
  if (!r && !dump && a->multilang) r = check_multilang(a, why);
  if (!r && !dump && !a->multilang) r = check_streams(a, why);
  if (!r && !dump && !a->multilang) r = check_leases(a, why);
  if (!r && !dump) r = check_exporter(a, why);
  if (!r && !dump) r = check_last(a, why);
  if (!r && !dump) r = check_patterns(a, why);
  if (!r) derive_opts_from_args(a);
  return r;
}

/* Writes why the configuration file could not be used. If it could not be read, adds whether -F or
 * STREAM_TAIL_CONFIG gave the path. If neither gave it, adds how to run without a file. */
static void tell_config(const char *of_file, const char *by, int named, char why[SLP_ARGS_WHY]) {
  int unread = strncmp(of_file, "can't read ", 11) == 0;
  snprintf(why, SLP_ARGS_WHY, "%s%.330s%s", unread ? by : "", of_file,
           unread && !named ? "; STREAM_TAIL_CONFIG=/dev/null reads none" : "");
}

static void set_defaults(slp_args *a, slp_mem *mem) {
  memset(a, 0, sizeof *a);
  slp_buf_init(&a->config_text, mem, 0);
  sloop_opts_init(&a->opts);
  a->decoded_bytes_max = SLP_DECODED_BYTES;
  a->leases_ms = SLP_LEASES_MS;
  a->streams_ms = SLP_STREAMS_MS;
  sloop_metrics_opts_init(&a->metrics);
  sloop_sandbox_opts_init(&a->sandbox);
  a->synthetic.records = UINT64_MAX;
  a->color = SLP_COLOR_AUTO;
}

void slp_args_parse_part(slp_args *a, slp_mem *mem, int argc, const char *const *argv,
                         const slp_surroundings *around) {
  char why[200], of_file[SLP_ARGS_WHY];
  words look = {.argc = argc, .argv = argv, .at = 1, .clock = &around->clock, .looking = 1};
  words take = {.argc = argc, .argv = argv, .at = 1, .clock = &around->clock};
  set_defaults(a, mem);
  while (look.at < argc) (void)take_words(a, &look, why);
  const char *config = look.config ? look.config : around->config;
  if (config) (void)slp_config_read(a, config, 1, take.clock, of_file);
  take.produces = look.produces;
  while (take.at < argc) (void)take_words(a, &take, why);
  a->opts.stream = a->stream;
}

int slp_args_parse(slp_args *a, slp_mem *mem, int argc, const char *const *argv,
                   const slp_surroundings *around, char why[SLP_ARGS_WHY]) {
  set_defaults(a, mem);
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
  take.produces = look.produces;
  int r = take_words(a, &take, part);
  if (!r && !answers_at_once(a)) r = check_args(a, part);
  if (r) snprintf(why, SLP_ARGS_WHY, "%s", part);
  return r;
}

void slp_args_free(slp_args *a) {
  for (size_t i = 0; i < SLP_ARGS_STREAMS_MAX; i++) slp_free(a->config_text.mem, a->found[i]);
  slp_buf_free(&a->config_text);
}
