/* core.h - the objects of core, and which of its files may call which.
 *
 *   engine    what joined consumers share: budget, merge, delivery, and which shard fetches next
 *   consumer  reads one stream: its source, its shards (lineage), its life
 *   shard     one shard: a reader fetches its pages, a queue hands its records out and takes them back
 *   buffered  a page of records in memory, from its last byte until every record is acknowledged
 *   batch     records that the user holds; it may outlive all other objects
 *
 * Words that the whole room uses:
 *   tip           the newest record of a shard. A shard is at its tip if its last page left nothing to read.
 *   merge         the heap that orders the next records of all shards, merge.h; also: two shards become one
 *   the order     a shard enters it when its parents have handed out all records, and is then in the merge
 *   set aside     no shard waits for this one, because it fails or does not answer; order.h, deliver.c
 *   order time    slp_key.time, which orders the records of all shards: the arrival time, corrected; queue.c
 *   watermark     a key that no record still to come from a shard can precede; merge.h
 *   pushed shard  a shard whose records come over a subscription that stays open; all others are polled
 *   taken         a record that was put into its shard's queue, or passed over
 *   passed over   a record that is not handed out: it is empty, or reading begins after it
 *   idle mark     a sequence number without a record, up to which no record had come; mark.h
 *   out           the user holds the record, in a batch that is not yet given back
 *   given back    the user returned the record without acknowledging it, so it will be handed out again
 *   told, report  the user's callback is made, or will be made, see report.h
 *
 * Each object is made of parts. A part is a struct that one file owns, and the header of that file declares
 * it. Other files never read the fields of a part: they call the functions of its header. If two files own a
 * part, the header names both. Every file may read the fields of the objects themselves, and of the parts in
 * standing.h, tally.h and leases.h, which have no .c file. Nothing in core knows AWS, libuv, or a clock other
 * than the host's.
 *
 * The files have floors: a file calls functions of its own floor and of lower floors. A file tells a higher
 * floor something in one of three ways: it returns the fact, it posts an event (slp_deliver_soon,
 * slp_pump_soon, the events and timers of a part), or it calls through a table of functions that it was
 * given: source.h, leases.h.
 *
 *   7  consumer.c     the life of a consumer: describes, lists, starts, stops
 *      save.c         writes a consumer's positions as a token
 *      engine.c       creates and frees an engine
 *   6  seek.c         moves a running consumer to another position
 *      deliver.c      which record leaves now, and in which batch
 *   5  batch.c        the records that the user holds, until they come back
 *      pump.c         which shard calls now, and what is dropped when the budget is spent
 *      progress.c     what is reported of a shard's progress
 *   4  reader.c       asks for iterators and pages, and decides what the answers mean
 *   3  order.c        which shards may be read, and a shard's place in the order
 *      await.c        waits for a listing that shows a shard, or the children of a shard
 *      start.c        where each shard is read from
 *   2  lineage.c      which shards exist, their parents and children, and which of them are read at all
 *      reading.c      the state of a shard's reading, and when the shard wants to call
 *   1  queue.c, acked.c, shorten.c    a shard's pages, until every record of them is acknowledged
 *      calls.c        shards that want to call, and how many bytes a call may hold; pages.c: recycled pages
 *      lag.c          how far behind its tip the last successful answer left a shard
 *      listing.c      asks what the stream is, and which shards it has
 *      life.c         the states of a consumer, and when a stop is over
 *      report.c       makes callbacks to the user; loss.c: finds lost records
 *   0  budget.c, delay.c, desc.c, mark.c, poll_coalescing.c, merge.c, open_ends.c, pace.c, position.c,
 *      svctime.c, token.c: pure functions, without access to the host
 *
 * test/contract/tidy/rooms.py checks floors and parts. */
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
#include "core/order.h"
#include "core/pages.h"
#include "core/poll_coalescing.h"
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
  slp_shard_lease lease; /* with leases only */
  uint8_t paused;        /* 1: the user paused this shard */
  uint64_t paused_us;    /* when `paused` last changed, on the host's clock */
  /* 1: the event SLOOP_SHARD_OPENED, or SLOOP_SHARD_ENDED, was reported to the user */
  uint8_t opened_told, ended_told;
  /* scratch of lineage.c, start.c and save.c; each of them sets it for all shards before it reads it */
  uint8_t marked;
};

struct slp_consumer {
  slp_engine *engine;
  slp_source *source; /* owned */
  slp_mem *mem;
  slp_list link;         /* in slp_engine.consumers, the list of joined consumers */
  sloop_t *handle;       /* the consumer as the user knows it; the first argument of the user's callbacks */
  const sloop_opts_t *o; /* the user's options; a copy that api/ owns */
  char *stream;          /* owned; the stream's name, which records carry */
  char *arn;             /* owned; the stream's ARN; NULL: not known yet, or the service gives none */
  int64_t retention_ms;  /* how long the stream keeps records; -1: not known */
  int64_t created_ms;    /* when the stream was created, Unix time; -1: the service does not say */
  slp_life life;         /* only slp_consumer_move changes it */
  uint64_t life_us;      /* when `life` last changed */
  slp_svctime service;
  slp_delay delay; /* how long pushed records take to arrive, learned from earlier ones */
  slp_map shards;  /* shard id -> slp_shard */
  slp_tally sum;
  slp_listing listing;
  uint64_t started_us; /* when slp_consumer_start was called */
  uint32_t fails;      /* describe or list calls that failed in a row */
  /* since when describe or list calls fail; throttled calls do not count; 0: they do not fail */
  uint64_t failing_since_us;
  slp_timer timer;                    /* runs when the next describe or list call is due */
  slp_timer look_timer;               /* runs when the stream is described again, in case it has changed */
  slp_start_position *start_position; /* owned; where the user wants reading to begin */
  /* 1: every shard has its position, because the start position was applied to a listing; see start.c */
  uint8_t started_from;
  slp_list candidates; /* shards that enter the order if their parents are finished; see order.c */
  uint8_t entering;    /* 1: let_in() in order.c is running, so a nested call of it does nothing */
  uint8_t paused_all;  /* 1: the user paused all shards; shards that are found later are paused too */
  struct {             /* with leases: the last shard whose position the service refused to this worker */
    char shard[129];
    uint64_t us; /* when the shard's position was refused; 0: never */
    uint32_t n;  /* how often in a row the shard's position was refused */
  } refusal;
  uint8_t suspended;     /* 1: lease/ suspended this consumer, so nothing is fetched or handed out */
  uint64_t suspended_us; /* when `suspended` was last set */
  uint8_t whole_records; /* 1: the lease table can't store an index inside an aggregate (mark.sub) */
  uint8_t idle_places;   /* 1: the lease table can store a sequence number without a record (mark.idle) */
  uint8_t clear_places;  /* 1: the lease table can store mark.clear_ms */
  /* floor_learned, 1: the service has throttled a call for a page, so calls keep SLP_PACE_FLOOR_US apart.
   * tip_told, 1: the user was told that all shards are at their tip. */
  uint8_t floor_learned, tip_told;
  slp_seek seek;
  /* pages with records that the user held when a seek or a lost lease took their shard away */
  slp_list detached;
  slp_leases *leases; /* owned; NULL: no leases, so this consumer reads every shard */
  /* checkpoints that the user asked to be written, and that are not written yet; see lease/naming.h */
  slp_list namings;
  slp_stop stop;
  slp_timer stats_timer;
  /* Set by api/: called when statistics are due. May free c, so the caller must do nothing afterwards. */
  void (*on_stats_due)(slp_consumer *c);
  slp_counts counts;
  slp_notices notices;
};

struct slp_engine {
  slp_host *host;
  slp_mem *mem;
  slp_list consumers; /* the joined consumers, linked by slp_consumer.link */
  /* number of shards that all joined consumers know; the heaps `merge` and `calls.want` have room for them
   * all */
  uint32_t shards_n;
  uint32_t behind_n; /* number of shards whose last page said that more records wait */
  slp_budget budget;
  slp_pages pages;
  slp_calls calls;
  slp_meet polls;                /* groups polls of several shards, so that they go out at the same moment */
  slp_event pump_ev, deliver_ev; /* pump_ev runs slp_pump_run; deliver_ev runs the delivery, see deliver.c */
  /* The next five fields are options of the user, see sloop_opts_t. */
  sloop_order_t order;
  uint32_t order_wait_ms, batches_out_max, batch_records_max;
  uint64_t batch_bytes_max;
  /* with SLOOP_ORDER_TIME: orders the next record of each shard or, if it has none, its watermark */
  slp_merge merge;
  /* with SLOOP_ORDER_SHARD: the shards that have records to hand out, linked by slp_order.ready_link */
  slp_list ready_shards;
  slp_delivery delivery;
  slp_batches batches;
};

/* slp_pump_soon makes the pump run, which looks for a shard that may call. slp_deliver_soon makes the
 * delivery run, which looks for records that may leave. */
static inline void slp_pump_soon(slp_engine *e) { slp_post(e->host, &e->pump_ev); }
static inline void slp_deliver_soon(slp_engine *e) { slp_post(e->host, &e->deliver_ev); }

static inline slp_shard *slp_shard_in_order(slp_merge_node *node) {
  return SLP_OWNER(node, slp_shard, order.node);
}

#endif
