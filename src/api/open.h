/* open.h - the consumer object, and how to open it on any host. sloop_open creates a libuv host and calls
 * slp_open_on. The simulator calls slp_open_on with its own host. */
#ifndef SLP_API_OPEN_H
#define SLP_API_OPEN_H

#include "aws/aws.h"
#include "core/consumer.h"
#include "lease/store.h"
#include "host/host.h"
#include <sloop.h>

/* What a consumer uses from outside. If all members are zeros: the process's environment, and the services
 * and stores that the options name. The simulator sets its own. */
typedef struct slp_outside {
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  slp_ops *kinesis, *streams; /* borrowed: used instead of the real services, unless NULL */
  /* Opens the store of the leases. Returns 0 or an error code. */
  int (*store)(void *ctx, slp_host *h, const slp_table_spec *table, slp_store **ret);
  void *ctx;
  /* How many shards with neighbouring numbers a new application keeps under one partition key. 0: the default
   * of slp_schema_sloop_spreads; for a table's stream, the key follows from a hash of the shard's name.
   * SLP_ONE_KEY: all shards are under one key. */
  uint32_t leases_a_key;
} slp_outside;
#define SLP_ONE_KEY UINT32_MAX

/* What consumers share that were opened with `join`. */
typedef struct slp_family {
  slp_host *host;
  slp_mem *mem; /* a reference is held */
  slp_engine *engine;
  slp_outside outside;
  slp_aws *aws;               /* a reference is held */
  slp_ops *kinesis, *streams; /* created when a consumer first needs them */
  struct slp_memory *memory;  /* leases in memory; created when first needed */
  slp_list metrics;           /* list of sloop_metrics_s */
  slp_list names;             /* list of slp_common_name */
  uint32_t members;
  /* 1: the family has had more than one member at the same time. Then the rows of some layouts must name
   * their stream. */
  uint8_t several;
  uint8_t owns_host;
  uint32_t unrefs;    /* how many members do not want to keep the loop alive */
  sloop_t *creds_for; /* the consumer whose callback is asked for credentials */
  /* the request for credentials that is not answered yet; NULL: none. The answer frees it */
  struct slp_creds_ask *creds_ask;
} slp_family;

struct sloop_s {
  slp_mem *mem;
  slp_family *family;
  slp_consumer *consumer;
  struct uv_loop_s *loop; /* NULL: the host belongs to the simulator */
  sloop_opts_t o;         /* its strings are owned copies */
  uint8_t started, closing;
  /* 1: this consumer wants to keep the loop alive. */
  uint32_t refd;
  sloop_cb stop_cb, close_cb, save_cb; /* save_cb: the callback of a checkpoint that closing interrupts */
  void *stop_arg, *close_arg, *save_arg;
  slp_store_cost commands;      /* what the operator's commands that were answered have cost */
  struct slp_admin_call *admin; /* an operator's command that is not answered yet */
  slp_event close_ev;
};

/* Opens a consumer. h is borrowed, and must live until the last consumer on it is closed. `outside` is
 * copied; NULL is the same as all zeros. With o->join, h must be the host of the joined consumer, whose
 * `outside` is used. */
int slp_open_on(slp_host *h, slp_mem *mem, const slp_outside *outside, sloop_t **out, const sloop_opts_t *o,
                char why[160]);

/* handle.c: keeps the host's reference on the loop as long as any member wants to keep the loop alive. */
void slp_family_ref(slp_family *f);

/* in opts.c: returns 0, or an error with the reason in `why` */
int slp_opts_check(const sloop_opts_t *o, char why[160]);
/* Copies o and all that it points to. A caller's older, shorter struct lacks the members at the end; those
 * get their defaults. */
int slp_opts_copy(sloop_opts_t *to, const sloop_opts_t *from, slp_mem *mem);
void slp_opts_free(sloop_opts_t *o, slp_mem *mem);

#endif
