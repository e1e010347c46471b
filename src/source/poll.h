/* poll.h - the part that all polling sources share. It keeps requests for reuse, joins the pages of a
 * listing, turns positions into iterators, and cancels requests. What differs between services is in the
 * functions of a slp_poll_kind; "the kind" below means these functions. */
#ifndef SLP_SOURCE_POLL_H
#define SLP_SOURCE_POLL_H

#include "aws/ops.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/repeat.h"
#include "core/source.h"
#include "host/host.h"
#include "host/later.h"
#include "host/op.h"
#include "source/listing_pages.h"
#include "source/stream_name.h"

#include <sloop.h>

/* The call for a later page of a listing is tried this often. If the call fails, all earlier pages are lost.
 * So it gets more tries than the call for the first page, which core repeats by itself. */
#define SLP_POLL_LATER_TRIES 4u

typedef struct slp_poll slp_poll;
typedef enum { SLP_ASK_DESCRIBE, SLP_ASK_LIST, SLP_ASK_LOCATE, SLP_ASK_FETCH } slp_ask;

/* One request of core, from its start to its answer. LIST, LOCATE and FETCH in comments are values of
 * `ask`. */
typedef struct slp_request {
  slp_ask ask;
  slp_poll *poll;
  slp_op *rq;
  /* while the request is idle, in poll->idle; while hold() keeps a LOCATE waiting, in a list of the kind */
  slp_list link;
  slp_op *out; /* the call in flight; NULL: no call is in flight */
  /* with LIST: how often the listing began again from its first page; with FETCH: for use by the kind */
  uint32_t restarts;
  /* with LOCATE: 1 if the service said that the time is in the future, so that an earlier time was tried */
  uint8_t earlier;
  uint8_t describing; /* with LIST: 1 if the listing waits for a description of the stream */
  /* with LOCATE and FETCH: for use by the kind. While `more` is set in a FETCH, the kind may also use
   * `timer`. */
  uint8_t more;
  slp_timer timer;      /* with LIST: runs when the call for the next page may be sent */
  slp_listing *listing; /* with LIST: owned; the shards of the pages so far */
  slp_paging pages;     /* with LIST: limits the pages and bytes, and keeps calls apart */
  slp_buf token;        /* with LIST: the token of the next page */
  void *fetch_work;     /* with FETCH: an object of the kind, which fetch_over() frees */
  union {
    slp_op_describe describe;
    slp_op_list_shards list;
    slp_op_iterator iterator;
    slp_op_records records;
  } op;
} slp_request;

typedef enum { SLP_LIST_AT_ONCE, SLP_LIST_WANTS, SLP_LIST_NEEDS } slp_list_after;

typedef struct slp_poll_kind {
  /* Returns whether a listing waits for a description of the stream first. SLP_LIST_NEEDS: if the description
   * fails, the listing fails too. SLP_LIST_WANTS: if the description fails, the listing continues without a
   * description. SLP_LIST_AT_ONCE: the listing does not wait. NULL: no listing waits. */
  slp_list_after (*list_waits)(const slp_poll *p);
  /* Returns the ARN to describe when core asks which stream the user's name leads to now. "": the call has
   * only the name. NULL: the ARN of the stream that is read. */
  slp_str (*latest)(const slp_poll *p);
  /* Called when a description has succeeded; copies the description to rq. */
  void (*described)(slp_poll *p, const slp_op_describe *d, slp_src_describe *rq);
  /* Called when a description for SLP_LIST_WANTS has failed. May be NULL. */
  void (*undescribed)(slp_poll *p, const slp_fail *f);
  /* Called when a listing is complete; may change the rows of the listing. May be NULL. */
  void (*listed)(slp_poll *p, slp_listing *l);
  /* Returns 1 if the listing should follow the page's token to the next page. news: how many shard ids of
   * this page were in no earlier page. NULL: every token is followed. */
  int (*list_goes_on)(const slp_op_list_shards *page, size_t news);
  /* Called before the call for an iterator is sent. Returns 1 if the kind keeps the request, and calls
   * slp_request_locate later. NULL: no request is kept. */
  int (*hold)(slp_request *q);
  /* Called when a request for an iterator was answered or cancelled. If q->out is set, it was cancelled while
   * its call was in flight. May be NULL. */
  void (*locate_over)(slp_request *q);
  /* Called when the service refused a position. Returns 1 if the kind put another position into
   * q->op.iterator, which is then tried. NULL: no other position is tried. */
  int (*other_place)(slp_request *q);
  /* Called when a GetRecords has succeeded. q->op.records has the page, q->rq the outcome. Must call
   * slp_request_answer, now or later. */
  void (*fetched)(slp_request *q);
  /* Called when a GetRecords has failed, before core gets the failure. May change the failure in q->rq. May
   * be NULL. */
  void (*fetch_failed)(slp_request *q);
  /* Called when a fetch was answered or cancelled: frees what fetched() has left in q. May be NULL. */
  void (*fetch_over)(slp_request *q);
  /* Called at close, when no call is in flight: frees what the kind owns. May be NULL. */
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
  /* idle: requests that are kept for reuse. live_n: how many requests are in use. lists_n: how many of these
   * are listings. */
  slp_list idle;
  size_t idle_n, live_n, lists_n;
  slp_later starved; /* requests for which there was no memory; they fail in a later turn */
};

/* Initialises p, which must be the first member of a zeroed block allocated from h->mem; the source's close()
 * frees that block. Afterwards the caller must set the members of p->s that describe the service. */
void slp_poll_init(slp_poll *p, const slp_poll_kind *kind, slp_host *h, slp_ops *ops,
                   const slp_stream_name *named);

/* calls q->rq->on_done; q must not be used afterwards */
void slp_request_answer(slp_request *q);
/* sends the call for a request that hold() has kept */
void slp_request_locate(slp_request *q);
/* To be called when the service refused the time in q->op.iterator. If that time is in the future, replaces
 * it by a time slightly before now, rounded down to a multiple of unit_ms, and returns 1. Returns 0 if the
 * time is not in the future, or was replaced before. */
int slp_request_earlier(slp_request *q, int64_t unit_ms);

#endif
