/* poll.h - what all polling sources share: requests are kept for reuse, pages of a listing are joined,
 * positions become iterators, requests can be cancelled. Where services differ, an slp_poll_kind says how. */
#ifndef SLP_SOURCE_POLL_H
#define SLP_SOURCE_POLL_H

#include "base/repeat.h"
#include "core/source.h"
#include "host/host.h"
#include "source/later.h"
#include "source/listing.h"
#include "source/name.h"

/* If a later page of a listing fails, all pages before it are lost. So such a call is tried more often than a
 * first call, which core repeats by itself. */
#define SLP_POLL_LATER_TRIES 4u

typedef struct slp_poll slp_poll;
typedef enum { SLP_ASK_DESCRIBE, SLP_ASK_LIST, SLP_ASK_LOCATE, SLP_ASK_FETCH } slp_ask;

typedef struct slp_request { /* a request of core, from its start to its one answer */
  slp_ask ask;
  slp_poll *poll;
  slp_src_req *rq;
  slp_list link;        /* in poll->idle; a LOCATE that `hold` keeps: in a list of the kind */
  slp_op *out;          /* the call in flight; NULL: none */
  uint32_t restarts;    /* LIST: how often it began again from the first page. FETCH: for the kind */
  uint8_t earlier;      /* LOCATE: the service called the time a future one, and an earlier one was tried */
  uint8_t describing;   /* LIST: waits for a description of the stream, which comes first */
  uint8_t more;         /* LOCATE, FETCH: for the kind. While a FETCH has it set, timer is the kind's too */
  slp_timer timer;      /* LIST: runs out when the next page may be asked for */
  slp_listing *listing; /* LIST: the shards so far; owned */
  slp_paging pages;     /* LIST: limits on pages and bytes */
  slp_buf token;        /* LIST: the key of the next page */
  void *fetch_work;     /* FETCH: for the kind, which frees it in fetch_over */
  union {
    slp_op_describe describe;
    slp_op_list_shards list;
    slp_op_iterator iterator;
    slp_op_records records;
  } op;
} slp_request;

typedef enum { SLP_LIST_AT_ONCE, SLP_LIST_WANTS, SLP_LIST_NEEDS } slp_list_after;

typedef struct slp_poll_kind {
  /* Whether a listing waits for a description of the stream. SLP_LIST_NEEDS: if the description fails, so
   * does the listing. SLP_LIST_WANTS: the listing then goes on without. NULL: never waits. */
  slp_list_after (*list_waits)(const slp_poll *p);
  /* Returns the ARN to describe when core asks which stream the user's name leads to now; "" if only the name
   * is sent. NULL: the ARN of the stream that is read. */
  slp_str (*latest)(const slp_poll *p);
  /* Fills rq from a successful description. */
  void (*described)(slp_poll *p, const slp_op_describe *d, slp_src_describe *rq);
  /* Called when the description that a listing wants (SLP_LIST_WANTS) has failed. NULL: nothing to do. */
  void (*undescribed)(slp_poll *p, const slp_fail *f);
  /* Called when a listing is complete; may change its rows. NULL: rows stay as they are. */
  void (*listed)(slp_poll *p, slp_listing *l);
  /* Returns 1 if the token of the next page should be followed. `news` counts the ids that no page had
   * before. NULL: always. */
  int (*list_goes_on)(const slp_op_list_shards *page, size_t news);
  /* Called before an iterator is asked for. Returns 1 if the kind keeps the request and will call
   * slp_request_locate later. NULL: never. */
  int (*hold)(slp_request *q);
  /* Called when a request for an iterator is over. If q->out is set, it was cancelled with its call in
   * flight. NULL: the kind keeps nothing for it. */
  void (*locate_over)(slp_request *q);
  /* Called when the service refused a position. Returns 1 if the kind changed q->op.iterator, which is then
   * tried again. NULL: never. */
  int (*other_place)(slp_request *q);
  /* Takes the page in q->op.records; the outcome in q->rq is set. Calls slp_request_answer() now or later. */
  void (*fetched)(slp_request *q);
  /* Called when a GetRecords failed, before core is told; may change the failure in q->rq. NULL: no
   * change. */
  void (*fetch_failed)(slp_request *q);
  /* Called when a fetch is over, answered or cancelled. Frees what `fetched` left in q. NULL: nothing to
   * free. */
  void (*fetch_over)(slp_request *q);
  /* Called at close, when nothing is in flight. Frees what the kind owns. NULL: nothing to free. */
  void (*closing)(slp_poll *p);
} slp_poll_kind;

struct slp_poll {
  slp_source s;
  const slp_poll_kind *kind;
  slp_host *h;
  slp_ops *ops; /* borrowed */
  char name[SLP_STREAM_NAME_MAX + 1];
  char arn[SLP_STREAM_ARN_MAX + 1]; /* "": calls go without an ARN */
  slp_listing *last;                /* the last complete listing; owned */
  uint32_t last_pages_n;            /* how many pages that listing had; 0: there is none yet */
  sloop_placement_t placement;      /* how records find their shard, from the last description */
  /* idle: requests kept for reuse. live_n: requests in use, lists_n of them listings. */
  slp_list idle;
  size_t idle_n, live_n, lists_n;
  slp_later starved; /* requests that fail because there was no memory for them */
};

/* Initialises p, the first member of a zeroed block from h->mem. close() frees the block. The caller then
 * fills in the members of p->s that describe the service. */
void slp_poll_init(slp_poll *p, const slp_poll_kind *kind, slp_host *h, slp_ops *ops,
                   const slp_stream_name *named);

void slp_request_outcome(slp_request *q, const slp_op *op); /* copies the outcome of the call to q->rq */
void slp_request_answer(slp_request *q);                    /* calls on_done; q must not be used after it */
void slp_request_locate(slp_request *q);                    /* sends a request that `hold` kept */
/* Called when the service refused the time of q->op.iterator. If that time is in the future, sets it to a
 * moment ago, rounded down to a multiple of unit_ms, and returns 1. Does so once for a request; returns 0
 * otherwise. */
int slp_request_earlier(slp_request *q, int64_t unit_ms);

#endif
