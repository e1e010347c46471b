/* subscription_list.h - one subscription, and a consumer's seat at a shard. Only subscription_list.c and
 * subscriptions.c look into them. */
#ifndef SLP_SANDBOX_SUBSCRIPTION_LIST_H
#define SLP_SANDBOX_SUBSCRIPTION_LIST_H

#include "base/buf.h"
#include "base/list.h"
#include "sandbox/model.h"

/*   OPEN -> ENDED                 after five minutes, or at the end of the shard
 *   OPEN -> LAST_WORD -> ENDED    by an exception, which is sent first
 *   OPEN -> SILENT, ENDED, CUT    by a fault
 *   ENDED -> CUT                  by a fault that cuts the last event */
typedef enum { SLP_SUB_OPEN, SLP_SUB_LAST_WORD, SLP_SUB_SILENT, SLP_SUB_ENDED, SLP_SUB_CUT } slp_sub_state;

typedef struct slp_seat { /* a consumer at one shard: when it last subscribed, and its open subscription */
  slp_list link;          /* links the seat into slp_box_consumer.seats of its consumer */
  uint32_t shard;
  int64_t subscribed_ms; /* when a call last succeeded; INT64_MIN: none has */
  slp_box_window calls, sent;
  slp_box_sub *sub; /* the open subscription; NULL: none is open */
} slp_seat;

struct slp_box_sub {
  slp_box *box;
  slp_list link; /* links the subscription into box->subs, the list of all open ones */
  /* links the subscription into box->news while it has news that slp_push_next_news has not returned yet */
  slp_list news_link;
  slp_seat *seat; /* NULL: a newer subscription has taken over, or the consumer is gone */
  uint64_t stream_uid;
  uint32_t shard;
  slp_sub_state state;
  uint64_t counter; /* counter of the next record to send */
  /* until_ms: when the subscription ends. next_ms: when the next event is due, even if it has no records */
  int64_t until_ms, next_ms;
  int64_t not_before_ms;        /* time until which a fault delays the next event */
  const char *exception, *said; /* in state SLP_SUB_LAST_WORD: name and message of the exception to send */
  slp_buf payload;
};

void slp_push_move(slp_box_sub *u, slp_sub_state to); /* changes the state; nothing else does */
/* Ends an open subscription by an exception, which is sent next. */
void slp_push_last_word(slp_box_sub *u, const char *exception, const char *said);

#endif
