/* core.h - the objects of core and how they hang together.
 *
 *   engine    one per family of joined consumers: budget, merge, delivery, and which shard fetches next
 *   consumer  one stream: its source, its shards (lineage), its life cycle
 *   shard     one shard: a reader (fetches pages) and a queue (hands records out, counts them in)
 *   buffered  a page of records in our hands: from its last byte until every record is acknowledged
 *   batch     records out with the user; outlives everything else
 *
 * Each is made of parts; a part is declared in the header of the file that keeps it. A page goes from the
 * reader to the queue, the merge, the delivery and a batch. Nothing here knows AWS, libuv or a clock other
 * than the host's. */
#ifndef SLP_CORE_CORE_H
#define SLP_CORE_CORE_H

#include "base/map.h"
#include "core/budget.h"
#include "core/deliver.h"
#include "core/engine.h"
#include "core/lag.h"
#include "core/leases.h"
#include "core/lineage.h"
#include "core/reader.h"
#include "core/report.h"
#include "core/svctime.h"

typedef struct slp_start_position slp_start_position;

struct slp_shard {
  slp_consumer *consumer;
  slp_name *name; /* held */
  slp_str id;     /* in name */
  slp_lineage lineage;
  slp_standing at;
  slp_reader reader;
  slp_shard_call call; /* engine.c's */
  slp_queue queue;
  slp_lag lag;
  slp_shard_lease lease; /* with leases */
  uint8_t paused;
  uint8_t opened_told, ended_told; /* SLOOP_SHARD_OPENED, SLOOP_SHARD_ENDED */
  uint8_t marked;                  /* scratch of start.c, save.c and consumer.c */
};

/* ---- a consumer ---------------------------------------------------------------------------------- */
typedef enum slp_life {
  SLP_LIFE_OPEN, /* not started */
  SLP_LIFE_DESCRIBING,
  SLP_LIFE_LISTING, /* the first listing */
  SLP_LIFE_RUNNING,
  SLP_LIFE_STOPPING, /* waits for batches */
  SLP_LIFE_STOPPED,
  SLP_LIFE_FAILED, /* stopped by itself: a fatal error was reported */
  SLP_LIFE_CLOSING
} slp_life;

typedef struct slp_counts {
#define X(name, unit, meaning) uint64_t name;
  SLOOP_STATS(X)
#undef X
} slp_counts;

typedef struct slp_describing {
  slp_src_describe rq;
  uint8_t out;
} slp_describing;

typedef struct slp_list_call {
  slp_src_list rq;
  uint8_t out;
  uint8_t wanted;   /* somebody needs a listing begun after now */
  uint64_t begun;   /* the number of the newest listing */
  uint64_t done;    /* the newest one that answered */
  uint64_t us;      /* when the newest one was begun */
  sloop_list_cb cb; /* a user's listing, told with the next answer; NULL: nobody asked */
  void *cb_arg;
} slp_list_call;

typedef struct slp_stop {
  sloop_cb cb;
  void *arg;
  slp_timer timer;
  uint64_t wait_us; /* with leases: batches that are out are waited for until then */
  slp_event ev;
} slp_stop;

typedef struct slp_seek { /* seek.c's */
  slp_list moves;
  slp_event ev;
} slp_seek;

typedef struct slp_tally { /* of a consumer's shards */
  uint32_t open_n;         /* being read */
  uint32_t tip_n;          /* of those, at their tip */
  uint32_t going_n;        /* not read any more, to be given up, and not told yet */
  uint32_t waiting_n;      /* to be read, parents unfinished */
  uint32_t batches_out;
  uint64_t queued_n; /* records taken and not yet handed out, or to be handed out again */
} slp_tally;

struct slp_consumer {
  slp_engine *engine;
  slp_source *source; /* owned */
  slp_mem *mem;
  slp_list link;         /* in engine->consumers */
  sloop_t *handle;       /* what callbacks are given */
  const sloop_opts_t *o; /* the api's copy */
  char *stream;          /* name for records */
  char *arn; /* owned; the stream's, or its name where the service gives none; NULL: not known yet */
  int64_t retention_ms;
  int64_t created_ms; /* -1: not told */
  slp_life life;      /* slp_consumer_move moves it */
  slp_svctime service;
  slp_map shards; /* id -> slp_shard */
  slp_tally sum;
  slp_describing describing;
  slp_list_call listing;
  uint32_t fails;                     /* describe or list, in a row */
  slp_timer timer;                    /* describe / list again */
  slp_start_position *start_position; /* owned; where reading began */
  uint8_t started_from;               /* a listing was turned into shards to be read, see start.c */
  uint8_t entering, enter_again;      /* slp_lineage_enter_ready is at work; and shall go round once more */
  uint8_t paused_all;
  uint8_t suspended; /* by the fleet: nothing is fetched or handed out */
  uint8_t floor_learned, tip_told;
  slp_seek seek;
  slp_list detached;  /* slp_buffered: out with the user since before a seek, or a lost lease */
  slp_leases *leases; /* owned; NULL: no leases, every shard is read */
  slp_stop stop;
  slp_timer stats_timer;
  void (*on_stats_due)(slp_consumer *c); /* set by api: the last thing its caller does */
  slp_counts counts;
  slp_notices notices;
};

/* ---- the engine ----------------------------------------------------------------------------------- */
struct slp_engine {
  slp_host *host;
  slp_mem *mem;
  slp_list consumers;
  uint32_t shards_n; /* known shards; the heaps have room for each */
  slp_budget budget;
  slp_calls calls;
  sloop_order_t order;
  uint32_t order_wait_ms, batches_out_max, batch_records_max;
  uint64_t batch_bytes_max;
  slp_merge merge;       /* ORDER_TIME */
  slp_list ready_shards; /* ORDER_SHARD */
  slp_delivery delivery;
  slp_list batches; /* slp_batch out with the user */
  uint32_t batches_out;
  slp_batch *spare_batch;
};

/* consumer.c */
void slp_consumer_move(slp_consumer *c, slp_life to); /* the one place that changes c->life */
void slp_consumer_learn_time(slp_consumer *c, const slp_src_req *rq);
void slp_consumer_list_soon(slp_consumer *c, uint64_t in_ms);
int slp_consumer_take_listing(slp_consumer *c); /* the last listing's rows into c->shards. SLP_ENOMEM */
int slp_consumer_at_tip(const slp_consumer *c); /* and nothing is left to hand out or to be given back */
void slp_consumer_check(slp_consumer *c);       /* tip reached? stop finished? */
void slp_consumer_fatal(slp_consumer *c, const slp_fail *f);

#endif
