/* poll.h - the part that all polling sources share. It keeps requests for reuse, joins the pages of a
 * listing, turns positions into iterators, and cancels requests. Each service has a `slp_poll_kind` with
 * functions for what it does differently. Below, "the kind" means the code of these functions. */
#ifndef SLP_SOURCE_POLL_H
#define SLP_SOURCE_POLL_H

#include "base/repeat.h"
#include "core/source.h"
#include "host/host.h"
#include "source/later.h"
#include "source/listing_pages.h"
#include "source/stream_name.h"

/* How often the call for a later page of a listing is tried. If it fails, all pages before it are lost. So
 * it has more tries than the call for the first page, which core repeats by itself. */
#define SLP_POLL_LATER_TRIES 4u

typedef struct slp_poll slp_poll;
typedef enum { SLP_ASK_DESCRIBE, SLP_ASK_LIST, SLP_ASK_LOCATE, SLP_ASK_FETCH } slp_ask;

/* one request of core, from its start to its answer; LIST, LOCATE and FETCH below mean `ask` */
typedef struct slp_request {
  slp_ask ask;
  slp_poll *poll;
  slp_src_req *rq;
  /* an idle request: in poll->idle; a LOCATE that `hold` keeps: in a list of the kind */
  slp_list link;
  slp_op *out; /* the call in flight; NULL: no call is in flight */
  /* LIST: how often the listing began again from the first page. FETCH: for the kind's use */
  uint32_t restarts;
  /* LOCATE: 1: the service said that the time is in the future, and an earlier time was tried */
  uint8_t earlier;
  uint8_t describing; /* LIST: 1: the listing waits until a description of the stream is answered */
  /* LOCATE, FETCH: for the kind's use. In a FETCH, while `more` is set, the kind may also use `timer` */
  uint8_t more;
  slp_timer timer;      /* LIST: runs when the call for the next page may be sent */
  slp_listing *listing; /* LIST: owned; the shards of the pages so far */
  slp_paging pages;     /* LIST: the limits on pages and bytes */
  slp_buf token;        /* LIST: the token of the next page */
  void *fetch_work;     /* FETCH: an object of the kind, which frees it in fetch_over */
  union {
    slp_op_describe describe;
    slp_op_list_shards list;
    slp_op_iterator iterator;
    slp_op_records records;
  } op;
} slp_request;

typedef enum { SLP_LIST_AT_ONCE, SLP_LIST_WANTS, SLP_LIST_NEEDS } slp_list_after;

typedef struct slp_poll_kind {
  /* Returns whether a listing first waits for a description of the stream. SLP_LIST_NEEDS: if the
   * description fails, the listing fails too. SLP_LIST_WANTS: if the description fails, the listing
   * continues without it. SLP_LIST_AT_ONCE, or a NULL function: the listing does not wait. */
  slp_list_after (*list_waits)(const slp_poll *p);
  /* Returns the ARN to describe when core asks which stream the user's name now leads to. Returns "" if
   * the call should contain only the name. If the function is NULL, the ARN of the stream that is read is
   * used. */
  slp_str (*latest)(const slp_poll *p);
  /* Copies a successful description to rq. */
  void (*described)(slp_poll *p, const slp_op_describe *d, slp_src_describe *rq);
  /* Called when a description for SLP_LIST_WANTS has failed. May be NULL. */
  void (*undescribed)(slp_poll *p, const slp_fail *f);
  /* Called when a listing is complete; may change its rows. May be NULL. */
  void (*listed)(slp_poll *p, slp_listing *l);
  /* Returns 1 if the listing should follow the page's token to the next page. `news` is how many shard ids
   * of this page no earlier page contained. If the function is NULL, every token is followed. */
  int (*list_goes_on)(const slp_op_list_shards *page, size_t news);
  /* Called before the call for an iterator is sent. Returns 1 if the kind keeps the request and calls
   * slp_request_locate later. If the function is NULL, no request is kept. */
  int (*hold)(slp_request *q);
  /* Called when a request for an iterator was answered or cancelled. If q->out is set, the request was
   * cancelled while its call was in flight. May be NULL. */
  void (*locate_over)(slp_request *q);
  /* Called when the service refused a position. Returns 1 if the kind changed q->op.iterator to another
   * position, which is then tried. If the function is NULL, no other position is tried. */
  int (*other_place)(slp_request *q);
  /* Called when a GetRecords succeeded. The page is in q->op.records, and q->rq has the outcome. The
   * function must call slp_request_answer, at once or later. */
  void (*fetched)(slp_request *q);
  /* Called when a GetRecords failed, before core gets the failure. May change the failure in q->rq. May be
   * NULL. */
  void (*fetch_failed)(slp_request *q);
  /* Called when a fetch was answered or cancelled. Frees what `fetched` left in q. May be NULL. */
  void (*fetch_over)(slp_request *q);
  /* Called at close, when no call is in flight. Frees what the kind owns. May be NULL. */
  void (*closing)(slp_poll *p);
} slp_poll_kind;

struct slp_poll {
  slp_source s;
  const slp_poll_kind *kind;
  slp_host *h;
  slp_ops *ops; /* borrowed */
  char name[SLP_STREAM_NAME_MAX + 1];
  char arn[SLP_STREAM_ARN_MAX + 1]; /* "": calls contain no ARN */
  slp_listing *last;                /* owned; the last complete listing; NULL: there is none yet */
  uint32_t last_pages_n;            /* how many pages the listing `last` had; 0: there is none yet */
  /* how the stream distributes records over shards, from the last description */
  sloop_placement_t placement;
  /* idle: requests kept for reuse. live_n: how many requests are in use. lists_n: how many of these are
   * listings. */
  slp_list idle;
  size_t idle_n, live_n, lists_n;
  slp_later starved; /* requests for which there was no memory; they fail in a later turn */
};

/* Initialises p, which must be the first member of a zeroed block allocated from h->mem. The source's
 * close() frees the block. After this call, the caller fills in the members of p->s that describe the
 * service. */
void slp_poll_init(slp_poll *p, const slp_poll_kind *kind, slp_host *h, slp_ops *ops,
                   const slp_stream_name *named);

void slp_request_outcome(slp_request *q, const slp_op *op); /* copies the outcome of the call `op` to q->rq */
/* calls q->rq->on_done; q must not be used afterwards */
void slp_request_answer(slp_request *q);
/* sends the call for a request that `hold` kept */
void slp_request_locate(slp_request *q);
/* Called when the service refused the time in q->op.iterator. If that time is in the future, replaces it
 * by a moment ago, rounded down to a multiple of unit_ms, and returns 1. Otherwise returns 0. Also returns
 * 0 if the time of this request was replaced before. */
int slp_request_earlier(slp_request *q, int64_t unit_ms);

#endif
