/* reader_part.h - the calls that read a shard; reader.c owns it. */
#ifndef SLP_CORE_READER_PART_H
#define SLP_CORE_READER_PART_H

#include "base/buf.h"
#include "codec/page.h"
#include "core/core.h"
#include "core/pace.h"
#include "core/source.h"

typedef struct slp_locating { /* a request for an iterator; exists while the request is in flight */
  slp_src_locate rq;
  slp_shard *shard;
  /* a lower bound of the service's time when the request was begun; INT64_MIN: not known */
  int64_t begun_ms;
} slp_locating;

typedef struct slp_reader { /* one per shard; the state of its reading is in reading.h */
  slp_buf cursor;           /* the iterator for the next page; empty: the next call asks for an iterator */
  slp_pace pace;            /* how often to call, and how many records to ask for */
  /* how long the last call took, if the answer was only "the iterator has expired"; else 0 */
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

#endif
