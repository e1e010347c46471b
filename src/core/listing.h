/* listing.h - asks the service about the stream as a whole: what it is, and which shards it has. */
#ifndef SLP_CORE_LISTING_H
#define SLP_CORE_LISTING_H

#include "base/fail.h"
#include "base/repeat.h"
#include "codec/page.h"
#include "core/core.h"
#include "core/source.h"
#include "host/host.h"
#include "host/op.h"

#include <sloop.h>

/* What was last reported to the user about the end of the stream: nothing; that it takes no more records;
 * that the table has another stream now. */
typedef enum { SLP_TOLD_NOTHING, SLP_TOLD_END, SLP_TOLD_ANOTHER } slp_told_end;

/* What the description before the newest listing said: there was no description; shards were being split or
 * merged; no shard was. */
typedef enum { SLP_STREAM_NOT_ASKED, SLP_STREAM_RESHARDS, SLP_STREAM_SETTLED } slp_stream_state;

typedef struct slp_listing {
  slp_src_describe describe; /* the description in flight; if none is in flight, the last one */
  slp_src_list list;         /* the listing in flight; if none is in flight, the last one */
  /* The next four fields are for consumers with leases. With leases a shard is not linked to its parents and
   * children, so the rows of the newest listing are kept instead. */
  slp_shard_desc *rows; /* owned, one block; NULL: no rows are kept */
  size_t rows_n;
  struct slp_listed_child *children; /* owned; `rows` sorted by the parent's id; NULL: not sorted yet */
  size_t children_n;
  size_t part_n;   /* how many rows slp_listing_next_rows has already returned of the listing in flight */
  uint64_t newest; /* the greatest shard number (slp_desc_number) in the newest complete listing */
  uint8_t describe_out, list_out; /* 1: a description is in flight; 1: a listing is in flight */
  uint8_t ended;    /* 1: the newest complete listing says that the stream is closed for writes */
  uint8_t told_end; /* slp_told_end: what was reported to the user about the end of the stream */
  uint8_t wanted; /* 1: a listing was asked for while a call was in flight, so another listing must follow */
  /* 1: a description must come before the next listing, to say whether shards are being split or merged */
  uint8_t status_wanted;
  uint8_t status; /* slp_stream_state: what the description before the newest listing said */
  /* keeps a least time between two listings, because code that asks for a listing may ask again at once */
  slp_paced paced;
  uint64_t begun;     /* number of the newest listing that was begun; listings are counted from 1 */
  uint64_t done;      /* number of the newest complete listing that was taken in (slp_listing_took) */
  uint64_t us;        /* when the newest listing was begun */
  uint64_t latest_us; /* when slp_listing_describe_latest was last called; 0: never */
  sloop_list_cb cb;   /* the user's callback for the next listing; NULL: the user asked for none */
  void *cb_arg;
  /* tells the user of `end`, the fatal error because of which no listing will come */
  slp_event end_ev;
  slp_fail end;
} slp_listing;

/* Learns the service's clock from the Date header in the answer to rq. */
void slp_listing_learn_time(slp_consumer *c, const slp_op *rq);
/* Returns the earliest time, on the service's clock, at which the service may have handled the call rq. This
 * holds even if our clock runs too fast or too slow. slp_listing_learn_time must be called first. begun_ms:
 * what slp_svctime_sure_ms returned when the call was begun; INT64_MIN: not known. */
int64_t slp_listing_served_ms(const slp_consumer *c, const slp_op *rq, int64_t begun_ms);
/* Asks what the stream is. The caller must make sure that no listing or description is in flight. */
void slp_listing_describe(slp_consumer *c, void (*on_done)(slp_op *rq));
/* Describes the stream that the name or the table has now, perhaps another stream than this consumer
 * reads. */
void slp_listing_describe_latest(slp_consumer *c, void (*on_done)(slp_op *rq));
/* Returns 1 if a call of slp_listing_describe_latest is in flight. */
int slp_listing_asks_latest(const slp_consumer *c);
int slp_listing_is_busy(const slp_consumer *c); /* returns 1 if a description or a listing is in flight */
/* Returns when slp_listing_describe_latest was last called; 0: never. */
uint64_t slp_listing_latest_us(const slp_consumer *c);
/* To be called first in on_done of a description. Returns the consumer; from now on the description is no
 * longer in flight. */
slp_consumer *slp_listing_described(slp_op *rq);
/* Returns the last description. */
const slp_src_describe *slp_listing_stream(const slp_consumer *c);

/* Begins a listing and gives it the next number. Returns 1; or 0 if a listing or a description is in
 * flight. */
int slp_listing_begin(slp_consumer *c);
/* Sends the listing that was begun. on_part: see slp_src_list.on_part; may be NULL. */
void slp_listing_send(slp_consumer *c, void (*on_done)(slp_op *rq), void (*on_part)(slp_src_list *l));
/* To be called first in on_done of a listing. Returns the consumer; from now on the listing is no longer in
 * flight. */
slp_consumer *slp_listing_listed(slp_op *rq);
/* returns the consumer that the listing l belongs to; to be called in on_part */
slp_consumer *slp_listing_of(slp_src_list *l);
int slp_listing_is_out(const slp_consumer *c); /* returns 1 if a listing is in flight */
/* Returns those rows of the listing in flight that were not returned before; NULL: there are none. The rows
 * stay valid until on_part returns. */
const slp_shard_desc *slp_listing_next_rows(slp_consumer *c, size_t *ret_n);
/* to be called when the newest listing succeeded and is taken in */
void slp_listing_took(slp_consumer *c);
/* The next three functions return the number of a listing: the newest one that was begun, the newest one that
 * was taken in (slp_listing_took), and the next one. */
uint64_t slp_listing_begun(const slp_consumer *c);
uint64_t slp_listing_done(const slp_consumer *c);
uint64_t slp_listing_next(const slp_consumer *c);
uint64_t slp_listing_us(const slp_consumer *c); /* returns when the newest listing was begun */
/* Returns all rows of the listing. To be called only in on_done, because the source owns the rows and
 * may reuse their memory for another listing. */
const slp_shard_desc *slp_listing_rows(const slp_consumer *c, size_t *ret_n);
/* With leases: copies the rows of the newest listing that name the shard as a parent, at most max rows, to
 * `children`. Returns how many rows were copied. */
size_t slp_listing_children(slp_consumer *c, slp_str shard, slp_shard_desc *children, size_t max);
void slp_listing_forget_rows(slp_consumer *c);
/* Returns 1 if the newest listing has a shard that was created later than the shard with this id, which need
 * not be in the listing. */
int slp_listing_has_later(const slp_consumer *c, slp_str id);
/* Returns 1 if the newest listing says that the stream takes no more records and gets no more shards. */
int slp_listing_ended(const slp_consumer *c);
/* Makes a description of the stream come before the next listing, to learn whether shards are being split or
 * merged. */
void slp_listing_want_status(slp_consumer *c);
int slp_listing_wants_status(const slp_consumer *c);
/* Remembers what the description before the newest listing said. reshards: 1 if shards were being split or
 * merged. */
void slp_listing_take_status(slp_consumer *c, int reshards);
slp_stream_state slp_listing_status(const slp_consumer *c); /* see slp_listing.status */
/* Returns 1 if `what` was not yet reported to the user, and counts it as reported: the caller must report it
 * now. */
int slp_listing_may_tell(slp_consumer *c, slp_told_end what);
slp_told_end slp_listing_told(const slp_consumer *c);
void slp_listing_forget_told(slp_consumer *c);
/* Asks for a listing that begins in_ms from now, or earlier. If a describe or list call is in flight, its
 * answer may be too old, so another listing follows it. */
void slp_listing_soon(slp_consumer *c, uint64_t in_ms);
/* Returns 1 if another listing was asked for (slp_listing_soon) while a description or listing was in
 * flight. */
int slp_listing_is_wanted(const slp_consumer *c);
void slp_listing_cancel(slp_consumer *c);

/* The next five functions are about a listing that the user asks for, by sloop_list(). */
/* Remembers the user's callback. Returns 0, or SLOOP_ESTATE if the callback of an earlier sloop_list() is
 * still due. */
int slp_listing_ask(slp_consumer *c, sloop_list_cb cb, void *arg);
int slp_listing_is_asked(const slp_consumer *c);
/* Gives the listing, or the failure f, to the user's callback, if there is one. The caller must do nothing
 * afterwards, because the callback may do anything. */
void slp_listing_tell(slp_consumer *c, const slp_fail *f);
/* The consumer has ended by itself, for the reason f: makes the user's callback get f in a later turn. */
void slp_listing_end(slp_consumer *c, const slp_fail *f);
void slp_listing_forget(slp_consumer *c);

#endif
