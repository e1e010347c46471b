/* listing.h - what is asked of the stream as a whole: what it is, and which shards it has. */
#ifndef SLP_CORE_LISTING_H
#define SLP_CORE_LISTING_H

#include "base/repeat.h"
#include "core/source.h"
#include <sloop.h>

typedef struct slp_consumer slp_consumer;

typedef enum { SLP_TOLD_NOTHING, SLP_TOLD_END, SLP_TOLD_ANOTHER } slp_told_end;

/* What a description said before a listing was begun. */
typedef enum { SLP_STREAM_NOT_ASKED, SLP_STREAM_RESHARDS, SLP_STREAM_SETTLED } slp_stream_state;

typedef struct slp_listing {
  slp_src_describe describe;
  slp_src_list list;
  /* With leases a shard knows none of its kin: of the newest listing that was taken in the rows are kept. */
  slp_shard_desc *rows; /* owned, one block; NULL: none */
  size_t rows_n;
  struct slp_listed_child *children; /* owned; sorted by the parent's id; NULL: not made yet */
  size_t children_n;
  size_t part_n;   /* how many rows of the listing that is out were taken in */
  uint64_t newest; /* the greatest number of a shard in the newest listing that was taken in */
  uint8_t describe_out, list_out;
  uint8_t ended;         /* by the newest one that was taken in the stream takes no more records */
  uint8_t told_end;      /* slp_told_end */
  uint8_t wanted;        /* somebody needs a listing begun after now */
  uint8_t status_wanted; /* and to know before it whether the stream is being resharded */
  uint8_t status;        /* slp_stream_state, before the newest listing */
  slp_paced paced;       /* of those begun: what asks for one may do so again at once */
  uint64_t begun;        /* the number of the newest listing */
  uint64_t done;         /* the newest one that answered */
  uint64_t us;           /* when the newest one was begun */
  uint64_t latest_us;    /* when it was asked last what the name leads to now */
  sloop_list_cb cb;      /* a user's listing, told with the next answer; NULL: nobody asked */
  void *cb_arg;
} slp_listing;

void slp_listing_learn_time(slp_consumer *c, const slp_src_req *rq);
/* After it: service time before which this call was not served, at whatever speed our clock runs. begun_ms:
 * as slp_svctime_sure_ms had it when the call was begun; INT64_MIN: not known. */
int64_t slp_listing_served_ms(const slp_consumer *c, const slp_src_req *rq, int64_t begun_ms);
void slp_listing_describe(slp_consumer *c, void (*on_done)(slp_src_req *rq));
/* The same, of the stream that its name leads to now. */
void slp_listing_describe_latest(slp_consumer *c, void (*on_done)(slp_src_req *rq));
int slp_listing_asks_latest(const slp_consumer *c);    /* that is out */
int slp_listing_is_busy(const slp_consumer *c);        /* a description or a listing is out */
uint64_t slp_listing_latest_us(const slp_consumer *c); /* when that was asked last; 0: never */
slp_consumer *slp_listing_described(slp_src_req *rq);  /* first in on_done: it is not out any more */
const slp_src_describe *slp_listing_stream(const slp_consumer *c);

/* Listings have numbers: begins the next one, unless one is out, or a description. 0: one is. */
int slp_listing_begin(slp_consumer *c);
/* on_part: as slp_src_list.on_part; may be NULL. */
void slp_listing_send(slp_consumer *c, void (*on_done)(slp_src_req *rq), void (*on_part)(slp_src_list *l));
slp_consumer *slp_listing_listed(slp_src_req *rq); /* first in on_done: it is not out any more */
slp_consumer *slp_listing_of(slp_src_list *l);     /* in on_part */
int slp_listing_is_out(const slp_consumer *c);     /* it was sent, and is not answered */
/* Returns the next row of the listing that is out that was not taken in yet; NULL: none came. */
const slp_shard_desc *slp_listing_next_row(slp_consumer *c);
void slp_listing_took(slp_consumer *c); /* the newest one was taken in */
uint64_t slp_listing_begun(const slp_consumer *c);
uint64_t slp_listing_done(const slp_consumer *c);
uint64_t slp_listing_next(const slp_consumer *c); /* the first that will begin after now */
uint64_t slp_listing_us(const slp_consumer *c);   /* when the newest was begun */
/* In on_done only: others may list by the same source. */
const slp_shard_desc *slp_listing_rows(const slp_consumer *c, size_t *ret_n);
/* With leases: the rows of the newest listing that name the shard as a parent. Returns their number, max at
 * most. */
size_t slp_listing_children(slp_consumer *c, slp_str shard, slp_shard_desc *children, size_t max);
void slp_listing_forget_rows(slp_consumer *c);
/* The newest listing has a shard that was made later than the one of that id. */
int slp_listing_has_later(const slp_consumer *c, slp_str id);
int slp_listing_ended(const slp_consumer *c); /* it takes no more records, and gets no other shards */
/* The next listing is to follow a description of the stream, which tells whether it is being resharded. */
void slp_listing_want_status(slp_consumer *c);
int slp_listing_wants_status(const slp_consumer *c);
void slp_listing_take_status(slp_consumer *c, int reshards);
slp_stream_state slp_listing_status(const slp_consumer *c); /* of the newest one that was begun */
/* What of that the user was told: each once. */
int slp_listing_may_tell(slp_consumer *c, slp_told_end what);
slp_told_end slp_listing_told(const slp_consumer *c);
void slp_listing_forget_told(slp_consumer *c);
/* Asks for a listing that begins then, or before. One under way may be older than what is asked for, and is
 * followed by another. */
void slp_listing_soon(slp_consumer *c, uint64_t in_ms);
int slp_listing_is_wanted(const slp_consumer *c); /* one was out when somebody asked */
void slp_listing_cancel(slp_consumer *c);

/* The user's own listing. */
int slp_listing_ask(slp_consumer *c, sloop_list_cb cb, void *arg); /* SLOOP_ESTATE: asked already */
int slp_listing_is_asked(const slp_consumer *c);
void slp_listing_tell(slp_consumer *c,
                      const slp_fail *f); /* if it is asked; the last thing the caller does */
void slp_listing_forget(slp_consumer *c);

#endif
