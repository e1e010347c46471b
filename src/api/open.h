/* open.h - the consumer object, and how to open it on any host. sloop_open creates a libuv host and calls
 * slp_open_on. The simulator calls slp_open_on with its own host. */
#ifndef SLP_API_OPEN_H
#define SLP_API_OPEN_H

#include "aws/aws.h"
#include "aws/ops.h"
#include "base/list.h"
#include "base/mem.h"
#include "core/core.h"
#include "host/host.h"
#include "lease/store.h"

#include <sloop.h>
#include <sloop_admin.h>

/* What a consumer uses from outside the library. All zero: the process's environment, and the services and
 * stores that the options name. The simulator puts its own services, stores and environment here. */
typedef struct slp_outside {
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  slp_ops *kinesis, *streams; /* borrowed; used instead of the real services; NULL: the real service */
  /* Opens the store of the leases. Returns 0 or an error. NULL: the store that the options name. */
  int (*store)(void *ctx, slp_host *h, const slp_table_spec *table, slp_store **ret);
  void *ctx;
  /* How many shards with neighbouring numbers a new application keeps under one partition key. 0: the default
   * of slp_schema_sloop_spreads; for a table's stream, a hash of the shard's name decides instead.
   * SLP_ONE_KEY: all shards are under one key. */
  uint32_t leases_a_key;
} slp_outside;
#define SLP_ONE_KEY UINT32_MAX

/* A family: what a consumer shares with the consumers that have joined it by the option `join`. */
typedef struct slp_family {
  slp_host *host;
  slp_mem *mem; /* a reference is held */
  slp_engine *engine;
  slp_outside outside;
  slp_aws *aws;               /* a reference is held */
  slp_ops *kinesis, *streams; /* each is created when a consumer first needs it */
  /* the tables of leases that are kept in memory; created when a consumer first needs them */
  struct slp_memory *memory;
  slp_list metrics; /* the metrics that were opened, sloop_metrics_s */
  slp_list names;   /* the worker names that fleets of this process share, slp_common_name */
  uint32_t members;
  /* 1: the family has had more than one consumer that reads at the same time. Then the rows of some layouts
   * must name their stream. */
  uint8_t several;
  uint8_t owns_host;
  uint32_t unrefs; /* how many consumers of the family do not want to keep the loop alive */
  /* the consumer whose callback is asked for credentials; it is not being closed; NULL: there is none */
  sloop_t *creds_for;
  /* The request for credentials that the application has not answered yet; NULL: none. The answer frees
   * it. */
  struct slp_creds_ask *creds_ask;
} slp_family;

/* An operator's handle. It is a part of a consumer, because the consumer has all that the handle's commands
 * need. */
struct sloop_admin_s {
  sloop_t *s; /* the consumer */
  /* 1: sloop_admin_open() has opened the consumer for this handle alone. It never starts. */
  uint8_t alone;
  struct slp_admin_call *call; /* the command that has not ended yet; NULL: there is none */
  slp_store_cost cost;         /* the cost of all commands that have ended, except migrations */
  sloop_admin_closed_cb closed_cb;
  void *closed_arg;
};

struct sloop_s {
  slp_mem *mem;
  slp_family *family;
  slp_consumer *consumer;
  struct uv_loop_s *loop; /* NULL: the host is the simulator's */
  sloop_opts_t o;         /* the options; their strings are owned copies */
  uint8_t started, closing;
  /* 1: this consumer wants to keep the loop alive */
  uint32_t refd;
  /* callbacks of the application that must still be called; save_cb: the callback of a checkpoint that
   * closing interrupts */
  sloop_cb stop_cb, close_cb, save_cb;
  void *stop_arg, *close_arg, *save_arg;
  /* The consumer has stopped with stop_status, and while the timer is set, stop_cb waits until the last
   * values are with CloudWatch, until stop_by_us at most. */
  slp_timer stop_timer;
  uint64_t stop_by_us;
  int stop_status;
  struct slp_metrics_taken *taken; /* owned; NULL: CloudWatch has taken nothing */
  sloop_admin_t admin;
  slp_event close_ev;
};

/* Opens a consumer on a host. h is borrowed, and must live until the last consumer on it is closed. outside:
 * copied; NULL: all zero. With o->join, h must be the host of the consumer that is joined, and that
 * consumer's `outside` is used. */
int slp_open_on(slp_host *h, slp_mem *mem, const slp_outside *outside, sloop_t **out, const sloop_opts_t *o,
                char why[160]);

/* handle.c: keeps the host's reference to the loop while any consumer of the family wants to keep the loop
 * alive */
void slp_family_ref(slp_family *f);

/* Checks the options (opts.c). Returns 0, or an error with the reason in `why`. */
int slp_opts_check(const sloop_opts_t *o, char why[160]);
/* Copies o and all that it points to. If the caller was compiled with an older header, its struct lacks the
 * last members; these get their defaults. */
int slp_opts_copy(sloop_opts_t *to, const sloop_opts_t *from, slp_mem *mem);
void slp_opts_free(sloop_opts_t *o, slp_mem *mem);

#endif
