/* fail.h - how an operation on a service failed: what the caller can do about it, and the detail that an
 * operator needs. Travels from aws/ through source/ and core/ to the user's on_error. */
#ifndef SLP_BASE_FAIL_H
#define SLP_BASE_FAIL_H

#include "base/base.h"

typedef enum slp_class {
  SLP_FINE = 0,  /* it succeeded */
  SLP_THROTTLE,  /* the service asked us to slow down: same again, later */
  SLP_TRANSIENT, /* network, 5xx, cut or unreadable answer: same again, later */
  SLP_EXPIRED,   /* the iterator or next token is too old: get a new one */
  SLP_GONE,      /* ResourceNotFound: stream, shard or consumer is not there (or not any more) */
  SLP_BUSY,      /* ResourceInUse: the stream is being created or changed */
  SLP_TRIMMED,   /* the position is older than what is kept */
  SLP_AUTH,      /* no, bad or expired credentials; signature refused */
  SLP_ACCESS,    /* this identity may not do that (IAM, KMS) */
  SLP_REFUSED,   /* the request itself is wrong: the same again fails again */
  SLP_CANCELED,  /* we cancelled it */
  SLP_NOMEM      /* there was no memory */
} slp_class;

typedef struct slp_fail {
  slp_class class;
  int code;                /* 0, SLOOP_E* or UV_E* (-errno) */
  int http_status;         /* 0: no answer came */
  uint64_t retry_after_us; /* how long the service asked us to wait; 0: it did not */
  char aws_code[80];       /* "ExpiredIteratorException", or "" */
  char request_id[80];     /* or "" */
  char message[320];       /* one line, printable, no secrets */
} slp_fail;

void slp_fail_clear(slp_fail *f);
/* Sets class, code and message, and leaves the rest. Returns code. Unsafe characters become '?' (clean.h). */
int slp_fail_set(slp_fail *f, slp_class class, int code, const char *fmt, ...) SLP_PRINTF(4, 5);
/* Returns 1 if trying again later will not help: no such thing, no identity, not allowed, or a wrong
 * request. */
int slp_class_lasts(slp_class class);
const char *slp_class_name(slp_class class); /* "throttle", "transient", ... */

#endif
