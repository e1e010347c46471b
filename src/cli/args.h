/* args.h - the command line and the configuration file as data: what to do and with which settings. */
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
#define SLP_ARGS_WHY 400
#define SLP_WATCH_MS 2000      /* --watch without SECONDS */
#define SLP_LEASES_MS 30000    /* --leases --metrics */
#define SLP_ARGS_TABLES_MAX 64 /* --leases --metrics: applications times streams */

typedef struct slp_synthetic { /* -M: records computed when read instead of stored */
  uint64_t bytes;              /* of each record; 0: an ordinary stream */
  uint64_t records;            /* a shard; UINT64_MAX: without end */
  uint64_t rate;               /* records a second and shard; 0: all there from the beginning */
  uint64_t seed;
} slp_synthetic;

typedef enum { SLP_COLOR_AUTO = 1, SLP_COLOR_ALWAYS, SLP_COLOR_NEVER } slp_color;

typedef struct slp_given { /* an option as it was given, in order */
  const slp_option *option;
  const char *value; /* or NULL */
  uint8_t from_file;
} slp_given;

/* Strings point into argv, into config_text or into this struct, so it must not move after slp_args_parse. */
typedef struct slp_args {
  slp_mode mode;
  const char *stream; /* the first, or NULL */
  const char *streams[SLP_ARGS_STREAMS_MAX];
  size_t streams_n;
  uint8_t start_given, until_given, until_tip, json, quiet, fail_on_loss, order_wait_given;
  uint8_t unique, show_offset, show_null, unbuffered, keep_going;
  uint32_t verbose;                 /* how often -v */
  uint64_t count;                   /* -c; 0: no end */
  int64_t until_ms;                 /* when until_given */
  uint8_t until_from_file, in_file; /* the end was told by the file; what is being taken is */
  uint64_t timeout_ms;              /* 0: none */
  uint64_t contact_ms;              /* -m; 0: none */
  const char *format;               /* or NULL */
  const char *delimiter;            /* -D, as given; or NULL */
  const char *key_delimiter;
  const char *save;       /* --save; or NULL */
  const char *contexts;   /* -d; or NULL */
  const char *completion; /* bash or zsh */
  slp_color color;
  slp_decode_chain decode, decode_key;
  uint32_t decoded_bytes_max;
  const char *schema_files[SLP_ARGS_SCHEMAS_MAX]; /* --schema-file, as given */
  size_t schema_files_n;
  const char *grep[SLP_ARGS_REGEXES_MAX], *grepv[SLP_ARGS_REGEXES_MAX];
  size_t grep_n, grepv_n;
  uint8_t ignore_case;    /* of these */
  slp_mode iam_of;        /* --iam: of --consumers or --deregister; 0: of reading */
  const char *deregister; /* --deregister: the name of a registered consumer; or NULL */
  const char *lease_name; /* --explain, --release, --reset: a shard, a worker; or NULL */
  uint8_t to_given, force, no_read;
  const char *lag_over; /* --lag-over, as given; or NULL */
  int64_t lag_over_ms;
  const char *migrate; /* --migrate, as given: FROM */
  slp_migrate_place migrate_from, migrate_to;
  uint8_t write;         /* --write */
  uint8_t try_rights;    /* --try */
  const char *multilang; /* --multilang, --check; or NULL */
  uint8_t trace_protocol;
  slp_start to;                          /* --to; a place in a shard has no shard when none was named */
  uint32_t watch_ms;                     /* --watch */
  uint8_t exports;                       /* --leases --metrics */
  const char *apps[SLP_ARGS_TABLES_MAX]; /* of it: each -G once */
  size_t apps_n;
  uint32_t leases_ms;    /* of it: -X leases_ms */
  uint32_t serve_shards; /* -M */
  uint32_t seconds;      /* --demo, --bench; 0: not given */
  slp_start start;
  const char *shards[SLP_ARGS_SHARDS_MAX];
  const char *shard_key; /* -p key:TEXT; or NULL */
  sloop_opts_t opts;
  sloop_metrics_opts_t metrics;
  sloop_sandbox_opts_t sandbox;
  slp_synthetic synthetic;
  slp_given given[SLP_ARGS_GIVEN_MAX];
  size_t given_n;
  slp_buf config_text; /* owned */
} slp_args;

typedef struct slp_surroundings { /* the surroundings that the meaning of a command line depends on */
  slp_clock clock;
  const char *config;           /* the file to read when -F names none; NULL: none */
  uint8_t config_may_be_absent; /* nobody named it */
} slp_surroundings;

/* 0, or SLP_EINVAL and one sentence in `why` that says what is wrong and where. argv[0] is skipped. */
int slp_args_parse(slp_args *a, slp_mem *mem, int argc, const char *const *argv,
                   const slp_surroundings *around, char why[SLP_ARGS_WHY]);
void slp_args_free(slp_args *a);
int slp_args_want_metrics(const slp_args *a);
/* Takes one option by its value; for the configuration file. */
int slp_args_take(slp_args *a, const slp_option *o, const char *value_or_null, int from_file,
                  const slp_clock *clock, char why[200]);

#endif
