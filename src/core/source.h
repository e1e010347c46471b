/* source.h - the interface of a source: where a consumer's records come from. core knows no AWS, so the
 * requests of core are about shards and positions. source/ answers each request by one or more calls of
 * aws/ops.h (Kinesis polled or pushed, DynamoDB Streams). The fields that requests and calls have in common
 * are in host/op.h.
 *
 * core owns each request. A request is in flight until its on_done was called, or until `cancel` has
 * returned. */
#ifndef SLP_CORE_SOURCE_H
#define SLP_CORE_SOURCE_H

#include "base/buf.h"
#include "codec/page.h"
#include "core/position.h"
#include "host/op.h"

#include <sloop.h>

typedef struct slp_source slp_source;

typedef struct slp_src_describe { /* a request: what is the stream? It is the first request to a source. */
  slp_op rq;
  /* in; 1: describe the stream that the name or the table has now, even if core reads another stream */
  int latest;
  char name[256];       /* out */
  char arn[512];        /* out; "" if the service gives no ARN */
  int64_t created_ms;   /* out; -1: not known */
  int64_t retention_ms; /* out; -1: not known */
  int ready;            /* out; 0: the stream is being created, so ask again later */
  int reshards;         /* out; 1: shards are being split or merged, so a listing may lack some of them */
} slp_src_describe;

/* Lists all shards of the stream: all pages of the listing, each shard once. If a page token expires, the
 * source handles that. */
typedef struct slp_src_list {
  slp_op rq;
  /* in; called after each page of the listing but the last. `shards` then has all rows so far, and is valid
   * until on_part returns. May be NULL. */
  void (*on_part)(struct slp_src_list *l);
  /* out; valid in on_done. The source owns the rows; the next `list` or `close` frees them. */
  slp_shard_desc *shards;
  size_t shards_n;
  /* out; 1: the stream is closed for writes: no shard gets another record, and no shard is added */
  int ended;
  /* out; how the stream places records in shards, if a description has stated that */
  sloop_placement_t placement;
} slp_src_list;

typedef struct slp_src_locate { /* a request: turn a position in a shard into a cursor (an iterator) */
  slp_op rq;
  slp_str shard;     /* in; borrowed */
  slp_position from; /* in; where the cursor is to begin; its kind is neither NONE nor END */
  /* in; with TIME: our clock's time when the service's clock showed from.at_ms; 0: not known, because the
   * user gave the time */
  uint64_t since_us;
  slp_buf cursor; /* out; its old content is replaced. core initializes and frees it */
} slp_src_locate;

/* Turns a cursor into a page of records. If the options say so, each aggregate is replaced by its records
 * (numbered by rec.sub). */
typedef struct slp_src_fetch {
  slp_op rq;
  slp_str shard;  /* in; borrowed; the shard's id, for the texts of errors */
  slp_str cursor; /* in; borrowed */
  uint32_t limit; /* in; the most records that the page may have */
  int anew;       /* in; 1: begin a new subscription (only for a source that pushes) */
  /* in; PURE (host/host.h): returns 1 if the answer's body may grow by `more` bytes, 0 if the transfer must
   * pause until `resume` */
  int (*may_grow)(struct slp_src_fetch *f, size_t more);
  /* in; PURE (host/host.h): copies the children of the shard that core knows already to rows, at most max of
   * them. Returns how many were copied. The source need not ask the service for these children. */
  size_t (*known_children)(struct slp_src_fetch *f, slp_shard_desc *rows, size_t max);
  slp_page *page;    /* in: an empty page, owned by core. out: the page with its records */
  size_t body_bytes; /* out; size of the answer's body */
  int follows;       /* out; 1: the page was pushed, and an event of the same subscription came before it */
  /* out; 1: the page was pushed and is empty, and the shard's position has not moved for seconds, so perhaps
   * the shard has ended */
  int still;
} slp_src_fetch;

typedef struct slp_source_ops {
  void (*describe)(slp_source *s, slp_src_describe *rq);
  void (*list)(slp_source *s, slp_src_list *rq);
  void (*locate)(slp_source *s, slp_src_locate *rq);
  void (*fetch)(slp_source *s, slp_src_fetch *rq);
  /* continues a transfer that was paused because may_grow returned 0 */
  void (*resume)(slp_source *s, slp_src_fetch *rq);
  void (*cancel)(slp_source *s, slp_op *rq); /* ends the request; its on_done is not called */
  /* Called when the shard is not read any more, or when its next fetch begins at another position. No request
   * for the shard is in flight. NULL: the source keeps nothing for a shard. */
  void (*leave)(slp_source *s, slp_str shard);
  /* Returns 1 if all older records have come to this fetch, so that a new record will come as soon as it is
   * stored. */
  int (*is_listening)(slp_source *s, const slp_src_fetch *rq);
  void (*close)(slp_source *s); /* frees s; no request may be in flight */
} slp_source_ops;

struct slp_source {
  const slp_source_ops *ops;
  /* The next fields are properties of the service. */
  uint32_t fetch_records_max; /* the most records that a call may ask for */
  uint64_t fetch_bytes_max;   /* the largest body of a page */
  /* a page of at least this many bytes was cut short by the service because of its size, so more records wait
   * in the shard */
  uint64_t fetch_bytes_full;
  /* 1: each page states the lag (behind_ms), as with Kinesis. 0: it does not, so several empty pages in a row
   * count as the tip. */
  int tells_behind;
  /* 1: the service can give an iterator for a time, and stamps records in milliseconds (Kinesis) */
  int anchors_by_time;
  /* 1: the service can give an iterator for a time, and stamps records in whole seconds (DynamoDB Streams).
   * The source sets finds_seconds to 0 if the server turns out not to support times. The position TIME then
   * means the oldest record. */
  int finds_seconds;
  /* the service pads sequence numbers with zeros to this many digits; 0 or 1: it does not pad them */
  unsigned number_digits_min;
  /* 1: a page without a next iterator is the end of its shard, and no page names the shard's children
   * (DynamoDB). */
  int names_no_children;
  /* 1: records are pushed, so a page comes only when there are records, which may take very long. Therefore a
   * fetch does not count as a call in flight, and there is no wait between fetches at the tip. The size of a
   * page does not show whether more records wait. May change at any time. */
  int pushes;
  char told[400]; /* a message for the log, from the description or a later change; "": none */
  /* What core is to do with the message in `told`: nothing; log it as information; log it as a warning;
   * report it as an error. The source sets `news` when it changes the way that records come, or has a
   * warning. core then sets `news` back to SLP_NEWS_NONE. */
  enum { SLP_NEWS_NONE, SLP_NEWS_GOOD, SLP_NEWS_WARNING, SLP_NEWS_TROUBLE } news;
  /* with SLP_NEWS_TROUBLE: in how many ms the source will try another way to get records; 0: never */
  uint64_t news_retry_ms;
  /* In a source that pushes: its own source of the kind that polls, owned. NULL: this source polls itself. */
  slp_source *poll;
};

/* Returns the source that polls. Commands of an operator use that one, because its `locate` asks the service,
 * and its `describe` registers no consumer for enhanced fan-out. */
static inline slp_source *slp_source_that_polls(slp_source *s) { return s->poll ? s->poll : s; }

/* Returns 1 if the service can give an iterator for a time, in milliseconds or whole seconds. */
static inline int slp_source_finds_times(const slp_source *s) {
  return s->anchors_by_time || s->finds_seconds;
}

#endif
