/* options.h - the table of options. The parser, -h, the manual page, the completions, the configuration file
 * and the table of kcat's flags (--kcat) all use it. */
#ifndef SLP_CLI_OPTIONS_H
#define SLP_CLI_OPTIONS_H

#include "base/buf.h"

typedef enum {
  SLP_MODE_TAIL = 1,   /* the default mode: prints the records of streams */
  SLP_MODE_LIST = 2,   /* -L: lists the shards of streams */
  SLP_MODE_SERVE = 4,  /* -M: serves a sandbox */
  SLP_MODE_DEMO = 8,   /* --demo: shows the library at work on a sandbox */
  SLP_MODE_BENCH = 16, /* --bench: measures how fast a stream is read */
  SLP_MODE_IAM = 32,   /* --iam: prints or tries the rights that a command needs */
  SLP_MODE_HELP = 64,
  SLP_MODE_VERSION = 128,
  SLP_MODE_KNOBS = 256, /* -X list: prints all settings of -X */
  SLP_MODE_DUMP = 512,  /* -X dump: prints the options given and the settings of -X */
  SLP_MODE_MAN = 1024,
  SLP_MODE_COMPLETION = 2048,
  SLP_MODE_KCAT = 4096,
  SLP_MODE_LEASES = 8192,        /* --leases: shows the lease table */
  SLP_MODE_EXPLAIN = 16384,      /* --explain: prints why a shard is read or not */
  SLP_MODE_RELEASE = 32768,      /* --release: frees a shard, or all leases of a worker */
  SLP_MODE_RESET = 65536,        /* --reset: changes where shards will be read next */
  SLP_MODE_WATCH = 131072,       /* --watch: shows the lease table live */
  SLP_MODE_MIGRATE = 262144,     /* --migrate: copies positions to another lease table */
  SLP_MODE_CONSUMERS = 524288,   /* --consumers: lists the registered consumers of a stream */
  SLP_MODE_DEREGISTER = 1048576, /* --deregister: removes a registered consumer */
  SLP_MODE_MULTILANG = 2097152,  /* --multilang: does what Amazon's MultiLangDaemon does */
  SLP_MODE_CHECK = 4194304,      /* --check: prints what --multilang would do */
  SLP_MODE_PRODUCE = 8388608,    /* -P: puts records into a stream */
  SLP_MODE_DRAIN = 16777216,     /* --drain: makes the workers of an application stop reading */
  SLP_MODE_UNDRAIN = 33554432,   /* --undrain: lets the workers of a drained application read again */
  SLP_MODE_PAUSE = 67108864,     /* --pause: makes all workers stop reading one shard */
  SLP_MODE_RESUME = 134217728,   /* --resume: lets workers read a paused shard again */
  SLP_MODE_APPS = 268435456      /* --apps: lists the applications of a store */
} slp_mode;

typedef enum {
  O_START,
  O_SINCE,
  O_LAST,
  O_UNTIL,
  O_TIP,
  O_NO_FOLLOW,
  O_COUNT,
  O_TIMEOUT,
  O_SHARD,
  O_ORDER,
  O_SAVE,
  O_TOKEN,
  O_CONSUME,
  O_APP,
  O_STORE,
  O_APPS,
  O_LEASES,
  O_NO_READ,
  O_LAG_OVER,
  O_EXPLAIN,
  O_WATCH,
  O_RELEASE,
  O_RESET,
  O_TO,
  O_FORCE,
  O_DRAIN,
  O_UNDRAIN,
  O_PAUSE,
  O_RESUME,
  O_MIGRATE,
  O_WRITE,
  O_SNAPSHOT,
  O_MULTILANG,
  O_CHECK,
  O_TRACE_PROTOCOL,
  O_GREP,
  O_GREPV,
  O_KEY_IS,
  O_IGNORE_CASE,
  O_UNIQUE,
  O_DECODE,
  O_SCHEMA_FILE,
  O_FORMAT,
  O_JSON,
  O_DELIMITER,
  O_KEY,
  O_OFFSET,
  O_TIMESTAMPS,
  O_UTC,
  O_NULL,
  O_UNBUFFERED,
  O_COLOR,
  O_PRODUCE,
  O_LINES,
  O_FIXED_KEY,
  O_KEY_FROM,
  O_RATE,
  O_SPEED,
  O_REJECTS,
  O_UNORDERED,
  O_AGGREGATE,
  O_LOSS,
  O_KEEP_GOING,
  O_CONTACT,
  O_ENDPOINT,
  O_WIRE,
  O_PUSH,
  O_CONSUMERS,
  O_DEREGISTER,
  O_METRICS,
  O_KNOB,
  O_CONFIG,
  O_QUIET,
  O_VERBOSE,
  O_DEBUG,
  O_LIST,
  O_SERVE,
  O_FEED,
  O_DEMO,
  O_BENCH,
  O_IAM,
  O_TRY,
  O_KCAT,
  O_MAN,
  O_COMPLETION,
  O_HELP,
  O_VERSION
} slp_option_id;

typedef enum {
  SLP_NO_VALUE,
  SLP_NEEDS_VALUE,
  SLP_MAY_HAVE_VALUE /* optional, and given only as --name=VALUE, never as a word of its own */
} slp_value_kind;

typedef struct slp_option {
  slp_option_id id;
  char letter; /* 0: the option has no letter */
  const char *name;
  slp_value_kind kind;
  /* name of the value in the help. "one|two" lists the allowed values. "FILE" means a path. */
  const char *value;
  int modes; /* the modes in which the option has an effect, as bits of slp_mode */
  /* title of the group that starts with this option; NULL: the option belongs to the group of the option
   * before it */
  const char *title;
  const char *help; /* the first part of the help; slp_option_help() writes all of it */
} slp_option;

extern const slp_option slp_options[];
extern const size_t slp_options_n;

/* Writes the option as the user types it, such as -c or --order. */
void slp_option_shown(const slp_option *o, char out[40]);
/* Writes "OPTION: "VALUE" is not NEED" to `why`. `need` says what the option's value must be. Returns
 * SLP_EINVAL. */
int slp_option_wrong(const slp_option *o, const char *value, const char *need, char why[200]);
/* Returns the option that chooses the mode, such as "--watch", for messages. */
const char *slp_mode_shown(slp_mode mode);
/* Appends a text about what the option does. The caller must wrap the text into lines, except lines that
 * begin with two spaces: these list values from another table, such as the decoders of -s. Returns 0, or the
 * error of b. */
int slp_option_help(slp_buf *b, const slp_option *o);
/* Return the option with this letter or name, or NULL if there is none. */
const slp_option *slp_option_by_letter(char letter);
const slp_option *slp_option_by_name(slp_str name);

typedef struct slp_kcat_row { /* a flag of kcat and the corresponding flag of stream-tail */
  const char *flag, *kcat;
  /* a text that begins with stream-tail's flag, or with "-" if stream-tail has no such flag */
  const char *here;
} slp_kcat_row;
extern const slp_kcat_row slp_kcat_rows[];
extern const size_t slp_kcat_rows_n;

/* The words that can begin a line of the library's log (-d chooses by them), as "one, two". */
extern const char slp_log_contexts[];

#endif
