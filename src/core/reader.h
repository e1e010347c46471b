/* reader.h - how one shard is read. */
#ifndef SLP_CORE_READER_H
#define SLP_CORE_READER_H

#include "core/pace.h"
#include "core/source.h"
#include "host/host.h"

typedef struct slp_shard slp_shard;

typedef struct slp_locating { /* a request for an iterator, only while it is out */
  slp_src_locate rq;
  slp_shard *shard;
  int64_t begun_ms; /* service time had come so far before it was sent */
} slp_locating;

typedef struct slp_reader { /* of a shard; it is reading.h's how far that is */
  slp_buf cursor;           /* the iterator; empty: locate first */
  slp_pace pace;
  uint64_t lost_us;   /* a call took so long, and told only that its iterator had expired; no page since */
  uint8_t silent_end; /* nothing moves in a pushed shard listed closed: a new subscription must say so */
  uint8_t relocated;  /* one new iterator was tried after the service called the old one invalid */
  /* the call that is out */
  slp_locating *locating; /* LOCATING */
  slp_src_fetch fetch;    /* FETCHING */
  slp_page *page;         /* being filled */
  uint8_t peeking;        /* it only looks how far behind a paused shard is */
  /* CHECKING */
  uint8_t unknown;       /* because the service did not know the shard */
  uint8_t unlisted_n;    /* listings in a row without it */
  uint8_t end_claims;    /* answers in a row without next iterator and children, on a shard listed closed */
  uint64_t check_serial; /* the first listing that may answer */
} slp_reader;

/* Where a pushed shard's fetch was out for so long before anything came, nothing had been waiting for it in
 * the connection. */
#define SLP_READER_SETTLES_US 2000u

/* The bytes that its next call may hold, and the records to ask for. */
uint64_t slp_reader_reserve(slp_shard *s, uint32_t *ret_limit);
void slp_reader_go(slp_shard *s, uint64_t bytes, uint32_t limit); /* it calls now */
/* Since when the shard's next record comes as soon as it is stored: it is pushed, at its tip, and all that
 * came is taken. UINT64_MAX: it is not so. */
uint64_t slp_reader_listens_since_us(const slp_shard *s);
uint32_t slp_reader_fails(const slp_shard *s); /* calls that failed in a row */
/* So long took a call that told only that its iterator had expired; 0: none did, or a page came since. */
uint64_t slp_reader_lost_us(const slp_shard *s);
uint32_t slp_reader_unlisted(const slp_shard *s); /* listings in a row that lacked it, or its children */
void slp_reader_resume(slp_shard *s);             /* its transfer goes on: there is budget again */
void slp_reader_ask_less(slp_shard *s); /* FETCHING: gives its call up and asks again for a single record */
/* Gives back all it buffered and reads it again later. 0: not possible. */
int slp_reader_rewind(slp_shard *s);
/* Keeps the first records, of so many bytes, and reads the others again later. 0: not possible. */
int slp_reader_shorten(slp_shard *s, uint64_t bytes);
void slp_reader_listed(slp_shard *s);                     /* a listing asked for while CHECKING is here */
void slp_reader_stop(slp_shard *s);                       /* cancels; GONE */
void slp_reader_give_up(slp_shard *s, const slp_fail *f); /* and nothing of it is handed out any more */
/* What descends from shards that were given up stops, or is not begun. */
void slp_reader_bar_kin(slp_consumer *c);
/* Read to its end and all acknowledged: tells it once. With leases it waits for slp_reader_kept_end. */
void slp_reader_told_end(slp_shard *s);
void slp_reader_kept_end(slp_shard *s); /* likewise; its end is in the table */

#endif
