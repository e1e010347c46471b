/* core.h - the objects of core, and which of its files may call which.
 *
 *   engine    one per family of joined consumers: budget, merge, delivery, and which shard fetches next
 *   consumer  one stream: its source, its shards (lineage), its life
 *   shard     one shard: a reader (fetches pages) and a queue (hands records out, counts them in)
 *   buffered  a page of records in our hands: from its last byte until every record is acknowledged
 *   batch     records out with the user; outlives everything else
 *
 * Each object is made of parts. A part is a struct of one file, declared in that file's header, and no other
 * file reads its fields: the others call the functions declared beside it. (Where two files keep a part, its
 * header names both.) Every file may read the fields of the objects themselves, and of the parts in
 * standing.h, tally.h and leases.h, which have no .c file. Nothing here knows AWS, libuv or a clock other
 * than the host's.
 *
 * The files have floors: a file calls functions of its own floor and of lower floors. What goes up is
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
  slp_name *name; /* a counted reference */
  slp_str id;     /* points into name */
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
  slp_shard_lease lease;           /* with leases only */
  uint8_t paused;                  /* 1: the user paused the shard */
  uint64_t paused_us;              /* when `paused` last changed */
  uint8_t opened_told, ended_told; /* 1: the user was told SLOOP_SHARD_OPENED, SLOOP_SHARD_ENDED */
  uint8_t marked;                  /* scratch of lineage.c, start.c and save.c */
};

struct slp_consumer {
  slp_engine *engine;
  slp_source *source; /* owned */
  slp_mem *mem;
  slp_list link;         /* in slp_engine.consumers */
  sloop_t *handle;       /* given to the user's callbacks */
  const sloop_opts_t *o; /* a copy that api/ keeps */
  char *stream;          /* the name that records carry */
  char *arn; /* owned; the stream's ARN, or its name if the service gives none; NULL: not known yet */
  int64_t retention_ms; /* how long the stream keeps records; -1: not known */
  int64_t created_ms;   /* when the stream was made; -1: not told */
  slp_life life;        /* only slp_consumer_move changes it */
  uint64_t life_us;     /* when `life` last changed */
  slp_svctime service;
  slp_delay delay; /* what was learned of pushed records */
  slp_map shards;  /* shard id -> slp_shard */
  slp_tally sum;
  slp_listing listing;
  uint64_t started_us; /* when slp_consumer_start was called */
  uint32_t fails;      /* describe or list calls that failed in a row */
  /* since when describing or listing fails, throttling left out; 0: it does not */
  uint64_t failing_since_us;
  slp_timer timer;                    /* describes or lists again */
  slp_timer look_timer;               /* asks now and then whether the stream has changed */
  slp_start_position *start_position; /* owned; where the user wants to begin */
  uint8_t started_from;               /* 1: a listing was turned into shards to be read, see start.c */
  slp_list candidates;                /* shards that may enter the order now, see order.c */
  uint8_t entering;                   /* 1: order.c goes through the candidates */
  uint8_t paused_all;                 /* 1: the user paused all shards, also those to come */
  struct { /* with leases: the last shard whose position the service refused to this worker */
    char shard[129];
    uint64_t us; /* when it was refused; 0: none was */
    uint32_t n;  /* refusals in a row */
  } refusal;
  uint8_t suspended;     /* 1: the fleet suspended it, so nothing is fetched or handed out */
  uint64_t suspended_us; /* since when */
  uint8_t whole_records; /* 1: its leases can't store an index inside an aggregate */
  uint8_t idle_places;   /* 1: its leases can store a place where no record is (mark.idle) */
  uint8_t clear_places;  /* 1: its leases can store mark.clear_ms */
  /* floor_learned: the service has throttled, see reader.c. tip_told: the user knows that the tip is
   * reached. */
  uint8_t floor_learned, tip_told;
  slp_seek seek;
  /* slp_buffered that were out with the user when a seek or a lost lease made them count no more */
  slp_list detached;
  slp_leases *leases; /* owned; NULL: without leases every shard is read */
  slp_list namings;   /* positions that the user named; see lease/naming.h */
  slp_stop stop;
  slp_timer stats_timer;
  void (*on_stats_due)(slp_consumer *c); /* set by api/; must be the last thing its caller does */
  slp_counts counts;
  slp_notices notices;
};

struct slp_engine {
  slp_host *host;
  slp_mem *mem;
  slp_list consumers; /* slp_consumer.link */
  uint32_t shards_n;  /* known shards; both heaps have room for each */
  uint32_t behind_n;  /* shards whose last page said that more is to come */
  slp_budget budget;
  slp_pages pages;
  slp_calls calls;
  slp_meet polls;                /* which polls go out together */
  slp_event pump_ev, deliver_ev; /* run pump.c and deliver.c */
  /* These five are the user's options, see sloop_opts_t. */
  sloop_order_t order;
  uint32_t order_wait_ms, batches_out_max, batch_records_max;
  uint64_t batch_bytes_max;
  slp_merge merge;       /* ORDER_TIME: the heads of all shards */
  slp_list ready_shards; /* ORDER_SHARD: shards with records to hand out */
  slp_delivery delivery;
  slp_batches batches;
};

/* Posts the pump, which looks for a shard that may call, or the delivery, which looks for records that may
 * leave. */
static inline void slp_pump_soon(slp_engine *e) { slp_post(e->host, &e->pump_ev); }
static inline void slp_deliver_soon(slp_engine *e) { slp_post(e->host, &e->deliver_ev); }

static inline slp_shard *slp_shard_in_order(slp_merge_node *node) {
  return SLP_OWNER(node, slp_shard, order.node);
}

#endif
