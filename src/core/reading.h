/* reading.h - the state of a shard's reading, and when the shard wants to call next.
 *
 *            start                go              answer
 *   IDLE ----------> WAITING* ----------> LOCATING* ----> WAITING
 *                     ^   |  go
 *                     |   +-------------> FETCHING* --+-- page, next iterator ---------> WAITING
 *                     |                               +-- no next, children with parents -> ENDED
 *                     |                               +-- no next, but new records -------> WAITING
 *                     |                               +-- no next, nothing new -----------> CHECKING*
 *                     +--- the listing says open, or closed for the first time ---------- CHECKING
 *                          closed for the second time and all children, or gone twice ---> ENDED
 *   LOCATING --> CHECKING: the service does not know the shard
 *   CHECKING goes on while children, or a shard that was never listed, may be listed yet (await.h)
 *   any --> GONE (stopped)                    * is left when something outside happens
 *   ENDED --> WAITING: what was read of it had to be forgotten, for lack of budget
 *
 * WAITING is left when the pace timer ran out, there is room to buffer, and the engine has a free call
 * and budget. reader.c makes the calls and says what the answers mean. */
#ifndef SLP_CORE_READING_H
#define SLP_CORE_READING_H

#include "host/host.h"

typedef struct slp_shard slp_shard;

/* A subscription brings an event about every five seconds, an empty one if nothing is new (Developer Guide,
 * SubscribeToShardEvent). One that has brought none for this long has not answered: it may be dead. */
#define SLP_READING_EVENT_US 10000000u

typedef enum slp_reader_state {
  SLP_READER_IDLE,     /* its parents are unfinished, or it is not to be read */
  SLP_READER_WAITING,  /* waits for the pace timer, room to buffer, the budget or a free call */
  SLP_READER_LOCATING, /* a call for an iterator is in flight */
  SLP_READER_FETCHING, /* a call for a page is in flight, or its answer is being parsed */
  SLP_READER_CHECKING, /* no next iterator and no children: the listing must say what that means */
  SLP_READER_ENDED,    /* it was read to its end */
  SLP_READER_GONE      /* it was given up, or the consumer stops */
} slp_reader_state;

typedef struct slp_shard_reading { /* one per shard */
  slp_reader_state state;
  slp_timer timer;           /* WAITING: looks again at next_at_us */
  uint64_t next_at_us;       /* WAITING: the pace allows no call before this */
  uint64_t sent_us;          /* when the last call was begun */
  uint64_t peek_at_us;       /* a paused shard is not asked before this time */
  uint64_t failing_since_us; /* since when calls fail; 0: the last one succeeded */
  uint64_t failing_from_us;  /* when the first of the calls that fail was begun */
  slp_class refused_as;      /* class of the last call's failure; SLP_FINE: it did not fail */
  char error[48];            /* of the last call that failed: the service's name for it, or its class */
  /* The next fields are what the last page told. */
  uint8_t is_behind;     /* 1: more records wait in the shard */
  uint8_t at_tip;        /* 1: it has brought all there is */
  uint64_t tip_asked_us; /* when the last call that found it at its tip was begun */
  uint64_t tip_since_us; /* since when it is at its tip */
} slp_shard_reading;

void slp_reading_init(slp_shard *s);
void slp_reading_move(slp_shard *s, slp_reader_state to); /* the only place that changes the state */
slp_reader_state slp_reading_state(const slp_shard *s);
int slp_reading_is_on(const slp_shard *s);   /* 1: it was begun, and has neither ended nor been given up */
int slp_reading_is_over(const slp_shard *s); /* 1: it has ended, or was given up */

void slp_reading_wait(slp_shard *s, uint64_t at_us); /* becomes WAITING; calls at at_us, if there is room */
/* looks whether to call now: there is room again, or a pause ended */
void slp_reading_poke(slp_shard *s);
/* Other shards wait for this one: it asks again as soon as the service allows, although it is at its tip. */
void slp_reading_hurry(slp_shard *s);
void slp_reading_at_once(slp_shard *s);  /* WAITING: the next call need not wait any more */
void slp_reading_call_off(slp_shard *s); /* s does not want to call any more */

void slp_reading_sent(slp_shard *s); /* a call begins */
uint64_t slp_reading_sent_us(const slp_shard *s);
void slp_reading_peeks(slp_shard *s);  /* this call only looks how far behind a paused shard is */
void slp_reading_failed(slp_shard *s); /* the call brought nothing of use */
void slp_reading_refused(slp_shard *s, const slp_fail *f); /* the call failed as f says */
/* Returns since when calls have failed, for whatever reason; 0: they do not. *ret_error: the name of the last
 * failure. */
uint64_t slp_reading_fails_since_us(const slp_shard *s, const char **ret_error);
uint64_t slp_reading_tip_since_us(const slp_shard *s);
/* Returns since when the shard would like to call, and has no room or no free call; 0: it does not wait for
 * that. */
uint64_t slp_reading_held_up_since_us(const slp_shard *s);
/* 1: the last call found that another reader still has the shard */
int slp_reading_is_busy(const slp_shard *s);
void slp_reading_fine(slp_shard *s);
void slp_reading_forgive(slp_shard *s); /* calls count as failing only from now on */
/* Returns since when calls fail for other reasons than throttling; 0: they do not. */
uint64_t slp_reading_failing_since_us(const slp_shard *s);
/* Returns since when a call has failed or not answered; UINT64_MAX: the others must wait for the shard. late:
 * what it brings next is late anyway, so its backlog is no reason to wait. */
uint64_t slp_reading_silent_since_us(const slp_shard *s, int late);

void slp_reading_set_tip(slp_shard *s, int at_tip);
int slp_reading_at_tip(const slp_shard *s);
uint64_t slp_reading_tip_asked_us(const slp_shard *s);
void slp_reading_set_behind(slp_shard *s, int behind);
/* Returns 1 if the last call succeeded and did not find the tip: the next one ends soon, and brings
 * records. */
int slp_reading_brings_more(const slp_shard *s);

#endif
