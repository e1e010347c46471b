/* reading.h - how far the reading of a shard is, and when it wants to call next.
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
 *   any --> GONE (stopped)                    * something outside must happen
 *   ENDED --> WAITING: what was read of it had to be forgotten, for lack of budget
 *
 * WAITING is left when the pace timer ran out, there is room to buffer, and the engine has a free call
 * and budget. reader.c makes the calls and says what the answers mean. */
#ifndef SLP_CORE_READING_H
#define SLP_CORE_READING_H

#include "host/host.h"

typedef struct slp_shard slp_shard;

/* A subscription brings an event, empty where nothing is new, about every five seconds (Developer Guide,
 * SubscribeToShardEvent). One that has brought none for twice as long has not answered: it may be dead. */
#define SLP_READING_EVENT_US 10000000u

typedef enum slp_reader_state {
  SLP_READER_IDLE,     /* parents unfinished, or not to be read */
  SLP_READER_WAITING,  /* for the pace timer, room to buffer, the budget or a free call */
  SLP_READER_LOCATING, /* a call for an iterator is out */
  SLP_READER_FETCHING, /* a call for a page is out, or its answer is being parsed */
  SLP_READER_CHECKING, /* no next iterator and no children: the listing must say what that means */
  SLP_READER_ENDED,    /* read to its end */
  SLP_READER_GONE      /* given up: stopped for a reason, or the consumer stops */
} slp_reader_state;

typedef struct slp_shard_reading { /* of a shard */
  slp_reader_state state;
  slp_timer timer;
  uint64_t next_at_us;       /* pace: not before */
  uint64_t sent_us;          /* when the call that is out, or the last one, was begun */
  uint64_t peek_at_us;       /* paused: not looked at before */
  uint64_t failing_since_us; /* 0: the last call was fine */
  uint64_t failing_from_us;  /* when the first of the calls that fail was begun */
  slp_class refused_as;      /* the last call; SLP_FINE: it was not */
  char error[48];            /* the last one that failed: the service's name of it, or its class */
  /* what the last page told */
  uint8_t is_behind; /* more records wait in the shard */
  uint8_t at_tip;
  uint64_t tip_asked_us; /* at_tip: when the call was begun that told so last */
  uint64_t tip_since_us; /* at_tip: since when */
} slp_shard_reading;

void slp_reading_init(slp_shard *s);
void slp_reading_move(slp_shard *s, slp_reader_state to); /* the one place that changes the state */
slp_reader_state slp_reading_state(const slp_shard *s);
int slp_reading_is_on(const slp_shard *s);   /* begun, and neither ended nor given up */
int slp_reading_is_over(const slp_shard *s); /* ended or given up */

void slp_reading_wait(slp_shard *s, uint64_t at_us); /* WAITING; calls then, if there is room */
void slp_reading_poke(slp_shard *s);                 /* room came free, or it was resumed */
/* Others wait for it: its pause at the tip ends at the service's floor. */
void slp_reading_hurry(slp_shard *s);
void slp_reading_at_once(slp_shard *s);  /* WAITING: for no time any more */
void slp_reading_call_off(slp_shard *s); /* it does not wait to call any more */

void slp_reading_sent(slp_shard *s); /* a call begins */
uint64_t slp_reading_sent_us(const slp_shard *s);
void slp_reading_peeks(slp_shard *s);  /* the call only looks how far behind a paused shard is */
void slp_reading_failed(slp_shard *s); /* the call brought nothing of use */
void slp_reading_refused(slp_shard *s, const slp_fail *f); /* it failed, and why */
/* Since when calls have failed, for whatever reason; 0: they do not. *ret_error: the last one's name. */
uint64_t slp_reading_fails_since_us(const slp_shard *s, const char **ret_error);
uint64_t slp_reading_tip_since_us(const slp_shard *s);
/* Since when it would like to call, and has no room or no free call; 0: it does not wait for that. */
uint64_t slp_reading_held_up_since_us(const slp_shard *s);
int slp_reading_is_busy(const slp_shard *s); /* another reader has the shard still, said the last call */
void slp_reading_fine(slp_shard *s);
void slp_reading_forgive(slp_shard *s); /* what failed before is tried only now */
/* Since when calls fail for another reason than their number; 0: they do not. */
uint64_t slp_reading_failing_since_us(const slp_shard *s);
/* Since when a call has failed, or not answered; UINT64_MAX: the shard is waited for in order. late: what it
 * brings next is late whoever waits, so that it has no backlog that others must wait for. */
uint64_t slp_reading_silent_since_us(const slp_shard *s, int late);

void slp_reading_set_tip(slp_shard *s, int at_tip);
int slp_reading_at_tip(const slp_shard *s);
uint64_t slp_reading_tip_asked_us(const slp_shard *s);
void slp_reading_set_behind(slp_shard *s, int behind);
/* The last call was fine, and did not say that there is nothing more: the next one ends soon, and brings
 * some. */
int slp_reading_brings_more(const slp_shard *s);

#endif
