/* args.h - the command line and the configuration file as one struct: which mode to run, and with which
 * settings. */
#ifndef SLP_CLI_ARGS_H
#define SLP_CLI_ARGS_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decode.h"
#include "cli/migrate_place.h"
#include "cli/options.h"
#include "cli/point_in_time.h"
#include "cli/start_option.h"

#include <sloop.h>
#include <sloop_sandbox.h>

#define SLP_ARGS_SHARDS_MAX 256
#define SLP_ARGS_STREAMS_MAX 64
#define SLP_ARGS_REGEXES_MAX 32
#define SLP_ARGS_SCHEMAS_MAX 64
#define SLP_ARGS_GIVEN_MAX 1024
#define SLP_ARGS_FILES_MAX 1024
#define SLP_ARGS_WHY 400    /* room for an error sentence of slp_args_parse */
#define SLP_WATCH_MS 2000   /* the default period of --watch */
#define SLP_LEASES_MS 30000 /* the default period of --leases --metrics; -X leases_ms changes it */
/* how often the streams are listed again while a pattern is read; -X streams_ms changes it */
#define SLP_STREAMS_MS 30000
/* limit of --leases --metrics: number of applications times number of streams */
#define SLP_ARGS_TABLES_MAX 64

/* Options of -M about a synthetic stream, whose records are computed when they are read. */
typedef struct slp_synthetic {
  uint64_t bytes;   /* size of each record; 0: an ordinary stream */
  uint64_t records; /* number of records in each shard; UINT64_MAX: no end */
  uint64_t rate;    /* records per second in each shard; 0: all records exist from the start */
  uint64_t seed;
} slp_synthetic;

typedef enum { SLP_COLOR_AUTO = 1, SLP_COLOR_ALWAYS, SLP_COLOR_NEVER } slp_color;

typedef struct slp_given { /* an option as the user gave it */
  const slp_option *option;
  const char *value; /* NULL: the option was given without a value */
  uint8_t from_file; /* 1: from the configuration file, 0: from the command line */
} slp_given;

/* The strings point into argv, into config_text or into this struct. So the struct must not move after
 * slp_args_parse. */
typedef struct slp_args {
  slp_mode mode;
  const char *stream; /* the first of `streams`, or NULL */
  const char *streams[SLP_ARGS_STREAMS_MAX];
  size_t streams_n;
  /* Words of the command line that are patterns of stream names (stream_pattern.h). They are also in
   * `streams`, until slp_matched_resolve() replaces them there by the streams that match. */
  const char *patterns[SLP_ARGS_STREAMS_MAX];
  size_t patterns_n;
  /* found[i]: owned; the name in streams[i], which a pattern found; NULL: the user named that stream */
  char *found[SLP_ARGS_STREAMS_MAX];
  uint32_t streams_ms; /* -X streams_ms: with a pattern, the time between two listings of the streams */
  /* A variable of main.c. If the service does not have one of `streams`, the name of that stream is stored in
   * it, and main.c then suggests similar names. NULL: nothing is stored. */
  const char **ret_missing;
  const char **ret_missing_app; /* the same for an application without leases */
  /* borrowed from main.c: where a service manager is told how the command is doing; NULL: no manager asked */
  struct slp_notify *notify;
  uint8_t start_given, until_given, until_tip, json, quiet, fail_on_loss, order_wait_given;
  uint8_t unique, show_offset, show_null, unbuffered, keep_going;
  uint8_t timestamps, utc;
  uint8_t token;    /* --token: the positions reached are printed as tokens at the end */
  uint32_t verbose; /* how many -v were given */
  /* last: N of -n N or -o -N: the last N records of all shards together are printed first; 0: neither option
   * was given. last_ends: 1 for -n: the command ends after these records */
  uint64_t last;
  uint8_t last_ends;
  uint64_t count;   /* -c: the command ends after printing this many records; 0: no limit */
  int64_t until_ms; /* --until: Unix time at which the command ends; valid if until_given is set */
  /* until_from_file: 1 if --until or -o e@TIME came from the configuration file. in_file: 1 while an option
   * of the configuration file is being taken */
  uint8_t until_from_file, in_file;
  uint64_t timeout_ms;   /* --timeout: the command ends this long after the last record; 0: no limit */
  uint64_t contact_ms;   /* -m: the command fails if the service has not answered by then; 0: no limit */
  const char *format;    /* -f: what to print for each record; NULL: not given */
  const char *delimiter; /* -D: text to print after each record, escapes not resolved; NULL: not given */
  /* -K: text to print between key and payload, escapes not resolved; NULL: not given */
  const char *key_delimiter;
  const char *save;       /* --save: file that keeps the position reached; NULL: not given */
  const char *contexts;   /* -d: which lines of the library's log to show; NULL: not given */
  const char *topic;      /* -h TOPIC: a topic of topics.h, or "all"; NULL: not given */
  const char *completion; /* --completion: the shell whose script to print, "bash", "zsh" or "fish" */
  slp_color color;
  slp_decode_chain decode, decode_key;
  /* -X decoded_bytes_max: the most bytes that the decoders of -s may write for one text */
  uint32_t decoded_bytes_max;
  const char *schema_files[SLP_ARGS_SCHEMAS_MAX]; /* --schema-file, as typed: [ID=]FILE[#MESSAGE] */
  size_t schema_files_n;
  const char *grep[SLP_ARGS_REGEXES_MAX], *grepv[SLP_ARGS_REGEXES_MAX];
  size_t grep_n, grepv_n;
  /* Regexes of --key and texts of --key-is. Only records are printed whose key matches one of them. A --key
   * in the configuration file is not stored here, because there it means the key of -P. */
  const char *key_grep[SLP_ARGS_REGEXES_MAX], *key_is[SLP_ARGS_REGEXES_MAX];
  size_t key_grep_n, key_is_n;
  uint8_t ignore_case;    /* -i: --grep, --grepv and --key treat upper and lower case as the same */
  slp_mode iam_of;        /* --iam: the mode whose rights are printed; 0: the rights for reading records */
  const char *deregister; /* --deregister: name of the registered consumer; NULL: not given */
  const char *lease_name; /* --explain, --release, --reset: id of a shard or a worker; NULL: not given */
  uint8_t to_given, force, no_read;
  const char *lag_over; /* --lag-over: the limit as typed; NULL: not given. lag_over_ms is its value */
  int64_t lag_over_ms;
  const char *migrate; /* --migrate FROM TO: the text of FROM; migrate_from is its meaning */
  slp_migrate_place migrate_from, migrate_to;
  uint8_t write;         /* --write: --migrate copies; without it, --migrate only says what it would copy */
  uint8_t snapshot;      /* --snapshot: --migrate copies from an application whose workers live */
  uint8_t try_rights;    /* --try: --iam tries the rights by calls instead of printing a policy */
  const char *multilang; /* path of the file of --multilang or --check; NULL: not given */
  uint8_t trace_protocol;
  const char *files[SLP_ARGS_FILES_MAX]; /* -P: the words behind STREAM */
  size_t files_n;
  const char *key;                     /* -P -k: the key of records; NULL: not given */
  const char *key_from;                /* --key-from: the path as typed; NULL: not given */
  const char *rejects;                 /* --rejects: a path; NULL: not given */
  uint64_t rate;                       /* --rate: lines a second; 0: not given */
  uint64_t speed_milli;                /* --speed, in thousandths; 0: not given */
  uint8_t lines, unordered, aggregate; /* -l, --unordered, --aggregate */
  slp_start to;      /* --to: the position that --reset writes; for a sequence number `to.shard` is empty */
  uint32_t watch_ms; /* period of --watch */
  uint8_t exports;   /* 1: --leases runs as a server of metrics, because --metrics is given too */
  /* --leases --metrics: the applications of all -G, without repetitions */
  const char *apps[SLP_ARGS_TABLES_MAX];
  size_t apps_n;
  uint32_t leases_ms;    /* -X leases_ms: with --leases --metrics, the time between two readings of a table */
  uint32_t serve_shards; /* -M: number of shards */
  uint64_t feed;         /* --feed: records a second; 0: not given */
  uint32_t seconds;      /* --demo, --bench: how long to run; 0: not given */
  slp_start start;
  const char *shards[SLP_ARGS_SHARDS_MAX];
  /* -p key:TEXT: the partition key TEXT, whose records are printed (follow.h); NULL: not given */
  const char *shard_key;
  sloop_opts_t opts;
  sloop_metrics_opts_t metrics;
  sloop_sandbox_opts_t sandbox;
  slp_synthetic synthetic;
  slp_given given[SLP_ARGS_GIVEN_MAX];
  size_t given_n;
  slp_buf config_text; /* owned; text of the configuration file */
} slp_args;

typedef struct slp_surroundings { /* what slp_args_parse needs besides the words */
  slp_clock clock;
  const char *config;           /* the file to read if -F is not given; NULL: no file */
  uint8_t config_may_be_absent; /* 1: a missing file is no error, because the user gave no path */
} slp_surroundings;

/* Parses the command line, without argv[0]. Returns 0, or SLP_EINVAL and one sentence in `why` that says what
 * is wrong and where. */
int slp_args_parse(slp_args *a, slp_mem *mem, int argc, const char *const *argv,
                   const slp_surroundings *around, char why[SLP_ARGS_WHY]);
/* Parses a command line that is not complete, for completions (propose.c). Skips words that would be an
 * error, and checks nothing. `a` must be freed. */
void slp_args_parse_part(slp_args *a, slp_mem *mem, int argc, const char *const *argv,
                         const slp_surroundings *around);
void slp_args_free(slp_args *a);
/* Returns 1 if the command has several streams, or may find several by a pattern. Lines then name the
 * stream. */
int slp_args_several(const slp_args *a);
/* Returns 1 if the user wants metrics, for Prometheus or in CloudWatch. */
int slp_args_want_metrics(const slp_args *a);
/* Returns the namespace of CloudWatch into which metrics are put, or NULL if no metrics are put into
 * CloudWatch. */
const char *slp_args_cloudwatch(const slp_args *a);
/* Stores one option with its value in `a` (take_option.c). args.c calls it for options of the command line,
 * config.c for options of the configuration file. Returns 0, or SLP_EINVAL and a sentence in `why`. */
int slp_args_take(slp_args *a, const slp_option *o, const char *value_or_null, int from_file,
                  const slp_clock *clock, char why[200]);

#endif
