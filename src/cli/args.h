/* args.h - the command line and the configuration file as data: what to do, and with which settings. */
#ifndef SLP_CLI_ARGS_H
#define SLP_CLI_ARGS_H

#include "base/buf.h"
#include "cli/decode.h"
#include "cli/migrate_place.h"
#include "cli/options.h"
#include "cli/start.h"
#include "sloop.h"
#include "sloop_sandbox.h"

#define SLP_ARGS_SHARDS_MAX 256
#define SLP_ARGS_STREAMS_MAX 64
#define SLP_ARGS_REGEXES_MAX 32
#define SLP_ARGS_SCHEMAS_MAX 64
#define SLP_ARGS_GIVEN_MAX 1024
#define SLP_ARGS_WHY 400       /* room for a sentence of slp_args_parse */
#define SLP_WATCH_MS 2000      /* period of --watch without SECONDS */
#define SLP_LEASES_MS 30000    /* period of --leases --metrics, unless -X leases_ms is given */
#define SLP_ARGS_TABLES_MAX 64 /* --leases --metrics: the most applications times streams */

/* options of -M: its stream has records that are computed when they are read */
typedef struct slp_synthetic {
  uint64_t bytes;   /* size of each record; 0: an ordinary stream */
  uint64_t records; /* in each shard; UINT64_MAX: without end */
  uint64_t rate;    /* records a second in each shard; 0: all are there from the beginning */
  uint64_t seed;
} slp_synthetic;

typedef enum { SLP_COLOR_AUTO = 1, SLP_COLOR_ALWAYS, SLP_COLOR_NEVER } slp_color;

typedef struct slp_given { /* an option as it was given */
  const slp_option *option;
  const char *value; /* NULL: it was given without one */
  uint8_t from_file; /* 1: from the configuration file, 0: from the command line */
} slp_given;

/* The strings point into argv, into config_text or into this struct, so it must not move after
 * slp_args_parse. */
typedef struct slp_args {
  slp_mode mode;
  const char *stream; /* the first of `streams`, or NULL */
  const char *streams[SLP_ARGS_STREAMS_MAX];
  size_t streams_n;
  uint8_t start_given, until_given, until_tip, json, quiet, fail_on_loss, order_wait_given;
  uint8_t unique, show_offset, show_null, unbuffered, keep_going;
  uint32_t verbose; /* how many -v were given */
  uint64_t count;   /* -c; 0: no limit */
  int64_t until_ms; /* holds if until_given is set */
  /* until_from_file: the file gave the end; in_file: the option being taken is from the file */
  uint8_t until_from_file, in_file;
  uint64_t timeout_ms;       /* --timeout; 0: none */
  uint64_t contact_ms;       /* -m; 0: none */
  const char *format;        /* -f; NULL: not given */
  const char *delimiter;     /* -D, as given; NULL: not given */
  const char *key_delimiter; /* -K, as given; NULL: not given */
  const char *save;          /* --save; NULL: not given */
  const char *contexts;      /* -d; NULL: not given */
  const char *completion;    /* --completion: bash or zsh */
  slp_color color;
  slp_decode_chain decode, decode_key;
  uint32_t decoded_bytes_max;                     /* -X decoded_bytes_max */
  const char *schema_files[SLP_ARGS_SCHEMAS_MAX]; /* --schema-file, as given */
  size_t schema_files_n;
  const char *grep[SLP_ARGS_REGEXES_MAX], *grepv[SLP_ARGS_REGEXES_MAX];
  size_t grep_n, grepv_n;
  uint8_t ignore_case;    /* -i, for all of `grep` and `grepv` */
  slp_mode iam_of;        /* --iam: the mode whose rights are printed; 0: reading */
  const char *deregister; /* --deregister: name of a registered consumer; NULL: not given */
  const char *lease_name; /* --explain, --release, --reset: a shard or a worker; NULL: not given */
  uint8_t to_given, force, no_read;
  const char *lag_over; /* --lag-over, as given; NULL: not given */
  int64_t lag_over_ms;
  const char *migrate; /* --migrate: FROM, as given */
  slp_migrate_place migrate_from, migrate_to;
  uint8_t write;         /* --write */
  uint8_t try_rights;    /* --try */
  const char *multilang; /* file of --multilang or --check; NULL: not given */
  uint8_t trace_protocol;
  slp_start to;                          /* --to; at a sequence number, `shard` is empty */
  uint32_t watch_ms;                     /* period of --watch */
  uint8_t exports;                       /* 1: --leases --metrics */
  const char *apps[SLP_ARGS_TABLES_MAX]; /* for --leases --metrics: each -G once */
  size_t apps_n;
  uint32_t leases_ms;    /* for --leases --metrics: -X leases_ms */
  uint32_t serve_shards; /* -M: how many shards */
  uint32_t seconds;      /* --demo, --bench; 0: not given */
  slp_start start;
  const char *shards[SLP_ARGS_SHARDS_MAX];
  const char *shard_key; /* -p key:TEXT; NULL: not given */
  sloop_opts_t opts;
  sloop_metrics_opts_t metrics;
  sloop_sandbox_opts_t sandbox;
  slp_synthetic synthetic;
  slp_given given[SLP_ARGS_GIVEN_MAX];
  size_t given_n;
  slp_buf config_text; /* owned; the text of the file */
} slp_args;

typedef struct slp_surroundings { /* what the meaning of a command line depends on, apart from its words */
  slp_clock clock;
  const char *config;           /* file to read if -F names none; NULL: none */
  uint8_t config_may_be_absent; /* nobody named the file, so a missing one is no error */
} slp_surroundings;

/* Returns 0, or SLP_EINVAL and one sentence in `why` that says what is wrong and where. Skips argv[0]. */
int slp_args_parse(slp_args *a, slp_mem *mem, int argc, const char *const *argv,
                   const slp_surroundings *around, char why[SLP_ARGS_WHY]);
void slp_args_free(slp_args *a);
/* Returns 1 if metrics are wanted, by Prometheus or in CloudWatch. */
int slp_args_want_metrics(const slp_args *a);
/* Takes one option with its value; for the configuration file. SLP_EINVAL and a sentence in `why`. */
int slp_args_take(slp_args *a, const slp_option *o, const char *value_or_null, int from_file,
                  const slp_clock *clock, char why[200]);

#endif
