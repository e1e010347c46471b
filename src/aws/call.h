/* call.h - one call to a service, from "send" to its one end: endpoint, credentials, signature, transport,
 * classifying the answer, remedies, back-off. It knows no operation: its owner gives the request and reads
 * the answer.
 *
 *   IDLE -> SETTLING <-> WAITING_SETUP, WAITING_KEYS     endpoint and keys
 *           SETTLING -> SENT -> READING (200: the owner reads) -> DONE
 *           SENT, READING -> PAUSING (back-off) -> SETTLING
 *           any -> DONE, posted as an event when there was no turn between slp_call_send and the end */
#ifndef SLP_AWS_CALL_H
#define SLP_AWS_CALL_H

#include "aws/aws_impl.h"
#include "aws/classify.h"

#define SLP_CALL_HEADERS 6

typedef enum {
  SLP_CALL_IDLE,
  SLP_CALL_SETTLING,
  SLP_CALL_WAITING_SETUP, /* suspended: profile files */
  SLP_CALL_WAITING_KEYS,  /* suspended: credentials */
  SLP_CALL_SENT,          /* suspended: transport */
  SLP_CALL_READING,       /* suspended: the owner */
  SLP_CALL_PAUSING,       /* suspended: timer; a back-off, or until the quota lets it go */
  SLP_CALL_ENDING         /* suspended: event */
} slp_call_state;

typedef struct slp_call {
  /* Set by the owner; `reroute` may change the request. Borrowed until the end. */
  slp_aws *aws;
  slp_svc svc;
  slp_lane lane;
  slp_str target, content_type, body; /* target absent: no such header */
  uint32_t quota_a_second; /* the account may make so many of these calls a second; 0: nobody counts them */
  slp_str quota_of; /* "REGION:ACCOUNT" where it is known; NULL, 0: endpoint and target tell calls apart */
  slp_str arn;      /* the ARN that the request names, if any; the call may go to the host of its account */
  const slp_sign_keys *keys; /* NULL: the family's; else these, which can't be renewed */
  uint8_t anonymous;         /* not signed */
  slp_str secret;            /* what of the body no message may repeat; {NULL, 0}: nothing */
  uint8_t keeps_secrets;     /* until a cancel or free: the owner reads on when the call is over */
  slp_buf *into;             /* cleared before each try */
  uint32_t total_ms_max;
  uint32_t
      tries_max; /* 1: the owner repeats calls itself; more: the limit where AWS_MAX_ATTEMPTS is not set */
  uint8_t once;  /* must not reach the server twice */
  uint8_t paced; /* the owner repeats a throttled call itself */
  int (*may_grow)(slp_http *http, size_t more); /* PURE; NULL: always */
  /* PURE, as slp_http.on_piece. Sets `begun` when it reads the answer already. NULL: never. */
  void (*on_piece)(slp_http *http);
  uint8_t begun; /* 0 at the beginning of each try */
  /* Called in a turn while the answer grows, whatever its status; may take bytes off `into`. NULL: never. */
  void (*on_more)(struct slp_call *c);
  /* Called first for any answer that has a status. 1: the request was changed, send it again at once, not
   * counted. NULL: never. */
  int (*reroute)(struct slp_call *c);
  /* Status 200: read the body (now or over some turns) and call slp_call_good, slp_call_bad or
   * slp_call_again. */
  void (*on_body)(struct slp_call *c);
  void (*on_done)(struct slp_call *c); /* once, in a turn; c is the owner's again */

  slp_fail fail;      /* out */
  uint32_t tries;     /* out */
  uint32_t throttles; /* out: throttled tries */
  slp_http http;      /* out: the last try's times and answer */

  slp_call_state state;
  slp_event ev;
  slp_timer timer;
  slp_wait wait;
  slp_buf secrets; /* of this try: token, secret key, Authorization; wiped when its answer is dealt with */
  size_t token_n, key_n;
  slp_http_header headers[SLP_CALL_HEADERS];
  char date[17];
  char account_url[SLP_ACCOUNT_HOST_MAX + 10]; /* where this try goes; "": to the endpoint */
  uint64_t turn_us;                            /* when the quota lets this try go; 0: not asked for */
  int64_t signed_ms;                           /* the time signed with */
  int64_t signed_wall_ms;                      /* the machine's clock then */
  uint64_t serial;                             /* of the keys signed with */
  uint8_t free_try;                            /* the try under way is a remedy: not counted */
  uint8_t keys_tried, stale_tried;             /* each remedy once a call */
  uint8_t clock_fixed; /* the last answer refused the request's time, and our clock was set by it */
  uint8_t late_tried;  /* refusals for the time that were read late */
} slp_call;

void slp_call_init(slp_call *c, slp_aws *aws); /* zeroes */
void slp_call_send(slp_call *c);
/* Ends a call without sending it. */
void slp_call_refuse(slp_call *c, slp_class class, int code, const char *why);
/* Stops the call: on_done will not run. Idle calls are fine. */
void slp_call_cancel(slp_call *c);
void slp_call_free(slp_call *c); /* idle; gives back its scratch memory */

/* Called in on_body. Nothing of c may be used afterwards. */
void slp_call_good(slp_call *c);
void slp_call_bad(slp_call *c, slp_class class, int code, const char *why); /* counted; maybe tried again */
void slp_call_again(slp_call *c); /* the request was changed: at once, not counted */

/* What was sent and no message may repeat. c->fail is without it already. */
slp_secrets slp_call_secrets(const slp_call *c);

#endif
