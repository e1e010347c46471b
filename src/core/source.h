/* source.h - the interface of a source: where a consumer's records come from. core knows no AWS, so source/
 * implements this interface with aws/ops.h (Kinesis polled or pushed, DynamoDB Streams). core owns each
 * request. A request lives until its on_done was called, or until cancel has returned. Each request gets
 * exactly one answer, by on_done in a later turn. */
#ifndef SLP_CORE_SOURCE_H
#define SLP_CORE_SOURCE_H

#include "base/fail.h"
#include "core/position.h"

typedef struct slp_source slp_source;

typedef struct slp_src_req {
  /* called once, when the request is done; never before the function that sent it returns */
  void (*on_done)(struct slp_src_req *rq);
  slp_fail fail;
  uint64_t sent_us, done_us; /* when the last try was sent, and when it was answered; monotonic time */
  int64_t date_ms; /* the Date of the answer: the service's time in whole seconds; -1: the answer had none */
  void *impl;      /* only the source uses it */
} slp_src_req;

typedef struct slp_src_describe { /* asks what the stream is; the first request of all */
  slp_src_req rq;
  int latest; /* in; 1: describe the stream that the name or the table has now, which may be another stream */
  char name[256];       /* out */
  char arn[512];        /* out; "" if the service gives no ARN */
  int64_t created_ms;   /* out; -1: not known */
  int64_t retention_ms; /* out; -1: not known */
  int ready;            /* out; 0: the stream is being created, so ask again later */
  int reshards;         /* out; 1: shards are being split or merged, and a listing may lack some of them */
} slp_src_describe;

/* Lists all shards of the stream: all pages of the listing, each shard once. The source handles page tokens
 * that expire. */
typedef struct slp_src_list {
  slp_src_req rq;
  /* in; called after each page that another page follows. `shards` then has all rows so far, until on_part
   * returns. May be NULL. */
  void (*on_part)(struct slp_src_list *l);
  /* out; valid in on_done. The source owns the rows, until the next `list` or `close` */
  slp_shard_desc *shards;
  size_t shards_n;
  /* out; 1: no shard gets another record, and the stream gets no other shard */
  int ended;
  sloop_placement_t placement; /* out; as far as a description of the stream has said it */
} slp_src_list;

typedef struct slp_src_locate { /* turns a position in a shard into a cursor (an iterator) */
  slp_src_req rq;
  slp_str shard;     /* in; borrowed */
  slp_position from; /* in; neither NONE nor END */
  /* in; with TIME: when our clock showed the service's time from.at_ms, as far as known; 0: the user gave the
   * time */
  uint64_t since_us;
  slp_buf cursor; /* out; its old content is replaced. core initializes and frees it */
} slp_src_locate;

/* Turns a cursor into a page of records. Aggregates are expanded into their records (rec.sub) if the options
 * say so. */
typedef struct slp_src_fetch {
  slp_src_req rq;
  slp_str shard;  /* in; borrowed; the shard's id, for the texts of errors */
  slp_str cursor; /* in; borrowed */
  uint32_t limit; /* in; the most records that the page may have */
  int anew;       /* in; 1: with a pushing source: begin a new subscription */
  /* in; PURE (host/host.h): returns 1 if the body may grow by `more` bytes, 0 if the transfer must pause
   * until `resume`. */
  int (*may_grow)(struct slp_src_fetch *f, size_t more);
  /* in; PURE (host/host.h): copies the children of the shard that core knows already to rows, at most max,
   * and returns how many. So the source need not ask the service for them. */
  size_t (*known_children)(struct slp_src_fetch *f, slp_shard_desc *rows, size_t max);
  slp_page *page;    /* in: an empty page, owned by core. out: the page with its records */
  size_t body_bytes; /* out; size of the answer's body */
  int follows;       /* out; 1: the page was pushed, and is not the first event of its subscription */
  /* out; 1: the page was pushed and is empty, and the shard's position has not moved for seconds: perhaps the
   * shard has ended */
  int still;
} slp_src_fetch;

typedef struct slp_source_ops {
  void (*describe)(slp_source *s, slp_src_describe *rq);
  void (*list)(slp_source *s, slp_src_list *rq);
  void (*locate)(slp_source *s, slp_src_locate *rq);
  void (*fetch)(slp_source *s, slp_src_fetch *rq);
  void (*resume)(slp_source *s, slp_src_fetch *rq); /* continues a transfer that may_grow has paused */
  void (*cancel)(slp_source *s, slp_src_req *rq);   /* ends the request without an answer */
  /* The shard is not read any more, or its next fetch begins at another position. No request for it is in
   * flight. NULL: the source keeps nothing per shard. */
  void (*leave)(slp_source *s, slp_str shard);
  /* Returns 1 if a record would now come to this fetch as soon as it is stored, because all older records
   * have come already. */
  int (*is_listening)(slp_source *s, const slp_src_fetch *rq);
  void (*close)(slp_source *s); /* frees s; no request may be in flight */
} slp_source_ops;

struct slp_source {
  const slp_source_ops *ops;
  /* The next fields are properties of the service. */
  uint32_t fetch_records_max; /* the most records that a call may ask for */
  uint64_t fetch_bytes_max;   /* the largest body of a page */
  /* a page of this many bytes was cut short because of its size, so more records wait in the shard */
  uint64_t fetch_bytes_full;
  /* 1: each page states the lag (behind_ms), as with Kinesis; 0: several empty pages in a row mean the tip */
  int tells_behind;
  int anchors_by_time; /* 1: the service can find a time, and stamps records in milliseconds (Kinesis) */
  /* 1: the service can find a time, and stamps records in whole seconds (DynamoDB Streams). The source sets
   * it to 0 if the server turns out not to support times; a TIME then means the oldest record. */
  int finds_seconds;
  /* the service pads sequence numbers with zeros to this many digits; 0 or 1: it does not */
  unsigned number_digits_min;
  /* 1: a page without a next iterator means the end of the shard, and no page names children (DynamoDB). */
  int names_no_children;
  /* 1: records are pushed, so a page comes when there are records, however long that takes. Therefore a fetch
   * does not count as a call in flight, the pace does not matter at the tip, and a page's size does not show
   * whether more waits. May change at any time. */
  int pushes;
  char told[400]; /* a message for the log, from the description or a later change; "": none */
  /* What to do with `told`, which is new: log it as information, as a warning, or report it as an error. The
   * source sets this when it changes the way that records come, or has a warning. core then sets it to
   * SLP_NEWS_NONE. */
  enum { SLP_NEWS_NONE, SLP_NEWS_GOOD, SLP_NEWS_WARNING, SLP_NEWS_TROUBLE } news;
  uint64_t news_retry_ms; /* with SLP_NEWS_TROUBLE: in how many ms another way is tried */
};

/* Returns 1 if the service can find a time, at least in whole seconds. */
static inline int slp_source_finds_times(const slp_source *s) {
  return s->anchors_by_time || s->finds_seconds;
}

#endif
