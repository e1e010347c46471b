/* source.h - what core wants from where records come from. core knows no AWS: source/ implements
 * this over aws/ops.h (Kinesis polled or pushed, DynamoDB Streams). Requests are owned by core, live
 * until on_done ran (from the turn queue) or cancel returned; exactly one answer each. */
#ifndef SLP_CORE_SOURCE_H
#define SLP_CORE_SOURCE_H

#include "base/fail.h"
#include "core/position.h"

typedef struct slp_source slp_source;

typedef struct slp_src_req {
  void (*on_done)(struct slp_src_req *rq);
  slp_fail fail;
  uint64_t sent_us, done_us; /* the last try, monotonic */
  int64_t date_ms;           /* what the service's clock said (whole seconds); -1: nothing */
  void *impl;                /* the source's */
} slp_src_req;

typedef struct slp_src_describe { /* what is this stream? The first thing asked */
  slp_src_req rq;
  int latest;     /* in: what the name leads to now, which may be another stream than the one that is read */
  char name[256]; /* out */
  char arn[512];  /* out; "" when the service gives none */
  int64_t created_ms;   /* out; -1 unknown */
  int64_t retention_ms; /* out; -1 unknown */
  int ready;            /* out; 0: being created: ask again later */
  int reshards; /* out; 1: shards are being split or merged, and a listing may not have all of them yet */
} slp_src_describe;

typedef struct slp_src_list { /* the whole listing: all pages, expired tokens dealt with, no doubles */
  slp_src_req rq;
  /* in: a page came and another one follows; shards has all rows so far, for the time of the call. NULL:
   * nobody asks. */
  void (*on_part)(struct slp_src_list *l);
  slp_shard_desc *shards; /* out; owned by the source until the next list or close; valid in on_done */
  size_t shards_n;
  int ended;                   /* out: no shard will ever get another record, nor the stream another shard */
  sloop_placement_t placement; /* out; as far as the stream was described */
} slp_src_list;

typedef struct slp_src_locate { /* position in a shard -> cursor (an iterator) */
  slp_src_req rq;
  slp_str shard;     /* in; borrowed */
  slp_position from; /* in; neither NONE nor END */
  uint64_t since_us; /* in; TIME: our time when it was that time, as far as we know; 0: it is the user's */
  slp_buf cursor;    /* out; core inits and frees; replaced */
} slp_src_locate;

typedef struct slp_src_fetch { /* cursor -> page, aggregates expanded (rec.sub) where asked for */
  slp_src_req rq;
  slp_str shard;                                         /* in; borrowed; for error texts */
  slp_str cursor;                                        /* in; borrowed */
  uint32_t limit;                                        /* in */
  int anew;                                              /* in: of a subscription that begins now */
  int (*may_grow)(struct slp_src_fetch *f, size_t more); /* PURE; 0 pauses the transfer */
  /* in; PURE: the children of the shard that are known already, so that nobody is asked for them. */
  size_t (*known_children)(struct slp_src_fetch *f, slp_shard_desc *rows, size_t max);
  slp_page *page;    /* in: empty, core's. out: filled */
  size_t body_bytes; /* out */
  int follows;       /* out: pushed, and another event of the same subscription came before */
  int still; /* out: pushed, empty, and the place has not moved for seconds: the shard may have ended */
} slp_src_fetch;

typedef struct slp_source_ops {
  void (*describe)(slp_source *s, slp_src_describe *rq);
  void (*list)(slp_source *s, slp_src_list *rq);
  void (*locate)(slp_source *s, slp_src_locate *rq);
  void (*fetch)(slp_source *s, slp_src_fetch *rq);
  void (*resume)(slp_source *s, slp_src_fetch *rq); /* after may_grow said no */
  void (*cancel)(slp_source *s, slp_src_req *rq);   /* silence from here on */
  /* The shard is not read any more, or not from here on; no request of it is out. NULL: nothing is kept for
   * it. */
  void (*leave)(slp_source *s, slp_str shard);
  /* Whether a fetch that is out gets records pushed as they are stored, with nothing from before waiting to
   * be handed out. */
  int (*is_listening)(slp_source *s, const slp_src_fetch *rq);
  void (*close)(slp_source *s); /* nothing is in flight; frees */
} slp_source_ops;

struct slp_source {
  const slp_source_ops *ops;
  /* Properties of the service. */
  uint32_t fetch_records_max; /* the most that a call may ask for */
  uint64_t fetch_bytes_max;   /* a page is never larger */
  uint64_t fetch_bytes_full;  /* one as large as this was cut short by its size: more waits in the shard */
  int tells_behind;    /* pages carry behind_ms (Kinesis); 0: several empty pages in a row are the tip */
  int anchors_by_time; /* AT_TIME exists, and stamps have milliseconds (Kinesis) */
  /* AT_TIME exists, and stamps have whole seconds (DynamoDB Streams). Becomes 0 when the server turns out not
   * to know it: a TIME that is asked for then, or waits for an answer, is located at the oldest record. */
  int finds_seconds;
  unsigned
      number_digits_min; /* sequence numbers have so many digits, by zeros in front; 0, 1: they have none */
  /* A page at the end of a shard says so by having no next iterator, and names no children (DynamoDB). */
  int names_no_children;
  /* Pages come when there are records, however long that takes: a fetch that is out is no call in flight,
   * there is no pace at the tip, and a page's size says nothing. May change at any time. */
  int pushes;
  char told[400]; /* what describing the stream brought to light, for the log; "": nothing */
  /* The way that records come has changed, or a warning is due, as `told` says. Core tells it and sets
   * SLP_NEWS_NONE again. */
  enum { SLP_NEWS_NONE, SLP_NEWS_GOOD, SLP_NEWS_WARNING, SLP_NEWS_TROUBLE } news;
  uint64_t news_retry_ms; /* of trouble: when another way is tried */
};

/* A TIME is located, if only to the second. */
static inline int slp_source_finds_times(const slp_source *s) {
  return s->anchors_by_time || s->finds_seconds;
}

#endif
