/* core.h - the objects of core, and which of its files may call which.
 *
 *   engine    one per family of joined consumers: budget, merge, delivery, and which shard fetches next
 *   consumer  one stream: its source, its shards (lineage), its life
 *   shard     one shard: a reader (fetches pages) and a queue (hands records out, counts them in)
 *   buffered  a page of records in our hands: from its last byte until every record is acknowledged
 *   batch     records out with the user; outlives everything else
 *
 * Each is made of parts. A part is a struct of one file, declared in that file's header, and nobody else
 * looks into it: the others call the functions declared beside it. (Where two files keep a part, its header
 * names both.) Parts whose header has no file of its own, standing.h, tally.h and leases.h, and the fields of
 * the objects themselves, are everybody's. Nothing here knows AWS, libuv or a clock other than the host's.
 *
 * The files have floors: a file calls its own floor's functions and those of lower floors. What goes up is
 * returned, is posted (slp_deliver_soon, slp_pump_soon, the events and timers of a part), or is a call of a
 * table that was handed down: source.h, leases.h.
 *
 *   7  consumer.c     the life of a consumer: describes, lists, starts, stops
 *      save.c         its positions as a token
 *      engine.c       birth and death of an engine
 *   6  seek.c         goes on from somewhere else
 *      deliver.c      which record leaves now, and in which batch
 *   5  batch.c        records out with the user, and back
 *      pump.c         which shard calls now, and what goes when the budget is spent
 *      progress.c     what is told of a shard's progress
 *   4  reader.c       asks for iterators and pages, and says what the answers mean
 *   3  order.c        which shards may be read, and a shard's place in the order
 *      await.c        waits for a listing that shows what the stream must have
 *      start.c        where each shard is read from
 *   2  lineage.c      which shards there are, parents and children, which are read at all
 *      reading.c      how far the reading of a shard is, and when it wants to call
 *   1  queue.c, acked.c, shorten.c    a shard's pages, until all of them is acknowledged
 *      calls.c        a shard's wish to call, and what its call may hold; pages.c: recycled pages
 *      lag.c          how far behind the last good answer left a shard
 *      listing.c      asks what the stream is, and which shards it has
 *      life.c         the states of a consumer, and when a stop is over
 *      report.c       tells the user; loss.c: finds losses
 *   0  budget.c, delay.c, desc.c, mark.c, meet.c, merge.c, open_ends.c, pace.c, position.c, svctime.c,
 *      token.c: pure
 *
 * test/tidy/rooms.py checks floors and parts. */
#ifndef SLP_CORE_CORE_H
#define SLP_CORE_CORE_H

#include "base/map.h"
#include "core/await.h"
#include "core/batch.h"
#include "core/budget.h"
#include "core/calls.h"
#include "core/delay.h"
#include "core/deliver.h"
#include "core/lag.h"
#include "core/leases.h"
#include "core/life.h"
#include "core/lineage.h"
#include "core/listing.h"
#include "core/meet.h"
#include "core/order.h"
#include "core/pages.h"
#include "core/progress.h"
#include "core/queue.h"
#include "core/reader.h"
#include "core/reading.h"
#include "core/report.h"
#include "core/seek.h"
#include "core/standing.h"
#include "core/svctime.h"
#include "core/tally.h"

typedef struct slp_start_position slp_start_position;

struct slp_shard {
  slp_consumer *consumer;
  slp_name *name; /* held */
  slp_str id;     /* in name */
  slp_lineage lineage;
  slp_standing at;
  slp_shard_reading reading;
  slp_reader reader;
  slp_await await;
  slp_shard_call call;
  slp_queue queue;
  slp_order order;
  slp_shard_batches batches;
  slp_lag lag;
  slp_shard_lease lease; /* with leases */
  uint8_t paused;
  uint64_t paused_us;              /* since when */
  uint8_t opened_told, ended_told; /* SLOOP_SHARD_OPENED, SLOOP_SHARD_ENDED */
  uint8_t marked;                  /* scratch of lineage.c, start.c and save.c */
};

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
  uint64_t life_us;   /* since when it is in that state */
  slp_svctime service;
  slp_delay delay; /* of what is pushed */
  slp_map shards;  /* id -> slp_shard */
  slp_tally sum;
  slp_listing listing;
  uint64_t started_us;
  uint32_t fails;                     /* describe or list, in a row */
  uint64_t failing_since_us;          /* of them, but for throttling; 0: the last was fine */
  slp_timer timer;                    /* describe / list again */
  slp_timer look_timer;               /* what the stream is, now and then */
  slp_start_position *start_position; /* owned; where reading began */
  uint8_t started_from;               /* a listing was turned into shards to be read, see start.c */
  slp_list candidates;                /* shards that may enter the order now, see order.c */
  uint8_t entering;                   /* order.c goes through them */
  uint8_t paused_all;
  struct { /* with leases: the last shard of which the service refused the position to this worker */
    char shard[129];
    uint64_t us; /* when it did; 0: it never did */
    uint32_t n;  /* how often in a row */
  } refusal;
  uint8_t suspended;     /* by the fleet: nothing is fetched or handed out */
  uint64_t suspended_us; /* since when */
  uint8_t whole_records; /* its leases hold no place inside an aggregate */
  uint8_t idle_places;   /* they hold places where no record is */
  uint8_t clear_places;  /* they hold until when what came behind a record is accounted for */
  uint8_t floor_learned, tip_told;
  slp_seek seek;
  slp_list detached;  /* slp_buffered: out with the user since before a seek, or a lost lease */
  slp_leases *leases; /* owned; NULL: no leases, every shard is read */
  slp_list namings;   /* positions that the user named; lease/naming.h */
  slp_stop stop;
  slp_timer stats_timer;
  void (*on_stats_due)(slp_consumer *c); /* set by api: the last thing its caller does */
  slp_counts counts;
  slp_notices notices;
};

struct slp_engine {
  slp_host *host;
  slp_mem *mem;
  slp_list consumers;
  uint32_t shards_n; /* known shards; the heaps have room for each */
  uint32_t behind_n; /* shards that have more to bring, as far as their last page tells */
  slp_budget budget;
  slp_pages pages;
  slp_calls calls;
  slp_meet polls;
  slp_event pump_ev, deliver_ev; /* pump.c and deliver.c run then */
  sloop_order_t order;
  uint32_t order_wait_ms, batches_out_max, batch_records_max;
  uint64_t batch_bytes_max;
  slp_merge merge;       /* ORDER_TIME */
  slp_list ready_shards; /* ORDER_SHARD */
  slp_delivery delivery;
  slp_batches batches;
};

/* Posted: look which shard may call, or which records may leave. */
static inline void slp_pump_soon(slp_engine *e) { slp_post(e->host, &e->pump_ev); }
static inline void slp_deliver_soon(slp_engine *e) { slp_post(e->host, &e->deliver_ev); }

static inline slp_shard *slp_shard_in_order(slp_merge_node *node) {
  return SLP_OWNER(node, slp_shard, order.node);
}

#endif
