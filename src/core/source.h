/* source.h - the interface to where records come from. core knows no AWS: source/ implements this by
 * aws/ops.h (Kinesis polled or pushed, DynamoDB Streams). core owns each request, which lives until on_done
 * ran (from the turn queue) or cancel returned. Each request gets exactly one answer. */
#ifndef SLP_CORE_SOURCE_H
#define SLP_CORE_SOURCE_H

#include "base/fail.h"
#include "core/position.h"

typedef struct slp_source slp_source;

typedef struct slp_src_req {
  void (*on_done)(struct slp_src_req *rq); /* from the turn queue, once */
  slp_fail fail;
  uint64_t sent_us, done_us; /* of the last try; monotonic time */
  int64_t date_ms;           /* the service's clock, in whole seconds; -1: not told */
  void *impl;                /* for the source's own use */
} slp_src_req;

typedef struct slp_src_describe { /* what the stream is; the first request of all */
  slp_src_req rq;
  int latest;           /* in: 1: describe the stream that the name leads to now, which may be another one */
  char name[256];       /* out */
  char arn[512];        /* out; "" if the service gives none */
  int64_t created_ms;   /* out; -1: not known */
  int64_t retention_ms; /* out; -1: not known */
  int ready;            /* out; 0: it is being created, ask again later */
  int reshards;         /* out; 1: shards are being split or merged, and a listing may lack some of them */
} slp_src_describe;

/* the whole listing: all its pages, no shard twice; expired page tokens are dealt with */
typedef struct slp_src_list {
  slp_src_req rq;
  /* in: called when a page came and another one follows. `shards` has all rows so far, valid during the call.
   * NULL: nobody asks. */
  void (*on_part)(struct slp_src_list *l);
  slp_shard_desc *shards; /* out; owned by the source until the next list or close; valid in on_done */
  size_t shards_n;
  /* out; 1: no shard will ever get another record, nor the stream another shard */
  int ended;
  sloop_placement_t placement; /* out; as far as a description of the stream told it */
} slp_src_list;

typedef struct slp_src_locate { /* turns a position in a shard into a cursor (an iterator) */
  slp_src_req rq;
  slp_str shard;     /* in; borrowed */
  slp_position from; /* in; neither NONE nor END */
  uint64_t since_us; /* in; TIME: our clock at from.at_ms, as far as known; 0: the user gave the time */
  slp_buf cursor;    /* out; replaced. core inits and frees it */
} slp_src_locate;

/* turns a cursor into a page; aggregates are expanded (rec.sub) if that was asked for */
typedef struct slp_src_fetch {
  slp_src_req rq;
  slp_str shard;                                         /* in; borrowed; for error texts */
  slp_str cursor;                                        /* in; borrowed */
  uint32_t limit;                                        /* in */
  int anew;                                              /* in; 1: begin a new subscription */
  int (*may_grow)(struct slp_src_fetch *f, size_t more); /* PURE; returning 0 pauses the transfer */
  /* in; PURE: returns the children of the shard that are known already, so that nobody is asked for them. */
  size_t (*known_children)(struct slp_src_fetch *f, slp_shard_desc *rows, size_t max);
  slp_page *page;    /* in: an empty page of core's. out: filled */
  size_t body_bytes; /* out; size of the answer's body */
  int follows;       /* out; 1: pushed, and not the first event of its subscription */
  int still;         /* out; 1: pushed, empty, and nothing has moved for seconds: the shard may have ended */
} slp_src_fetch;

typedef struct slp_source_ops {
  void (*describe)(slp_source *s, slp_src_describe *rq);
  void (*list)(slp_source *s, slp_src_list *rq);
  void (*locate)(slp_source *s, slp_src_locate *rq);
  void (*fetch)(slp_source *s, slp_src_fetch *rq);
  void (*resume)(slp_source *s, slp_src_fetch *rq); /* there is room again, after may_grow returned 0 */
  void (*cancel)(slp_source *s, slp_src_req *rq);   /* no answer comes any more */
  /* The shard is not read any more, or not from here on; no request of it is in flight. NULL: the source
   * keeps nothing for a shard. */
  void (*leave)(slp_source *s, slp_str shard);
  /* Returns 1 if the fetch gets records pushed as they are stored, and nothing older waits to be handed
   * out. */
  int (*is_listening)(slp_source *s, const slp_src_fetch *rq);
  void (*close)(slp_source *s); /* nothing may be in flight; frees s */
} slp_source_ops;

struct slp_source {
  const slp_source_ops *ops;
  /* Properties of the service. */
  uint32_t fetch_records_max; /* the most records that a call may ask for */
  uint64_t fetch_bytes_max;   /* no page is larger */
  uint64_t fetch_bytes_full;  /* a page this large was cut short by its size: more waits in the shard */
  int tells_behind;    /* 1: pages carry behind_ms (Kinesis); 0: several empty pages in a row mean the tip */
  int anchors_by_time; /* 1: AT_TIME exists, and stamps have milliseconds (Kinesis) */
  /* 1: AT_TIME exists, and stamps have whole seconds (DynamoDB Streams). Becomes 0 if the server turns out
   * not to know it; then a TIME is located at the oldest record. */
  int finds_seconds;
  unsigned
      number_digits_min; /* zeros in front bring sequence numbers to this many digits; 0, 1: there are none */
  /* 1: a page without a next iterator is the end of the shard, and no page names children (DynamoDB). */
  int names_no_children;
  /* 1: a page comes when there are records, however long that takes. So a fetch is no call in flight, there
   * is no pace at the tip, and a page's size says nothing. May change at any time. */
  int pushes;
  char told[400]; /* what the description found out, for the log; "": nothing */
  /* Says that `told` is new: the way that records come has changed, or a warning is due. Core tells it and
   * sets SLP_NEWS_NONE again. */
  enum { SLP_NEWS_NONE, SLP_NEWS_GOOD, SLP_NEWS_WARNING, SLP_NEWS_TROUBLE } news;
  uint64_t news_retry_ms; /* SLP_NEWS_TROUBLE: when another way is tried */
};

/* Returns 1 if a TIME can be located, at least to the second. */
static inline int slp_source_finds_times(const slp_source *s) {
  return s->anchors_by_time || s->finds_seconds;
}

#endif
