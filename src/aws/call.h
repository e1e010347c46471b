/* call.h - one call to a service, from slp_call_send to its one end: endpoint, credentials, signature,
 * transport, classifying the answer, remedies, back-off. It knows no operation: the owner gives the request
 * and reads the answer.
 *
 *   IDLE -> SETTLING <-> WAITING_SETUP, WAITING_KEYS     waits for the endpoint, the keys
 *           SETTLING -> SENT -> READING (status 200: the owner reads) -> on_done
 *           SENT, READING -> PAUSING (back-off) -> SETTLING
 *           any -> ENDING -> on_done, by an event, if there was no turn since slp_call_send */
#ifndef SLP_AWS_CALL_H
#define SLP_AWS_CALL_H

#include "aws/aws_impl.h"
#include "aws/classify.h"

#define SLP_CALL_HEADERS 6

typedef enum {
  SLP_CALL_IDLE,
  SLP_CALL_SETTLING,
  SLP_CALL_WAITING_SETUP, /* waits for profile files */
  SLP_CALL_WAITING_KEYS,  /* waits for credentials */
  SLP_CALL_SENT,          /* waits for the transport */
  SLP_CALL_READING,       /* waits for the owner */
  SLP_CALL_PAUSING,       /* waits for a timer: a back-off, or the account's quota */
  SLP_CALL_ENDING         /* waits for an event */
} slp_call_state;

typedef struct slp_call {
  /* Set by the owner, and borrowed until the end. `reroute` may change the request. */
  slp_aws *aws;
  slp_svc svc;
  slp_lane lane;
  slp_str target, content_type, body; /* target absent: the header is not sent */
  uint32_t quota_a_second; /* how many of these calls the account may make a second; 0: not limited */
  slp_str quota_of; /* "REGION:ACCOUNT" if it is known; {NULL, 0}: endpoint and target tell calls apart */
  slp_str arn;      /* the ARN in the request, if any; the call may go to the host of that account */
  const slp_sign_keys *keys; /* keys of the owner, which can't be renewed; NULL: those of aws */
  uint8_t anonymous;         /* the call is not signed */
  slp_str secret;            /* the part of the body that no message may repeat; {NULL, 0}: none */
  /* secrets are kept until a cancel or free, because the owner reads on after the call */
  uint8_t keeps_secrets;
  slp_buf *into; /* gets the answer; cleared before each try */
  uint32_t total_ms_max;
  /* 1: the owner repeats calls itself. More: the limit if AWS_MAX_ATTEMPTS is not set */
  uint32_t tries_max;
  uint8_t once;                                 /* the request must not reach the server twice */
  uint8_t paced;                                /* the owner repeats a throttled call itself */
  int (*may_grow)(slp_http *http, size_t more); /* PURE; NULL: always */
  /* PURE, see slp_http.on_piece. Sets `begun` if it has begun to read the answer. NULL: not called. */
  void (*on_piece)(slp_http *http);
  uint8_t begun; /* 0 at the beginning of each try */
  /* Called in a turn while the answer grows, whatever its status. May take bytes off `into`. NULL: not
   * called. */
  void (*on_more)(struct slp_call *c);
  /* Called first for each answer with a status. Returns 1 if it has changed the request, which is then sent
   * again at once without being counted. NULL: not called. */
  int (*reroute)(struct slp_call *c);
  /* Called for status 200. Reads the body, now or in later turns, and calls slp_call_good, slp_call_bad or
   * slp_call_again. */
  void (*on_body)(struct slp_call *c);
  void (*on_done)(struct slp_call *c); /* called once, in a turn; c is the owner's again */

  slp_fail fail;      /* out */
  uint32_t tries;     /* out */
  uint32_t throttles; /* out: how many tries were throttled */
  slp_http http;      /* out: times and answer of the last try */

  slp_call_state state;
  slp_event ev;
  slp_timer timer;
  slp_wait wait;
  slp_buf secrets; /* token, secret key and Authorization of this try; wiped when its answer was handled */
  size_t token_n, key_n;
  slp_http_header headers[SLP_CALL_HEADERS];
  char date[17];
  char account_url[SLP_ACCOUNT_HOST_MAX + 10]; /* where this try goes; "": to the endpoint */
  uint64_t turn_us;                            /* when the quota lets this try go; 0: not asked yet */
  int64_t signed_ms;                           /* the time in the signature */
  int64_t signed_wall_ms;                      /* the machine's clock at that time */
  uint64_t serial;                             /* which keys it was signed with */
  uint8_t free_try;                            /* this try is a remedy, so it does not count */
  uint8_t keys_tried, stale_tried;             /* each remedy is tried once in a call */
  uint8_t clock_fixed; /* the last answer refused the request's time, and the clock was corrected by it */
  uint8_t late_tried;  /* how many refusals for the time were read late */
} slp_call;

void slp_call_init(slp_call *c, slp_aws *aws); /* zeroes */
void slp_call_send(slp_call *c);
/* Ends a call without sending it. */
void slp_call_refuse(slp_call *c, slp_class class, int code, const char *why);
/* Stops the call: on_done will not run. May be called when idle. */
void slp_call_cancel(slp_call *c);
void slp_call_free(slp_call *c); /* when idle; frees its memory */

/* Called in or after on_body. c must not be used after that. */
void slp_call_good(slp_call *c);
/* counts as a failed try, and may be tried again */
void slp_call_bad(slp_call *c, slp_class class, int code, const char *why);
void slp_call_again(slp_call *c); /* the request was changed: sent again at once, not counted */

/* Returns what was sent and must not appear in any message. c->fail does not contain it. */
slp_secrets slp_call_secrets(const slp_call *c);

#endif
