/* core.h - the objects of core and how they hang together.
 *
 *   engine    one per family of joined consumers: budget, merge, delivery, who fetches next
 *   consumer  one stream: its source, its shards (lineage), its life cycle
 *   shard     one shard: a reader (fetches pages) and an outlet (hands records out, counts them in)
 *   held      a page of records in our hands: from its last byte until every record is acknowledged
 *   batch     records out with the user; outlives everything else
 *
 * A shard's reader and outlet meet only in the budget and in the list of held pages. Nothing here
 * knows AWS, libuv or a clock other than the host's. */
#ifndef SLP_CORE_CORE_H
#define SLP_CORE_CORE_H

#include "base/map.h"
#include "core/budget.h"
#include "core/leases.h"
#include "core/position.h"
#include "core/merge.h"
#include "core/pace.h"
#include "core/source.h"
#include "core/svctime.h"
#include "host/host.h"
#include <sloop.h>

typedef struct slp_engine slp_engine;
typedef struct slp_consumer slp_consumer;
typedef struct slp_shard slp_shard;
typedef struct slp_buffered slp_buffered;
typedef struct slp_start_position slp_start_position;
typedef struct sloop_batch_s slp_batch;

/* ---- names that outlive shards, for records in batches -------------------------------------- */
typedef struct slp_name {
  slp_mem *mem; /* held */
  uint32_t refs;
  const char *stream, *shard; /* NUL-ended, in text */
  uint64_t epoch;             /* of the lease; 0: there is none */
  size_t shard_n;
  char text[];
} slp_name;

/* ---- a page in our hands ---------------------------------------------------------------------- */
struct slp_buffered {
  slp_list link;      /* in shard->pages, oldest first; or in consumer->detached */
  slp_shard *shard;   /* NULL: nothing counts any more, only memory is left to give back */
  slp_engine *engine; /* NULL: gone, its budget with it */
  slp_mem *mem;
  slp_name *name; /* held */
  slp_page *page; /* owned; NULL once every record is acknowledged */
  uint32_t n, unacked;
  uint32_t out;      /* records in batches that are out: their bytes must stay */
  uint8_t dropped;   /* nothing of it is handed out any more; it goes when out is 0 */
  uint8_t *attempts; /* per record, once one was given back; stays at 255. NULL: none, or no memory */
  uint32_t redelivered_n;
  int64_t floor_time; /* key time of the record before this page */
  slp_mark prev;      /* that record, if there was one */
  int64_t service_ms; /* service time of the answer: no key is later */
  int64_t behind_ms;
  uint64_t charged;     /* bytes in the budget */
  uint8_t *redelivered; /* bitmap of records given back, behind acked in bits */
  uint8_t bits[];       /* bitmap of acknowledged records, then again's */
};

/* ---- a shard ------------------------------------------------------------------------------------ */
typedef enum slp_reader_state {
  SLP_READER_IDLE,     /* parents unfinished, or not to be read */
  SLP_READER_WAITING,  /* for the pace timer, room to buffer, the budget or a free call */
  SLP_READER_LOCATING, /* a call for an iterator is out */
  SLP_READER_FETCHING, /* a call for a page is out, or its answer is being parsed */
  SLP_READER_CHECKING, /* no next iterator and no children: the listing must say what that means */
  SLP_READER_ENDED,    /* read to its end */
  SLP_READER_GONE      /* given up: stopped for a reason, or the consumer stops */
} slp_reader_state;

/* Whether a shard is read at all; lineage.c moves it. */
typedef enum slp_selection {
  SLP_SELECT_WANTED,  /* it is, was, or will be when its parents are read */
  SLP_SELECT_SKIPPED, /* start position or filter leave it out; it counts as read for its children */
  SLP_SELECT_BARRED,  /* an ancestor was given up: neither it nor what descends from it is read */
  SLP_SELECT_STOPPED  /* its reader was stopped: given up, or the consumer goes on without it */
} slp_selection;

/* A shard's part in the order; queue.c moves it. */
typedef enum slp_order_state {
  SLP_ORDER_OUTSIDE, /* its parents have not handed out all they had */
  SLP_ORDER_IN,      /* in the merge, or among the ready shards, unless it is paused */
  SLP_ORDER_ASIDE,   /* silent or failing for too long: holds nobody back until it answers */
  SLP_ORDER_LEFT     /* all of it was handed out, or nothing of it will be */
} slp_order_state;

/* A shard whose lease is to go; lease/consumer.c moves it. */
typedef enum slp_drain {
  SLP_DRAIN_NO,
  SLP_DRAIN_STOPPED, /* nothing is fetched or handed out any more */
  SLP_DRAIN_ASKED    /* and the fleet is to be told when nothing is out */
} slp_drain;

typedef struct slp_locating { /* a request for an iterator, only while it is out */
  slp_src_locate rq;
  slp_shard *shard;
} slp_locating;

struct slp_shard {
  slp_consumer *consumer;
  slp_name *name;        /* held */
  slp_str id;            /* in name */
  slp_str parents[2];    /* copies, owned; {NULL,0}: none */
  uint8_t listed_closed; /* the listing gives it an end */
  uint8_t listed;        /* seen in the newest listing */
  slp_selection selection;
  uint8_t missed_n; /* listings in a row without it */
  uint8_t paused;
  uint8_t opened_told, ended_told;
  uint8_t marked;      /* scratch of seed.c, save.c and consumer.c */
  uint32_t children_n; /* known children */

  /* reader */
  slp_reader_state state;
  slp_position start;        /* where the first iterator goes */
  slp_buf cursor;            /* the iterator; empty: locate first */
  uint8_t cursor_after_last; /* it was asked for AT the last record taken: skip that one */
  uint8_t from_oldest;       /* where it should go on is not kept: what is kept and known is passed by */
  uint8_t relocated;         /* one new iterator was tried after the service called the old one invalid */
  uint8_t at_tip;
  uint8_t beyond;     /* its call may go beyond the budget */
  uint8_t unlisted_n; /* listings in a row without it, while checking */
  uint8_t end_claims; /* answers in a row without next iterator and children, on a shard listed closed */
  uint8_t unknown;    /* CHECKING: because the service did not know the shard */
  uint8_t renewing;   /* an expired iterator was replaced, and no page came since */
  uint8_t throttled;  /* the last call was refused as too fast */
  uint8_t peeking;    /* the call that is out only looks how far behind a paused shard is */
  uint8_t far_behind; /* and the user was told */
  uint8_t is_behind;  /* as far as its last page tells, more records wait in the shard */
  uint64_t
      added_serial; /* the listing under way, or the last one, when it became known: too old to miss it */
  uint64_t known_serial;     /* its parents are sure only after this listing; 0: they are */
  uint64_t check_serial;     /* CHECKING: the first listing that may answer */
  uint64_t reserved;         /* of the call that is out */
  uint64_t fetch_sent_us;    /* when the call that is out was begun */
  uint64_t tip_asked_us;     /* at_tip: when the call was begun that told so last */
  uint64_t peek_at_us;       /* paused: not looked at before */
  uint64_t failing_since_us; /* 0: the last call was fine */
  uint64_t next_at_us;       /* pace: not before */
  slp_pace pace;
  slp_timer timer;
  slp_src_fetch fetch;
  slp_locating *locating; /* only while LOCATING */
  slp_page *page;         /* being filled */
  uint32_t limit;         /* asked for by the call that is out */
  slp_merge_node want;    /* in engine->want, by watermark, while it would like to call */
  slp_list stalled_link;  /* in engine->stalled, while its transfer is paused for lack of budget */

  /* what was taken into the merge */
  int64_t tail_time;     /* key time of the last record taken, or the floor */
  slp_mark last;         /* that record; also one that was only passed over. No number: none was taken */
  int64_t anchor_ms;     /* LATEST: service time of its first iterator, or a little before */
  uint8_t anchored;      /* LATEST: there was that first iterator */
  int64_t open_ms;       /* LATEST: service time when it was surely open: it may have children since */
  int64_t not_before_ms; /* what arrived before is passed over; INT64_MIN: nothing is */
  int64_t behind_ms;     /* -1: not known */

  /* outlet */
  slp_list pages;          /* slp_buffered: everything not yet contiguously acknowledged; see lowmark.c */
  slp_buffered *next_page; /* the next record never handed out */
  uint32_t next_i;
  uint32_t queued_n;        /* records in pages never handed out */
  uint32_t redelivered_n;   /* records given back, to be handed out again */
  uint32_t unacked_n;       /* records fetched and not acknowledged */
  uint32_t redeliver_tries; /* give-backs in a row without an acknowledgement */
  uint64_t redeliver_at_us;
  uint32_t batches_out; /* batches with records of this shard */
  int64_t key_time;     /* of the last record handed out, or the floor */
  slp_key watermark;    /* seq points to frontier_seq */
  char watermark_seq[SLP_SEQ_MAX];
  slp_order_state order;
  slp_merge_node node;          /* in engine->merge */
  slp_list ready_link;          /* ORDER_SHARD: in engine->ready_shards */
  slp_list touched_link;        /* while a batch is given back: shards to settle */
  slp_buffered *tried;          /* the first record in the way when it came back: only its address counts */
  uint32_t tried_i, tried_n;    /* so often, without another one being the first */
  uint8_t tried_at;             /* its attempts then */
  uint8_t dead;                 /* that one goes to on_dead_letter */
  uint8_t given_back, given_in; /* likewise: some records came back / were acknowledged */

  /* with leases: lease/consumer.c */
  slp_position leased_from; /* where its lease said to begin */
  slp_shard_desc *kids;     /* owned, one block: as its last answer named them */
  size_t kids_n;
  uint64_t progress_us; /* something was acknowledged, or nothing was to be */
  slp_drain drain;
  uint8_t read_out; /* read to its end, handed out, and the fleet was told */
};

static inline int slp_has_taken(const slp_shard *s) { return s->last.seq_n > 0; }

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

struct slp_consumer {
  slp_engine *engine;
  slp_source *source; /* owned */
  slp_mem *mem;
  slp_list link;         /* in engine->consumers */
  sloop_t *handle;       /* what callbacks are given */
  const sloop_opts_t *o; /* the api's copy */
  char *stream;          /* name for records */
  char *arn; /* owned; the stream's, or its name where the service gives none; NULL: not known yet */
  slp_life life;
  slp_svctime service;
  slp_map shards; /* id -> slp_shard */
  int64_t retention_ms;
  int64_t created_ms;   /* -1: not told */
  uint64_t lists_begun; /* the number of the newest listing */
  uint64_t lists_done;  /* the newest one that answered */
  uint64_t list_us;     /* when the newest one was begun */
  uint64_t queued_n;    /* records taken and not yet handed out, or to be handed out again */
  uint8_t paused_all, floor_learned, tip_told;
  uint8_t list_wanted;                /* somebody needs a listing begun after now */
  uint8_t started_from;               /* a listing was turned into shards to be read, see seed.c */
  slp_start_position *start_position; /* owned; where reading began */
  slp_list moves;                     /* move.c's */
  slp_event moves_ev;
  slp_list detached;             /* slp_buffered: out with the user since before a move, or a lost lease */
  slp_leases *leases;            /* owned; NULL: no leases, every shard is read */
  uint8_t suspended;             /* by the fleet: nothing is fetched or handed out */
  uint8_t entering, enter_again; /* slp_lineage_enter_ready is at work; and shall go round once more */
  uint32_t open_n;               /* shards being read */
  uint32_t tip_n;                /* of those, at their tip */
  uint32_t going_n;              /* not read any more, to be given up, and not told yet */
  uint32_t waiting_n;            /* to be read, parents unfinished */
  uint32_t batches_out;

  slp_src_describe describe;
  slp_src_list list;
  uint8_t describe_out, list_out;
  uint32_t fails;        /* describe or list, in a row */
  slp_timer timer;       /* describe / list again */
  sloop_list_cb list_cb; /* a user's listing, told with the next answer; NULL: nobody asked */
  void *list_cb_arg;

  sloop_cb stop_cb;
  void *stop_arg;
  slp_timer stop_timer;
  uint64_t stop_wait_us; /* with leases: batches that are out are waited for until then */
  slp_event stop_ev;
  int stop_status;
  slp_timer stats_timer;
  void (*on_stats_due)(slp_consumer *c); /* set by api: the last thing its caller does */
  slp_counts counts;

  slp_list notices; /* slp_notice: callbacks to be made */
  uint32_t notices_n, notices_lost;
  void *fatal_notice; /* report.c's: a fatal error is told without memory too */
  slp_event notices_ev;
};

/* ---- the engine ----------------------------------------------------------------------------------- */
struct slp_engine {
  slp_host *host;
  slp_mem *mem;
  slp_list consumers;
  slp_budget budget;
  sloop_order_t order;
  uint32_t order_wait_ms, batches_out_max, batch_records_max, in_flight_max;
  uint64_t batch_bytes_max;

  slp_merge merge;       /* ORDER_TIME */
  slp_list ready_shards; /* ORDER_SHARD */
  slp_key last_out;      /* the latest key handed over; seq in last_out_seq */
  char last_out_seq[SLP_SEQ_MAX];
  uint8_t any_out;
  uint32_t batches_out;
  slp_list batches; /* slp_batch out with the user */
  slp_batch *spare_batch;
  slp_shard *blocker; /* who held the merge back when it was last looked at */
  uint64_t blocked_since_us;
  uint64_t backlog_until_us; /* what waits was found too old to be at the tip; look again then */
  slp_timer deliver_timer;
  slp_event deliver_ev;

  uint32_t shards_n; /* known shards; the heaps have room for each */
  slp_merge want;    /* shards that want to call, by frontier */
  uint32_t in_flight;
  uint32_t behind_n; /* shards that have more to bring, as far as their last page tells */
  slp_list stalled;  /* shards whose transfer waits for budget */
  slp_event pump_ev;
  slp_list spares; /* recycled pages; they count in the budget until it is needed */
  uint64_t spare_bytes;
};

/* engine.c: who may call next, and the budget */
int slp_engine_new(slp_engine **ret, slp_host *h, slp_mem *mem, const sloop_opts_t *o);
void slp_engine_free(slp_engine *e); /* no consumer left */
void slp_engine_want(slp_shard *s);  /* the shard would like to call now */
void slp_engine_unwant(slp_shard *s);
void slp_engine_call_over(slp_shard *s); /* its call is done or cancelled: reservation back, others may go */
void slp_engine_pump(slp_engine *e);     /* posts: look who may call */
slp_page *slp_engine_page(slp_engine *e, uint64_t expected_bytes); /* recycled or new; NULL: no memory */
void slp_engine_page_back(slp_engine *e, slp_page *page);
int slp_engine_may_grow(slp_src_fetch *f, size_t more);
int slp_engine_room(slp_engine *e); /* the heaps can take one shard more. SLP_ENOMEM */

/* deliver.c: batches out of the merge */
void slp_deliver_soon(slp_engine *e);
void slp_deliver_run(slp_event *ev);
void slp_deliver_timer(slp_timer *t);
void slp_deliver_blocked_lift(slp_shard *s); /* it brought something: may be set back into the order */

/* outlet.c: a shard's records on their way out and back in */
/* Takes the page's records in. 0; SLP_ENOMEM: nothing happened, the page is still the caller's; SLOOP_EPROTO:
 * a record went back, none was taken; SLOOP_ETRIMMED: there is a gap, and the user wants to
 * stop at gaps. The page is gone but for SLP_ENOMEM. */
int slp_queue_admit(slp_shard *s, slp_page *page, int64_t service_high_ms);
int slp_queue_knows(const slp_shard *s, const slp_page *page, const slp_rec *r); /* it brings nothing new */
int slp_queue_was_young(const slp_shard *s); /* the last record taken should still be kept */
void slp_queue_put_in_order(slp_shard *s);   /* node or ready queue brought up to date */
void slp_queue_enter(slp_shard *s);          /* its parents have handed out all they had */
void slp_queue_leave(slp_shard *s);          /* nothing of it is waited for any more */
void slp_queue_set_aside(slp_shard *s);      /* it holds nobody back until it answers */
int slp_queue_take_back(slp_shard *s); /* it has answered, or never will: no longer aside. 0: it was not */
void slp_queue_set_frontier(slp_shard *s, int64_t time, slp_str seq, uint32_t sub);
int slp_queue_head(slp_shard *s, slp_buffered **ret_buffered, uint32_t *ret_i,
                   int *ret_redelivered); /* 0: nothing */
void slp_queue_take(slp_shard *s, slp_buffered *buffered, uint32_t i, int redelivered, const slp_key *key);
slp_key slp_queue_key(slp_shard *s, slp_buffered *buffered, uint32_t i);
int slp_queue_empty(const slp_shard *s);                /* nothing left to hand out */
void slp_queue_ack(slp_buffered *buffered, uint32_t i); /* idempotent */
void slp_queue_return(slp_buffered *buffered,
                      uint32_t i);           /* leaves its batch: given back unless acknowledged */
void slp_queue_settle(slp_shard *s);         /* after that: pages leave, back-off begins, ends are told */
void slp_queue_drop(slp_shard *s);           /* everything not out with the user */
void slp_queue_free(slp_buffered *buffered); /* nothing of it is out */
void slp_queue_orphan(slp_shard *s);         /* the shard goes; what is out stays the batches' */
int slp_queue_is_dead(const slp_shard *s, const slp_buffered *buffered,
                      uint32_t i);                 /* it goes to on_dead_letter */
void slp_queue_detach(slp_shard *s, slp_list *to); /* the same, but what is out still counts in the budget */
void slp_queue_forget(slp_list *detached);         /* and now not even that */
/* Forgets what was fetched and never handed out; the shard's last record taken is again the last one handed
 * out. 0: not possible now (records are out, or given back). */
int slp_queue_rewind(slp_shard *s);

/* lowmark.c: what was acknowledged without a gap */
/* 1: *ret is its last record. 0: there is none yet, the shard stands where it started. */
int slp_acked_prefix(const slp_shard *s, slp_mark *ret);
void slp_acked_drop(slp_shard *s); /* dropped pages of which nothing is out go; the mark stays right */

/* reader.c */
void slp_reader_start(slp_shard *s);
void slp_reader_poke(slp_shard *s); /* room came free, or it was resumed */
void slp_reader_hurry(
    slp_shard *s);                  /* others wait for it: its pause at the tip ends at the service's floor */
void slp_reader_stop(slp_shard *s); /* cancels; GONE */
int slp_reader_rewind(
    slp_shard *s);                /* gives back all it buffered and reads it again later; 0: not possible */
void slp_reader_go(slp_shard *s); /* the engine lets it call now */
void slp_reader_listed(slp_shard *s);   /* a listing asked for while CHECKING is here */
void slp_reader_ask_less(slp_shard *s); /* FETCHING: gives its call up and asks again for a single record */
uint64_t slp_reader_reserve(slp_shard *s, uint32_t *ret_limit);
void slp_reader_give_up(slp_shard *s, const slp_fail *f); /* and nothing of it is handed out any more */
/* Read to its end and all acknowledged: tells it once. With leases it waits for slp_reader_kept_end. */
void slp_reader_told_end(slp_shard *s);
void slp_reader_kept_end(slp_shard *s); /* likewise; its end is in the table */

/* lineage.c: parents, children, who may be read */
slp_shard *slp_lineage_add(slp_consumer *c, slp_str id, slp_str parent, slp_str adjacent);
slp_shard *slp_lineage_get(slp_consumer *c, slp_str id);
int slp_lineage_wants(const slp_consumer *c, slp_str id); /* the shard filter */
int slp_lineage_parents_read(const slp_shard *s); /* every known parent is read to its end, or not ours */
int slp_lineage_parents_out(const slp_shard *s);  /* and has handed out all it had */
/* Starts the readers of shards whose parents are read, and lets those whose parents are out into the order.
 */
/* Descendants of a shard that was given up are not read. */
void slp_lineage_bar(slp_consumer *c);
/* Moves s->selection; keeps count of the shards that wait to be read. */
void slp_lineage_set(slp_shard *s, slp_selection to);
static inline int slp_lineage_wanted(const slp_shard *s) { return s->selection == SLP_SELECT_WANTED; }
static inline int slp_lineage_skipped(const slp_shard *s) { return s->selection == SLP_SELECT_SKIPPED; }
void slp_lineage_open_ready(slp_consumer *c);
void slp_lineage_enter_ready(slp_consumer *c);      /* children whose parents are out enter the order */
void slp_lineage_drop(slp_shard *s);                /* a stopped, detached one goes */
void slp_lineage_free_map(slp_map *shards);         /* every reader stopped, every outlet orphaned */
void slp_lineage_forget(slp_consumer *c);           /* finished shards that are not listed any more */
int64_t slp_lineage_floor(const slp_shard *s);      /* the latest key time of its parents */
int64_t slp_lineage_not_before(const slp_shard *s); /* what every parent passes over; INT64_MIN: nothing */
/* Begun at the latest, and nothing came: a time to go on from that passes over nothing of its children. */
int64_t slp_lineage_anchor(const slp_shard *s);

/* consumer.c */
void slp_consumer_move(slp_consumer *c, slp_life to); /* the one place that changes c->life */
void slp_consumer_learn_time(slp_consumer *c, const slp_src_req *rq);
void slp_consumer_list_soon(slp_consumer *c, uint64_t in_ms);
int slp_consumer_take_listing(slp_consumer *c); /* the last listing's rows into c->shards. SLP_ENOMEM */
int slp_consumer_at_tip(const slp_consumer *c); /* and nothing is left to hand out or to be given back */
void slp_consumer_check(slp_consumer *c);       /* tip reached? stop finished? */
void slp_consumer_fatal(slp_consumer *c, const slp_fail *f);

/* batch.c */
struct sloop_batch_s {
  slp_list link;          /* in engine->batches while out */
  slp_mem *mem;           /* held */
  slp_engine *engine;     /* NULL: gone */
  slp_consumer *consumer; /* NULL: gone; then giving back only frees */
  slp_shard *shard;       /* ORDER_SHARD: the only one; else NULL */
  sloop_record_t *recs;
  struct slp_batch_item {
    slp_buffered *buffered;
    uint32_t i;
  } * items;
  uint8_t *acked; /* bitmap over the batch */
  uint32_t n, cap;
  uint64_t payload_bytes, charged;
  int64_t behind_ms;
  uint8_t out;
  uint8_t dead; /* its one record goes to on_dead_letter */
};
void slp_batch_ack(slp_batch *b, size_t index);
void slp_batch_done(slp_batch *b, size_t acked);
void slp_batch_free(slp_batch *b);
slp_batch *slp_batch_new(slp_engine *e);
int slp_batch_add(slp_batch *b, slp_shard *s, slp_buffered *buffered, uint32_t i, uint32_t flags);
void slp_batch_send(slp_batch *b);    /* on_batch: the last thing the caller does */
void slp_batch_bury(slp_batch *b);    /* on_dead_letter, and the record counts as acknowledged: likewise */
void slp_batch_recycle(slp_batch *b); /* an empty one that was not sent */
void slp_batches_orphan(slp_engine *e, slp_consumer *c);

/* report.c: callbacks to the user, later and one at a time */
void slp_report_error(slp_consumer *c, const slp_fail *f, const slp_shard *s, int fatal, uint32_t attempt,
                      uint64_t retry_in_ms);
void slp_report_shard(slp_consumer *c, const slp_shard *s, sloop_shard_event_kind_t what);
void slp_report_loss(slp_consumer *c, slp_str shard, slp_str from, slp_str to, int certain,
                     const char *message);
void slp_report_lease(slp_consumer *c, sloop_lease_event_kind_t what, slp_str shard, slp_str worker,
                      slp_str text, uint64_t epoch);
int slp_report_tip(slp_consumer *c); /* 0: no memory, to be told later */
void slp_report_log(slp_consumer *c, sloop_log_level_t level, const char *fmt, ...) SLP_PRINTF(3, 4);
void slp_report_run(slp_event *ev);
void slp_report_drop(slp_consumer *c);
int slp_report_reserve(slp_consumer *c); /* SLP_ENOMEM */
void slp_report_unreserve(slp_consumer *c);

slp_name *slp_name_new(slp_mem *mem, slp_str stream, slp_str shard);
slp_name *slp_name_hold(slp_name *name);
void slp_name_drop(slp_name *name);

#endif
