/* poll.h - the common part of every source that polls a table of ops: requests kept for reuse, whole listings
 * out of pages, positions to iterators, cancelling. Where services differ, a slp_poll_kind says how. */
#ifndef SLP_SOURCE_POLL_H
#define SLP_SOURCE_POLL_H

#include "base/repeat.h"
#include "core/source.h"
#include "host/host.h"
#include "source/later.h"
#include "source/listing.h"
#include "source/name.h"

/* A failed call in the middle of a request costs all of it, so it is tried more often than a first call,
 * which core repeats. */
#define SLP_POLL_LATER_TRIES 4u

typedef struct slp_poll slp_poll;
typedef enum { SLP_ASK_DESCRIBE, SLP_ASK_LIST, SLP_ASK_LOCATE, SLP_ASK_FETCH } slp_ask;

typedef struct slp_request { /* a request of core's, from its begin to its one answer */
  slp_ask ask;
  slp_poll *poll;
  slp_src_req *rq;
  slp_list link;        /* in poll->idle; LOCATE, held: the kind's own */
  slp_op *out;          /* the op in flight; NULL: none */
  uint32_t restarts;    /* LIST; FETCH: the kind's own */
  uint8_t earlier;      /* LOCATE: the point in time was in the future */
  uint8_t describing;   /* LIST: the stream is being described first */
  uint8_t more;         /* LOCATE, FETCH: the kind's own; FETCH: timer is, too */
  slp_timer timer;      /* LIST: to the next page */
  slp_listing *listing; /* LIST; owned */
  slp_paging pages;     /* LIST */
  slp_buf token;        /* LIST: of the next page */
  void *fetch_work;     /* FETCH: the kind's own, gone when fetch_over returns */
  union {
    slp_op_describe describe;
    slp_op_list_shards list;
    slp_op_iterator iterator;
    slp_op_records records;
  } op;
} slp_request;

typedef enum { SLP_LIST_AT_ONCE, SLP_LIST_WANTS, SLP_LIST_NEEDS } slp_list_after;

typedef struct slp_poll_kind {
  /* Whether a listing waits for a description: when it fails, so does the listing (SLP_LIST_NEEDS), or it
   * goes on without (SLP_LIST_WANTS). NULL: never. */
  slp_list_after (*list_waits)(const slp_poll *p);
  /* The ARN with which to ask what the name leads to now; "": with none. NULL: with that of what is read. */
  slp_str (*latest)(const slp_poll *p);
  /* Fills rq from a description. */
  void (*described)(slp_poll *p, const slp_op_describe *d, slp_src_describe *rq);
  /* Called when the description that a listing wants has failed; it goes on without. NULL: nothing to do. */
  void (*undescribed)(slp_poll *p, const slp_fail *f);
  /* Called when a listing is complete. May change its rows. NULL: they stay as they are. */
  void (*listed)(slp_poll *p, slp_listing *l);
  /* Is the page's next token worth following? `news`: ids not on a page before. NULL: always. */
  int (*list_goes_on)(const slp_op_list_shards *page, size_t news);
  /* Called before a position is asked for. 1: the kind holds the request, and calls slp_request_locate
   * later. NULL: never. */
  int (*hold)(slp_request *q);
  /* Called when a request for a position is over. q->out tells that it was cancelled while it was out. NULL:
   * nothing is kept for it. */
  void (*locate_over)(slp_request *q);
  /* Called when the service refused a position. 1: q->op.iterator was changed, ask again. NULL: never. */
  int (*other_place)(slp_request *q);
  /* Takes a page (q->op.records; rq's outcome is set) and calls slp_request_answer(), now or later. */
  void (*fetched)(slp_request *q);
  /* Called when a page failed; may change the failure in q->rq before core gets it. NULL: it stays. */
  void (*fetch_failed)(slp_request *q);
  /* Called when the fetch is over, answered or cancelled: frees what `fetched` left in q. NULL: nothing. */
  void (*fetch_over)(slp_request *q);
  /* Called when the source is closed and nothing is in flight: frees what the kind owns. NULL: nothing. */
  void (*closing)(slp_poll *p);
} slp_poll_kind;

struct slp_poll {
  slp_source s;
  const slp_poll_kind *kind;
  slp_host *h;
  slp_ops *ops; /* borrowed */
  char name[SLP_STREAM_NAME_MAX + 1];
  char arn[SLP_STREAM_ARN_MAX + 1]; /* "": none is sent */
  slp_listing *last;                /* the last answer to list(); owned */
  uint32_t last_pages_n;            /* so many pages it had; 0: there is none */
  sloop_placement_t placement;      /* as the kind learnt from the last description */
  slp_list idle;
  size_t idle_n, live_n, lists_n; /* lists_n: requests that list */
  slp_later starved;              /* requests for which there was no memory */
};

/* p is the first member of a zeroed block of memory from h->mem; close() frees the block. The caller fills in
 * the members of s that describe the service. */
void slp_poll_init(slp_poll *p, const slp_poll_kind *kind, slp_host *h, slp_ops *ops,
                   const slp_stream_name *named);

void slp_request_outcome(slp_request *q, const slp_op *op); /* of the op to rq */
void slp_request_answer(slp_request *q);                    /* on_done; q is gone */
void slp_request_locate(slp_request *q);                    /* sends what `hold` held */
/* Called when the service refused the time of q->op.iterator: where that is in the future, sets it to a
 * moment ago, once. A multiple of unit_ms. 1: it was changed. */
int slp_request_earlier(slp_request *q, int64_t unit_ms);

#endif
