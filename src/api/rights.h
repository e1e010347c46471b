/* rights.h - tries rights, one call after the other, by calls that change nothing. These have DryRun where
 * the service offers it, and only read elsewhere. A right that can't be tried like this is not tried. */
#ifndef SLP_API_RIGHTS_H
#define SLP_API_RIGHTS_H

#include "base/fail.h"
#include <sloop.h>

typedef enum {
  SLP_RIGHT_ALLOWED = 1,
  SLP_RIGHT_DENIED,  /* the service said so */
  SLP_RIGHT_UNTRIED, /* no harmless call can show it */
  SLP_RIGHT_UNKNOWN  /* the call failed for another reason */
} slp_right_verdict;

#define SLP_RIGHT_WHY 480

typedef struct slp_right {
  const char *action; /* input, as the next two: "kinesis:GetRecords"; borrowed */
  /* the stream or table: "orders", "dynamodb:t", or an ARN. Rights for the same one stand together, since a
   * call needs what the one before brought */
  const char *of;
  const char *consumer;      /* a registered consumer, by name or ARN; NULL: no registered consumer is used */
  uint8_t leases;            /* input: the table is at the endpoint of the leases */
  slp_right_verdict verdict; /* output */
  char why[SLP_RIGHT_WHY];   /* output: what the service said, or why the right was not tried; "": nothing */
} slp_right;

typedef struct slp_rights slp_rights;
/* Called when all rights were tried. Otherwise f tells why that ended before: no keys, or no answer; the
 * rights that are left then have no verdict. It may call slp_rights_free. */
typedef void (*slp_rights_fn)(slp_rights *t, const slp_fail *f, void *arg);

/* Starts with the keys, the region and the endpoints of s. `s` and `rights` are borrowed until
 * slp_rights_free. 0 or SLP_ENOMEM. on_done is called later. */
int slp_rights_new(slp_rights **ret, sloop_t *s, slp_right *rights, size_t n, slp_rights_fn on_done,
                   void *arg);
/* NULL is allowed; while rights are being tried too, and on_done is then not called */
void slp_rights_free(slp_rights *t);

#endif
