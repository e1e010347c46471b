/* open.h - the consumer object, and opening one on any host. sloop_open makes a libuv host and calls
 * slp_open_on. The simulator calls slp_open_on with its own host. */
#ifndef SLP_API_OPEN_H
#define SLP_API_OPEN_H

#include "aws/aws.h"
#include "core/consumer.h"
#include "lease/store.h"
#include "host/host.h"
#include <sloop.h>

/* The surroundings of a consumer. Zeros: the process's environment, and the services and stores that the
 * options name. The simulator gives its own. */
typedef struct slp_outside {
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  slp_ops *kinesis, *streams; /* borrowed: services to use instead of the real ones */
  /* Opens the store of the leases. 0 or an error code. */
  int (*store)(void *ctx, slp_host *h, const slp_table_spec *table, slp_store **ret);
  void *ctx;
  /* How many neighbouring shards a new application keeps under one partition key. 0: as
   * slp_schema_sloop_spreads chooses, or by a hash of the names for shards of a table's stream. SLP_ONE_KEY:
   * all. */
  uint32_t leases_a_key;
} slp_outside;
#define SLP_ONE_KEY UINT32_MAX

/* What consumers share that were opened with `join`. */
typedef struct slp_family {
  slp_host *host;
  slp_mem *mem; /* owns a reference */
  slp_engine *engine;
  slp_outside outside;
  slp_aws *aws;               /* owns a reference */
  slp_ops *kinesis, *streams; /* made when a consumer first needs one */
  struct slp_memory *memory;  /* made when first needed: leases in memory */
  slp_list metrics;           /* of sloop_metrics_s */
  slp_list names;             /* of slp_common_name */
  uint32_t members;
  /* 1: there was more than one member at a time. From then on the names of leases depend on it. */
  uint8_t several;
  uint8_t owns_host;
  uint32_t unrefs;    /* members that do not want to keep the loop alive */
  sloop_t *creds_for; /* the consumer whose callback is asked for credentials */
  /* the request for credentials that is not answered yet; it is freed by the answer */
  struct slp_creds_ask *creds_ask;
} slp_family;

struct sloop_s {
  slp_mem *mem;
  slp_family *family;
  slp_consumer *consumer;
  struct uv_loop_s *loop; /* NULL: the host is the simulator's */
  sloop_opts_t o;         /* strings are copies, owned */
  uint8_t started, closing;
  /* 1: this consumer wants to keep the loop alive. */
  uint32_t refd;
  sloop_cb stop_cb, close_cb, save_cb; /* save_cb: of a checkpoint that closing has interrupted */
  void *stop_arg, *close_arg, *save_arg;
  struct slp_admin_call *admin; /* an operator's command that is not answered yet */
  slp_event close_ev;
};

/* Opens a consumer. h is borrowed, and must outlive the last consumer on it. `outside` is copied; NULL: all
 * zeros. With o->join, h must be the host of the joined consumer, and its `outside` is used. */
int slp_open_on(slp_host *h, slp_mem *mem, const slp_outside *outside, sloop_t **out, const sloop_opts_t *o,
                char why[160]);

/* life.c: keeps the host's reference on the loop while any member wants it. */
void slp_family_ref(slp_family *f);

/* opts.c */
int slp_opts_check(const sloop_opts_t *o, char why[160]);
/* Copies o and all that it points to. An older, shorter struct lacks members at its end: these get their
 * defaults. */
int slp_opts_copy(sloop_opts_t *to, const sloop_opts_t *from, slp_mem *mem);
void slp_opts_free(sloop_opts_t *o, slp_mem *mem);

#endif
