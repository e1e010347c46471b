/* reader.h - reads one shard: asks for iterators and pages, and decides what the answers mean. */
#ifndef SLP_CORE_READER_H
#define SLP_CORE_READER_H

#include "core/pace.h"
#include "core/source.h"
#include "host/host.h"

typedef struct slp_shard slp_shard;

typedef struct slp_locating { /* a request for an iterator; exists only while the request is in flight */
  slp_src_locate rq;
  slp_shard *shard;
  int64_t begun_ms; /* a lower bound of the service's time when the request was begun; INT64_MIN: not known */
} slp_locating;

typedef struct slp_reader { /* one per shard; its state is in reading.h */
  slp_buf cursor;           /* the iterator for the next page; empty: the next call asks for an iterator */
  slp_pace pace;            /* how often to call, and how many records to ask for */
  /* if the last call answered only that its iterator had expired: how long that call took; else 0 */
  uint64_t lost_us;
  /* 1: the shard is listed closed, and its pushed events had no records for seconds. The next subscription
   * must show whether the shard has ended. */
  uint8_t silent_end;
  uint8_t relocated; /* 1: a new iterator was asked for because the service refused a call with the old one */
  /* The next four fields are about the call in flight. */
  slp_locating *locating; /* LOCATING: the request; else NULL */
  slp_src_fetch fetch;    /* FETCHING: the request */
  slp_page *page;         /* the page that the request fills; NULL: none */
  uint8_t peeking;        /* 1: the shard is paused, so the call is made only to learn the lag */
  /* The next four fields are for the state CHECKING. */
  uint8_t unknown;    /* 1: the check is needed because the service did not know the shard */
  uint8_t unlisted_n; /* how many listings in a row lacked the shard */
  /* how many answers in a row had neither a next iterator nor children, while the shard was listed closed */
  uint8_t end_claims;
  uint64_t check_serial; /* number of the first listing that is new enough to decide */
} slp_reader;

/* If a fetch of a pushed shard was in flight for this long before an event came, the event had not waited
 * unread in the connection. */
#define SLP_READER_SETTLES_US 2000u

/* Returns how many bytes to reserve for the shard's next call. *ret_limit: how many records to ask for. */
uint64_t slp_reader_reserve(slp_shard *s, uint32_t *ret_limit);
/* makes the next call, for an iterator or for a page */
void slp_reader_go(slp_shard *s, uint64_t bytes, uint32_t limit);
/* Returns since when a new record of the shard would come as soon as it is stored: the shard is pushed, at
 * its tip, and every event was taken. UINT64_MAX: that is not so. */
uint64_t slp_reader_listens_since_us(const slp_shard *s);
uint32_t slp_reader_fails(const slp_shard *s); /* returns how many calls in a row failed */
/* Returns how long the last call took, if it answered only that its iterator had expired and no page came
 * since; else 0. */
uint64_t slp_reader_lost_us(const slp_shard *s);
/* returns how many listings in a row lacked s or its children */
uint32_t slp_reader_unlisted(const slp_shard *s);
/* to be called when the budget has room again: the paused transfer continues */
void slp_reader_resume(slp_shard *s);
/* FETCHING: cancels the call, and makes the next one ask for a single record */
void slp_reader_ask_less(slp_shard *s);
/* Drops all fetched records that were not handed out, and reads them again later. Returns 0, and drops
 * nothing, if that is not possible. */
int slp_reader_rewind(slp_shard *s);
/* As slp_reader_rewind, but keeps the first records: as many as take `bytes` bytes, and at least one. */
int slp_reader_shorten(slp_shard *s, uint64_t bytes);
/* To be called when a listing was taken in. If s is CHECKING, decides what the listing means for s. */
void slp_reader_listed(slp_shard *s);
void slp_reader_stop(slp_shard *s); /* cancels everything; the state becomes GONE, unless it is ENDED */
/* gives s up because of f, reports f, and drops buffered records */
void slp_reader_give_up(slp_shard *s, const slp_fail *f);
/* Bars all shards that descend from a shard that was given up: stops those that are being read, and never
 * starts the others. */
void slp_reader_bar_kin(slp_consumer *c);
/* To be called when s was read to its end and every record is acknowledged. Reports SLOOP_SHARD_ENDED once.
 * Does nothing with leases; then slp_reader_kept_end reports it. */
void slp_reader_told_end(slp_shard *s);
/* to be called when the end of s is written in the lease table; reports SLOOP_SHARD_ENDED once */
void slp_reader_kept_end(slp_shard *s);

#endif
