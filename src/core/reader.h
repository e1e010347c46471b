/* reader.h - reads one shard: asks for iterators and pages, and decides what the answers mean. (An iterator
 * is the service's token for a position in the shard.) */
#ifndef SLP_CORE_READER_H
#define SLP_CORE_READER_H

#include "core/pace.h"
#include "core/source.h"
#include "host/host.h"

typedef struct slp_shard slp_shard;

typedef struct slp_locating { /* a request for an iterator; exists while the request is in flight */
  slp_src_locate rq;
  slp_shard *shard;
  /* the service's time when the request was begun was not earlier than this; INT64_MIN: not known */
  int64_t begun_ms;
} slp_locating;

typedef struct slp_reader { /* one per shard; the state of its reading is in reading.h */
  slp_buf cursor;           /* the iterator for the next page; empty: the next call asks for an iterator */
  slp_pace pace;            /* how often to call, and how many records to ask for */
  /* How long the last call took, if it was answered only with "the iterator has expired"; else 0. */
  uint64_t lost_us;
  /* 1: the shard is listed as closed, and its pushed events had no records for seconds. The next subscription
   * must show whether the shard has ended. */
  uint8_t silent_end;
  /* 1: a new iterator was asked for, because the service refused a call with the old one */
  uint8_t relocated;
  /* The next four fields are about the call in flight. */
  slp_locating *locating; /* in state LOCATING: the request; else NULL */
  slp_src_fetch fetch;    /* FETCHING: the request */
  slp_page *page;         /* the page that the call in flight fills; NULL: none */
  uint8_t peeking;        /* 1: the shard is paused, and the call is made only to learn the lag */
  /* The next four fields are for the state CHECKING. */
  /* 1: the service said that it does not know the shard, so a listing must show whether it exists */
  uint8_t unknown;
  uint8_t unlisted_n; /* how many listings in a row lacked the shard */
  /* how many answers in a row had neither a next iterator nor children, though the shard was listed as
   * closed */
  uint8_t end_claims;
  uint64_t check_serial; /* number of the first listing that is new enough to decide what the answer means */
} slp_reader;

/* If an event of a pushed shard came at least this long after its fetch began, the event did not wait unread
 * in the connection before. */
#define SLP_READER_SETTLES_US 2000u

/* Returns how many bytes to reserve for the next call of s. *ret_limit: how many records to ask for. */
uint64_t slp_reader_reserve(slp_shard *s, uint32_t *ret_limit);
/* makes the next call, for an iterator or for a page */
void slp_reader_go(slp_shard *s, uint64_t bytes, uint32_t limit);
/* Returns since when a new record of s would come as soon as it is stored: s is pushed and at its tip, and
 * every event was read. UINT64_MAX: that is not so at present. */
uint64_t slp_reader_listens_since_us(const slp_shard *s);
uint32_t slp_reader_fails(const slp_shard *s); /* returns how many calls in a row failed */
/* Returns how long the last call took, if it was answered only with "the iterator has expired", and no page
 * came since; else 0. */
uint64_t slp_reader_lost_us(const slp_shard *s);
/* returns how many listings in a row lacked s or its children; 0 if they are not waited for */
uint32_t slp_reader_unlisted(const slp_shard *s);
/* to be called when the budget has room again: the paused transfer of s continues */
void slp_reader_resume(slp_shard *s);
/* In state FETCHING: cancels the call, and makes the next call ask for a single record. */
void slp_reader_ask_less(slp_shard *s);
/* Drops all fetched records of s that were not handed out, and fetches them again later. Returns 0, and drops
 * nothing, if that is not possible. */
int slp_reader_rewind(slp_shard *s);
/* Does the same as slp_reader_rewind, but keeps the first of these records: as many as take `bytes` bytes,
 * and at least one. */
int slp_reader_shorten(slp_shard *s, uint64_t bytes);
/* To be called when a listing was taken in. If s is in state CHECKING, decides what the listing means for
 * s. */
void slp_reader_listed(slp_shard *s);
void slp_reader_stop(slp_shard *s); /* cancels all calls of s; the state becomes GONE, unless it is ENDED */
/* gives s up because of the failure f, reports f to the user, and drops the records in memory */
void slp_reader_give_up(slp_shard *s, const slp_fail *f);
/* For all shards of c that descend from a shard that was given up: stops those that are being read, and makes
 * sure that the others are never started. */
void slp_reader_bar_kin(slp_consumer *c);
/* To be called when s was read to its end and every record is acknowledged. Without leases reports
 * SLOOP_SHARD_ENDED, once. With leases does nothing; slp_reader_kept_end reports it later. */
void slp_reader_told_end(slp_shard *s);
/* To be called when the end of s is written in the lease table. Reports SLOOP_SHARD_ENDED, once. */
void slp_reader_kept_end(slp_shard *s);

#endif
