/* fail.h - slp_fail: why an operation on a service failed. The class says what the caller can do about the
 * failure. The other members are details for an operator. A failure travels from aws/ through source/ and
 * core/ to the user's on_error. */
#ifndef SLP_BASE_FAIL_H
#define SLP_BASE_FAIL_H

#include "base/base.h"

typedef enum slp_class {
  SLP_FINE = 0,  /* the operation succeeded */
  SLP_THROTTLE,  /* the service wants fewer requests: repeat the request later */
  SLP_TRANSIENT, /* network error, status 5xx, cut or unreadable answer: repeat the request later */
  SLP_EXPIRED,   /* the iterator or next token is too old: get a new one */
  SLP_GONE,      /* ResourceNotFound: the stream, shard or consumer does not exist, or no longer exists */
  SLP_BUSY,      /* ResourceInUse: the stream is being created or changed */
  SLP_TRIMMED,   /* the position is older than the records that the stream still keeps */
  SLP_AUTH,      /* credentials missing, bad or expired; signature refused */
  SLP_ACCESS,    /* this identity may not make this request (IAM, KMS) */
  SLP_REFUSED,   /* the request itself is wrong: repeating it fails again */
  SLP_CANCELED,  /* the caller cancelled the operation */
  SLP_NOMEM      /* there was no memory */
} slp_class;

typedef struct slp_fail {
  slp_class class;
  int code;                /* 0: no error; otherwise SLOOP_E* or UV_E* (-errno) */
  int http_status;         /* status of the answer; 0: no answer came */
  uint64_t retry_after_us; /* the wait that the service asked for; 0: it asked for none */
  char aws_code[80];       /* the service's name of the error ("ExpiredIteratorException"), or "" */
  char request_id[80];     /* the service's id of the request, or "" */
  char message[320];       /* text for the operator: one line, printable, without secrets */
} slp_fail;

void slp_fail_clear(slp_fail *f);
/* Sets class, code and message, and leaves the other members unchanged. Unsafe characters of the message
 * become '?' (clean.h). Returns code. */
int slp_fail_set(slp_fail *f, slp_class class, int code, const char *fmt, ...) SLP_PRINTF(4, 5);
/* Returns 1 if repeating the request later can't help: SLP_GONE, SLP_AUTH, SLP_ACCESS and SLP_REFUSED. */
int slp_class_lasts(slp_class class);
const char *slp_class_name(slp_class class); /* returns "throttle", "transient", ... */

#endif
