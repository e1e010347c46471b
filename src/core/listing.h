/* listing.h - asks about the stream as a whole: what it is, and which shards it has. */
#ifndef SLP_CORE_LISTING_H
#define SLP_CORE_LISTING_H

#include "base/repeat.h"
#include "core/source.h"
#include <sloop.h>

typedef struct slp_consumer slp_consumer;

/* What the user was told of a stream that takes no more records. */
typedef enum { SLP_TOLD_NOTHING, SLP_TOLD_END, SLP_TOLD_ANOTHER } slp_told_end;

/* What a description of the stream said of reshards, before the newest listing was begun. */
typedef enum { SLP_STREAM_NOT_ASKED, SLP_STREAM_RESHARDS, SLP_STREAM_SETTLED } slp_stream_state;

typedef struct slp_listing {
  slp_src_describe describe; /* the description in flight, or the last one */
  slp_src_list list;         /* the listing in flight, or the last one */
  /* With leases a shard knows no parents or children, so the rows of the newest listing taken in are kept. */
  slp_shard_desc *rows; /* owned, one block; NULL: none */
  size_t rows_n;
  struct slp_listed_child *children; /* owned; the rows sorted by parent id; NULL: not sorted yet */
  size_t children_n;
  size_t part_n;                  /* rows of the listing in flight that were taken in already */
  uint64_t newest;                /* the greatest shard number in the newest listing taken in */
  uint8_t describe_out, list_out; /* 1: a description, a listing is in flight */
  uint8_t ended;    /* 1: the newest listing taken in says that the stream is closed for writes */
  uint8_t told_end; /* slp_told_end: what the user knows of the stream's end */
  uint8_t wanted;   /* 1: a listing that begins after now is needed */
  /* 1: before the next listing, a description must say whether the stream is resharding */
  uint8_t status_wanted;
  uint8_t status;     /* slp_stream_state, before the newest listing */
  slp_paced paced;    /* keeps listings apart: code that asks for one may ask again at once */
  uint64_t begun;     /* number of the newest listing begun */
  uint64_t done;      /* number of the newest listing taken in */
  uint64_t us;        /* when the newest listing was begun */
  uint64_t latest_us; /* when slp_listing_describe_latest was last called; 0: never */
  sloop_list_cb cb;   /* the user's callback for the next listing; NULL: nobody asked */
  void *cb_arg;
} slp_listing;

/* Learns the service's clock from the answer to rq. */
void slp_listing_learn_time(slp_consumer *c, const slp_src_req *rq);
/* Returns a service time before which the call was not served, at whatever speed our clock runs.
 * slp_listing_learn_time must come first. begun_ms: slp_svctime_sure_ms when the call was begun; INT64_MIN:
 * not known. */
int64_t slp_listing_served_ms(const slp_consumer *c, const slp_src_req *rq, int64_t begun_ms);
void slp_listing_describe(slp_consumer *c, void (*on_done)(slp_src_req *rq));
/* Describes the stream that the name leads to now, which may be another one than is read. */
void slp_listing_describe_latest(slp_consumer *c, void (*on_done)(slp_src_req *rq));
int slp_listing_asks_latest(const slp_consumer *c); /* 1: a slp_listing_describe_latest is in flight */
int slp_listing_is_busy(const slp_consumer *c);     /* 1: a description or a listing is in flight */
/* when slp_listing_describe_latest was last called; 0: never */
uint64_t slp_listing_latest_us(const slp_consumer *c);
/* call first in on_done: ends the description in flight */
slp_consumer *slp_listing_described(slp_src_req *rq);
const slp_src_describe *slp_listing_stream(const slp_consumer *c);

/* Gives the next listing its number. Returns 0 if a listing or a description is in flight. */
int slp_listing_begin(slp_consumer *c);
/* For on_part see slp_src_list.on_part; it may be NULL. */
void slp_listing_send(slp_consumer *c, void (*on_done)(slp_src_req *rq), void (*on_part)(slp_src_list *l));
slp_consumer *slp_listing_listed(slp_src_req *rq); /* call first in on_done: ends the listing in flight */
slp_consumer *slp_listing_of(slp_src_list *l);     /* to be called in on_part */
int slp_listing_is_out(const slp_consumer *c);     /* 1: a listing was sent and not answered */
/* Return the next row, or all rows, of the listing in flight that were not taken in yet; NULL: there is
 * none. */
const slp_shard_desc *slp_listing_next_row(slp_consumer *c);
const slp_shard_desc *slp_listing_next_rows(slp_consumer *c, size_t *ret_n);
void slp_listing_took(slp_consumer *c); /* the newest listing was taken in */
uint64_t slp_listing_begun(const slp_consumer *c);
uint64_t slp_listing_done(const slp_consumer *c);
uint64_t slp_listing_next(const slp_consumer *c); /* number of the next listing to begin */
uint64_t slp_listing_us(const slp_consumer *c);   /* when the newest listing was begun */
/* Returns the listing's rows. Only in on_done, because others may list by the same source. */
const slp_shard_desc *slp_listing_rows(const slp_consumer *c, size_t *ret_n);
/* With leases: finds the rows of the newest listing that name the shard as a parent. Returns their number, at
 * most max. */
size_t slp_listing_children(slp_consumer *c, slp_str shard, slp_shard_desc *children, size_t max);
void slp_listing_forget_rows(slp_consumer *c);
/* Returns 1 if the newest listing has a shard that was made later than the one with that id. */
int slp_listing_has_later(const slp_consumer *c, slp_str id);
/* 1: the stream takes no more records and gets no other shards */
int slp_listing_ended(const slp_consumer *c);
/* Makes the next listing follow a description of the stream, which says whether it is resharding. */
void slp_listing_want_status(slp_consumer *c);
int slp_listing_wants_status(const slp_consumer *c);
void slp_listing_take_status(slp_consumer *c, int reshards);
slp_stream_state slp_listing_status(const slp_consumer *c); /* as described before the newest listing */
/* Returns 1 if the user has not been told `what` of the stream's end, and notes that it is told now. */
int slp_listing_may_tell(slp_consumer *c, slp_told_end what);
slp_told_end slp_listing_told(const slp_consumer *c);
void slp_listing_forget_told(slp_consumer *c);
/* Asks for a listing that begins in in_ms or earlier. A listing in flight may be too old, so another follows
 * it. */
void slp_listing_soon(slp_consumer *c, uint64_t in_ms);
/* 1: slp_listing_soon was called while a call was in flight */
int slp_listing_is_wanted(const slp_consumer *c);
void slp_listing_cancel(slp_consumer *c);

/* The listing that the user asks for. */
/* SLOOP_ESTATE: the user has asked for one already */
int slp_listing_ask(slp_consumer *c, sloop_list_cb cb, void *arg);
int slp_listing_is_asked(const slp_consumer *c);
void slp_listing_tell(slp_consumer *c,
                      const slp_fail *f); /* if the user asked; must be the last thing the caller does */
void slp_listing_forget(slp_consumer *c);

#endif
