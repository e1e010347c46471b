/* reader.h - how one shard is read. */
#ifndef SLP_CORE_READER_H
#define SLP_CORE_READER_H

#include "core/pace.h"
#include "core/source.h"
#include "host/host.h"

typedef struct slp_shard slp_shard;

typedef enum slp_reader_state {
  SLP_READER_IDLE,     /* parents unfinished, or not to be read */
  SLP_READER_WAITING,  /* for the pace timer, room to buffer, the budget or a free call */
  SLP_READER_LOCATING, /* a call for an iterator is out */
  SLP_READER_FETCHING, /* a call for a page is out, or its answer is being parsed */
  SLP_READER_CHECKING, /* no next iterator and no children: the listing must say what that means */
  SLP_READER_ENDED,    /* read to its end */
  SLP_READER_GONE      /* given up: stopped for a reason, or the consumer stops */
} slp_reader_state;

typedef struct slp_locating { /* a request for an iterator, only while it is out */
  slp_src_locate rq;
  slp_shard *shard;
} slp_locating;

/* Where a shard begins, and how far it was taken into the merge. The start position sets it; the reader and
 * the queue bring it forward. */
typedef struct slp_standing {
  slp_position start;    /* where the first iterator goes */
  slp_mark last;         /* the last record taken, or only passed over. No number: none was taken */
  int64_t tail_time;     /* its key time, or the floor */
  int64_t not_before_ms; /* what arrived before is passed over; INT64_MIN: nothing is */
  int64_t anchor_ms;     /* LATEST: service time of its first iterator, or a little before */
  int64_t open_ms;       /* LATEST: service time when it was surely open: it may have children since */
  uint8_t anchored;      /* LATEST: there was that first iterator */
  uint8_t from_oldest;   /* the record to go on from is not kept: what is kept and known is passed over */
  uint8_t after_last;    /* the iterator was asked for AT the last record taken: skip that one */
} slp_standing;

static inline int slp_has_taken(const slp_standing *at) { return at->last.seq_n > 0; }

typedef struct slp_reader {
  slp_reader_state state;
  slp_buf cursor; /* the iterator; empty: locate first */
  slp_pace pace;
  slp_timer timer;
  uint64_t next_at_us;       /* pace: not before */
  uint64_t failing_since_us; /* 0: the last call was fine */
  uint8_t throttled;         /* the last call was refused as too fast */
  uint8_t renewing;          /* an expired iterator was replaced, and no page came since */
  uint8_t relocated;         /* one new iterator was tried after the service called the old one invalid */
  /* the call that is out */
  slp_locating *locating; /* LOCATING */
  slp_src_fetch fetch;    /* FETCHING */
  slp_page *page;         /* being filled */
  uint64_t sent_us;       /* when the call that is out was begun */
  uint8_t peeking;        /* it only looks how far behind a paused shard is */
  uint64_t peek_at_us;    /* paused: not looked at before */
  /* what the last page told */
  uint8_t is_behind; /* more records wait in the shard */
  uint8_t at_tip;
  uint64_t tip_asked_us; /* at_tip: when the call was begun that told so last */
  /* CHECKING */
  uint8_t unknown;       /* because the service did not know the shard */
  uint8_t unlisted_n;    /* listings in a row without it */
  uint8_t end_claims;    /* answers in a row without next iterator and children, on a shard listed closed */
  uint64_t check_serial; /* the first listing that may answer */
} slp_reader;

int slp_reader_is_reading(const slp_shard *s); /* begun, and neither ended nor given up */
void slp_reader_start(slp_shard *s);
void slp_reader_poke(slp_shard *s); /* room came free, or it was resumed */
/* Others wait for it: its pause at the tip ends at the service's floor. */
void slp_reader_hurry(slp_shard *s);
void slp_reader_stop(slp_shard *s); /* cancels; GONE */
/* Gives back all it buffered and reads it again later. 0: not possible. */
int slp_reader_rewind(slp_shard *s);
void slp_reader_go(slp_shard *s);       /* the engine lets it call now */
void slp_reader_listed(slp_shard *s);   /* a listing asked for while CHECKING is here */
void slp_reader_ask_less(slp_shard *s); /* FETCHING: gives its call up and asks again for a single record */
uint64_t slp_reader_reserve(slp_shard *s, uint32_t *ret_limit);
void slp_reader_give_up(slp_shard *s, const slp_fail *f); /* and nothing of it is handed out any more */
/* Read to its end and all acknowledged: tells it once. With leases it waits for slp_reader_kept_end. */
void slp_reader_told_end(slp_shard *s);
void slp_reader_kept_end(slp_shard *s); /* likewise; its end is in the table */

#endif
