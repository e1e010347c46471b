/* args.h - the command line as data: what to do and with which settings. */
#ifndef SLP_CLI_ARGS_H
#define SLP_CLI_ARGS_H

#include "base/buf.h"
#include "cli/start.h"
#include "sloop.h"
#include "sloop_sandbox.h"

typedef enum {
  SLP_MODE_TAIL = 1,   /* the default */
  SLP_MODE_LIST = 2,   /* -L */
  SLP_MODE_SERVE = 4,  /* -M */
  SLP_MODE_DEMO = 8,   /* --demo */
  SLP_MODE_BENCH = 16, /* --bench */
  SLP_MODE_HELP = 32,
  SLP_MODE_VERSION = 64,
  SLP_MODE_KNOBS = 128 /* -X list */
} slp_mode;

#define SLP_ARGS_SHARDS_MAX 256

typedef struct slp_synthetic { /* -M: records computed when read instead of stored */
  uint64_t bytes;              /* of each record; 0: an ordinary stream */
  uint64_t records;            /* a shard; UINT64_MAX: without end */
  uint64_t rate;               /* records a second and shard; 0: all there from the beginning */
  uint64_t seed;
} slp_synthetic;

/* Strings point into argv or into this struct, so it must not move after slp_args_parse. */
typedef struct slp_args {
  slp_mode mode;
  const char *stream; /* or NULL */
  uint8_t start_given, until_tip, json, quiet, fail_on_loss, order_wait_given;
  uint32_t verbose;      /* how often -v */
  uint64_t count;        /* -c; 0: no end */
  uint64_t timeout_ms;   /* 0: none */
  const char *format;    /* or NULL */
  uint32_t serve_shards; /* -M */
  uint32_t seconds;      /* --demo, --bench; 0: not given */
  slp_start start;
  const char *shards[SLP_ARGS_SHARDS_MAX];
  sloop_opts_t opts;
  sloop_sandbox_opts_t sandbox;
  slp_synthetic synthetic;
} slp_args;

/* 0, or SLP_EINVAL and one sentence in `why` that says what is wrong and where. argv[0] is skipped. */
int slp_args_parse(slp_args *a, int argc, const char *const *argv, int64_t now_ms, char why[200]);
/* The text of -h, made from the option table. */
int slp_args_help(slp_buf *b);

#endif
