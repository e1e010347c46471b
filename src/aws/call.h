/* call.h - one call to a service, with all its tries. It finds the endpoint and the credentials, signs,
 * sends, classifies the answer, checks its checksum, tries remedies and waits between tries. It knows no
 * operation: the owner writes the request and reads the answer. on_done ends the call. Owners are
 * service.c (typed ops), json_op.c, sts.c and subscribe.c. Only fetch.c sends HTTP requests without a call,
 * because its answers are the keys that a call needs.
 *
 *   IDLE -> SETTLING                   slp_call_send: what does the next try need?
 *   SETTLING -> WAITING_SETUP          it needs the endpoint; then SETTLING again
 *   SETTLING -> WAITING_KEYS           it needs the keys; then SETTLING again
 *   SETTLING -> PAUSING                it needs a place in the account's quota; then SETTLING again
 *   SETTLING -> SENT                   it needs nothing more, and is sent
 *   SENT -> READING                    status 200: the owner reads the body, in slices if it is long
 *   READING -> IDLE                    slp_call_good: on_done is called
 *   SENT, READING -> SETTLING          after a remedy, or slp_call_again
 *   SENT, READING -> PAUSING           the try failed, and another one follows after a back-off
 *   IDLE -> ENDING                     slp_call_refuse
 *   SETTLING, SENT, READING -> ENDING  the call failed
 *   ENDING -> IDLE                     on_done is called, in a later turn, because slp_call_send may still be
 *                                      on the stack
 *   any state -> IDLE                  slp_call_cancel
 *
 * A "try" is one request. A "remedy" removes the cause of a refusal, such as old keys or a wrong clock; the
 * call is then sent again at once. */
#ifndef SLP_AWS_CALL_H
#define SLP_AWS_CALL_H

#include "aws/aws.h"
#include "aws/endpoint.h"
#include "aws/hide.h"
#include "aws/profile.h"
#include "aws/sigv4.h"
#include "base/buf.h"
#include "base/fail.h"
#include "host/host.h"

#define SLP_CALL_HEADERS 6

typedef enum {
  SLP_CALL_IDLE,
  SLP_CALL_SETTLING,
  SLP_CALL_WAITING_SETUP, /* waits for profile files */
  SLP_CALL_WAITING_KEYS,  /* waits for credentials */
  SLP_CALL_SENT,          /* the request is sent; waits for the answer */
  SLP_CALL_READING,       /* the answer has come; waits until the owner has read it */
  SLP_CALL_PAUSING,       /* waits for a timer: a back-off, or the account's quota */
  SLP_CALL_ENDING         /* waits for the turn in which on_done is called */
} slp_call_state;

/* What became of the keys of a call. FIRST -> REFUSED -> RENEWED; each call begins with FIRST. */
typedef enum {
  SLP_CALL_KEYS_FIRST,
  SLP_CALL_KEYS_REFUSED, /* the service refused the keys, and new ones were requested */
  SLP_CALL_KEYS_RENEWED  /* the call was sent with new keys; these are not replaced again */
} slp_call_keys;

typedef struct slp_call {
  /* The owner sets these members. The memory to which they point is borrowed until the call ends. `reroute`
   * may change the request. */
  slp_aws *aws;
  slp_svc svc;
  slp_lane lane;
  slp_str target, content_type, body; /* target absent: the header X-Amz-Target is not sent */
  /* how many calls of this operation the account may make in a second; 0: not limited */
  uint32_t quota_a_second;
  /* The account to which quota_a_second applies, as "REGION:ACCOUNT". {NULL, 0}: not known; then all calls to
   * the same endpoint and target are counted together. */
  slp_str quota_of;
  slp_str arn; /* an ARN in the request, if any; the call may go to the host of the ARN's account */
  const slp_sign_keys *keys; /* keys of the owner, which can't be renewed; NULL: the keys of aws */
  uint8_t anonymous;         /* 1: the call is not signed */
  slp_str secret;            /* the part of the body that no message may contain; {NULL, 0}: no part */
  /* 1: the secrets are kept until slp_call_cancel or slp_call_free, because the owner still reads the answer,
   * and may quote it, after the call has ended */
  uint8_t keeps_secrets;
  slp_buf *into; /* gets the body of the answer; cleared before each try */
  uint32_t total_ms_max;
  /* 1: one try, because the owner repeats calls itself. More: the most tries, if AWS_MAX_ATTEMPTS is not
   * set */
  uint32_t tries_max;
  /* 1: the request must not take effect twice, so it is not repeated after an unclear answer */
  uint8_t once;
  uint8_t paced; /* 1: the owner repeats a throttled call itself */
  /* PURE (host.h: called deep inside the transport, must not call the host): returns 1 if `into` may grow;
   * NULL: it may always */
  int (*may_grow)(slp_http *http, size_t more);
  /* PURE (host.h), see slp_http.on_piece. Sets `begun` if it starts to read the answer before the answer is
   * complete. May be NULL. */
  void (*on_piece)(slp_http *http);
  uint8_t begun; /* 1: on_piece has started to read; set to 0 before each try */
  /* Called in a turn while the body of the answer grows, whatever its status. May remove bytes from `into`.
   * May be NULL. */
  void (*on_more)(struct slp_call *c);
  /* Called first for each answer with a status. Returns 1 if it changed the request, which is then sent again
   * at once, and this does not count as a try. May be NULL. */
  int (*reroute)(struct slp_call *c);
  /* Called in state READING, with begin 1 for the first slice of the body. Reads the slice, and then calls
   * slp_call_more, slp_call_good, slp_call_bad, slp_call_unreadable or slp_call_again. */
  void (*on_body)(struct slp_call *c, int begin);
  void (*on_done)(struct slp_call *c); /* called once, in a turn, when the call is over; may free c */

  slp_fail fail;      /* out: the outcome; class SLP_FINE: success */
  uint32_t tries;     /* out: how many tries were made */
  uint32_t throttles; /* out: how many tries were throttled */
  slp_http http;      /* out: the times and the answer of the last try */

  slp_call_state state;
  slp_event ev;  /* posted in state READING: reads the next slice; in state ENDING: calls on_done */
  size_t body_n; /* how many bytes the body of the last answer had, before its reader changed it */
  uint32_t sum;  /* the CRC-32 of the first sum_at bytes of the answer */
  size_t sum_at;
  slp_timer timer;
  slp_wait wait;
  /* session token, secret key and Authorization of this try; wiped when its answer has been handled */
  slp_buf secrets;
  size_t token_n, key_n;
  slp_http_header headers[SLP_CALL_HEADERS];
  char date[17];
  /* the URL for this try if the account has a host of its own; "": the endpoint's URL */
  char account_url[SLP_ACCOUNT_HOST_MAX + 10];
  /* when the account's quota lets this try be sent; 0: the quota was not asked yet */
  uint64_t turn_us;
  int64_t signed_ms;      /* the time with which this try was signed */
  int64_t signed_wall_ms; /* the machine's clock when this try was signed */
  uint64_t serial;        /* identifies the keys with which this try was signed */
  uint8_t free_try;       /* 1: the next try follows a remedy, so it is not counted */
  slp_call_keys keys_are;
  uint8_t stale_tried; /* 1: the call was sent again on a new connection, which is tried once in a call */
  /* 1: the last answer refused the request's time, and its header Date was used to correct the clock
   * offset */
  uint8_t clock_fixed;
  uint8_t late_tried; /* how many refusals of the request's time were read too late to correct the clock */
} slp_call;

void slp_call_init(slp_call *c, slp_aws *aws); /* makes c an idle call without a request */
/* Sends the call. on_done runs in a later turn, also if the call can't be sent. */
void slp_call_send(slp_call *c);
/* Fails a call that is not sent. on_done runs in a later turn. */
void slp_call_refuse(slp_call *c, slp_class class, int code, const char *why);
/* Stops the call: on_done will not be called. May be called when the call is idle. */
void slp_call_cancel(slp_call *c);
void slp_call_free(slp_call *c); /* frees what c owns; the call must be idle */

/* on_body calls one of the functions from here to slp_call_again, and must not use c afterwards. */
void slp_call_good(slp_call *c); /* ends the call with success */
/* Ends the try as failed, after which the call may try again. */
void slp_call_bad(slp_call *c, slp_class class, int code, const char *why);
/* Ends the try as failed, because its answer can't be read. r SLP_ENOMEM: there was no memory to read it.
 * Otherwise `why` is the message. */
void slp_call_unreadable(slp_call *c, int r, const char *why);
void slp_call_damaged(slp_call *c); /* ends the try as failed: wrong checksum */
void slp_call_more(slp_call *c);    /* makes on_body run again in a later turn, for the next slice */
/* sends the request, which the owner has changed, again at once; this does not count as a try */
void slp_call_again(slp_call *c);

/* DynamoDB sends the CRC-32 of a body. This function adds up to bytes_max more bytes of the answer to our own
 * CRC-32. Called in on_body or `reroute`, before a reader changes these bytes. Returns 1 if the sum includes
 * the whole body and differs from DynamoDB's. */
int slp_call_is_damaged(slp_call *c, size_t bytes_max);

/* Returns the secrets that were sent and that no message may contain. They have been removed from c->fail
 * already. */
slp_secrets slp_call_secrets(const slp_call *c);

#endif
