/* reading_part.h - the state of a shard's reading; reading.c owns it, and reading.h draws the states. */
#ifndef SLP_CORE_READING_PART_H
#define SLP_CORE_READING_PART_H

#include "base/fail.h"
#include "host/host.h"

typedef enum slp_reader_state {
  SLP_READER_IDLE, /* a parent of the shard is not finished, or the shard is not to be read */
  /* waits for the pace timer, for room in the queue, for bytes in the budget, or until one more call may be
   * in flight */
  SLP_READER_WAITING,
  SLP_READER_LOCATING, /* a call for an iterator is in flight */
  SLP_READER_FETCHING, /* a call for a page is in flight, or the answer is being parsed */
  /* the answer may mean that the shard has ended or is gone; the next listing will decide */
  SLP_READER_CHECKING,
  SLP_READER_ENDED, /* the shard was read to its end */
  SLP_READER_GONE   /* the shard was given up, or its reading was stopped */
} slp_reader_state;

typedef struct slp_shard_reading { /* one per shard */
  slp_reader_state state;
  slp_timer timer;     /* in state WAITING: runs at next_at_us, and checks whether the shard may call */
  uint64_t next_at_us; /* in state WAITING: the earliest time of the next call */
  uint64_t sent_us;    /* when the last call of the shard was begun */
  uint64_t peek_at_us; /* while the shard is paused: the earliest time of the next call */
  /* since when calls fail: when the first of the failed calls in a row failed; 0: the last call succeeded */
  uint64_t failing_since_us;
  uint64_t failing_from_us; /* when that first failed call was begun */
  slp_class refused_as;     /* why the last call failed; SLP_FINE: it did not fail */
  char error[48];           /* the last failure: the service's name for it, or its kind */
  /* The next four fields are from the shard's last page. */
  uint8_t is_behind;     /* 1: more records wait in the shard after that page */
  uint8_t at_tip;        /* 1: the page left the shard at its tip */
  uint64_t tip_asked_us; /* when the last call that found the shard at its tip was begun */
  /* when the call that showed the last change of `at_tip` was begun */
  uint64_t tip_since_us;
} slp_shard_reading;

#endif
