/* reader.h - reads one shard: asks for iterators and pages, and judges the answers. */
#ifndef SLP_CORE_READER_H
#define SLP_CORE_READER_H

#include "core/pace.h"
#include "core/source.h"
#include "host/host.h"

typedef struct slp_shard slp_shard;

typedef struct slp_locating { /* a request for an iterator; exists only while it is in flight */
  slp_src_locate rq;
  slp_shard *shard;
  int64_t begun_ms; /* the service's time before it was sent, as far as known */
} slp_locating;

typedef struct slp_reader { /* one per shard; its state is in reading.h */
  slp_buf cursor;           /* the iterator; empty: the next call asks for one */
  slp_pace pace;            /* how often to ask, and for how much */
  /* how long a call took that told only that its iterator had expired; 0: a page came since */
  uint64_t lost_us;
  /* 1: nothing moves in a pushed shard listed closed, so a new subscription must confirm its end */
  uint8_t silent_end;
  uint8_t relocated; /* 1: a new iterator was tried after the service refused the old one */
  /* the call in flight */
  slp_locating *locating; /* LOCATING */
  slp_src_fetch fetch;    /* FETCHING */
  slp_page *page;         /* the page that is being filled */
  uint8_t peeking;        /* 1: the call only looks how far behind a paused shard is */
  /* in CHECKING */
  uint8_t unknown;       /* 1: CHECKING because the service did not know the shard */
  uint8_t unlisted_n;    /* listings in a row that lacked the shard */
  uint8_t end_claims;    /* answers in a row without next iterator and children, on a shard listed closed */
  uint64_t check_serial; /* number of the first listing that may answer */
} slp_reader;

/* If a pushed shard's fetch was in flight this long before an event came, no event had waited in the
 * connection. */
#define SLP_READER_SETTLES_US 2000u

/* Returns the bytes that the shard's next call may hold, and sets how many records to ask for. */
uint64_t slp_reader_reserve(slp_shard *s, uint32_t *ret_limit);
void slp_reader_go(slp_shard *s, uint64_t bytes, uint32_t limit); /* makes the next call */
/* Returns since when the shard's next record comes as soon as it is stored: the shard is pushed, at its tip,
 * and all that came is taken. UINT64_MAX: it is not so. */
uint64_t slp_reader_listens_since_us(const slp_shard *s);
uint32_t slp_reader_fails(const slp_shard *s); /* calls in a row that failed */
/* Returns how long a call took that told only that its iterator had expired; 0: none did, or a page came
 * since. */
uint64_t slp_reader_lost_us(const slp_shard *s);
uint32_t slp_reader_unlisted(const slp_shard *s); /* listings in a row that lacked s or its children */
void slp_reader_resume(slp_shard *s);             /* the budget has room again: the paused transfer goes on */
void slp_reader_ask_less(slp_shard *s);           /* FETCHING: cancels the call and asks for one record */
/* Drops everything that is not handed out, to read it again later. Returns 0 if that is not possible. */
int slp_reader_rewind(slp_shard *s);
/* Keeps the first `bytes` of its records, and drops the others, to read them again later. Returns 0 if that
 * is not possible. */
int slp_reader_shorten(slp_shard *s, uint64_t bytes);
void slp_reader_listed(slp_shard *s);                     /* CHECKING: a listing has come */
void slp_reader_stop(slp_shard *s);                       /* cancels everything; the state becomes GONE */
void slp_reader_give_up(slp_shard *s, const slp_fail *f); /* give up, and drop what is buffered */
/* Stops what descends from shards that were given up, or never begins it. */
void slp_reader_bar_kin(slp_consumer *c);
/* To be called when s is read to its end and all acknowledged: tells the end once. With leases,
 * slp_reader_kept_end does. */
void slp_reader_told_end(slp_shard *s);
void slp_reader_kept_end(slp_shard *s); /* the end of s is in the table: tells it once */

#endif
