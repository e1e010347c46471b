/* rights.h - finds out which rights the caller has, by calls that change nothing. A call is sent with DryRun
 * if the service offers it; otherwise only calls that read are sent. A right that can't be tried in this way
 * is not tried. */
#ifndef SLP_API_RIGHTS_H
#define SLP_API_RIGHTS_H

#include "base/fail.h"
#include <sloop.h>

typedef enum {
  SLP_RIGHT_ALLOWED = 1,
  SLP_RIGHT_DENIED,  /* the service denied the call */
  SLP_RIGHT_UNTRIED, /* no harmless call can show whether the right is given */
  SLP_RIGHT_UNKNOWN  /* the call failed for a reason other than rights */
} slp_right_verdict;

#define SLP_RIGHT_WHY 480

typedef struct slp_right {
  const char *action; /* input, like `of` and `consumer`: "kinesis:GetRecords"; borrowed */
  /* The stream or table: "orders", "dynamodb:t", or an ARN. Rights for the same stream or table must stand
   * next to each other, since a call needs what an earlier answer contained. */
  const char *of;
  const char *consumer;      /* a registered consumer, by name or ARN; NULL: no registered consumer is used */
  uint8_t leases;            /* input: the table is at the endpoint of the leases */
  slp_right_verdict verdict; /* output */
  /* output: what the service answered, or why the right was not tried; "": no text */
  char why[SLP_RIGHT_WHY];
} slp_right;

typedef struct slp_rights slp_rights;
/* Called when all rights were tried, with an f of class SLP_FINE. Otherwise f tells why the tries ended
 * early: there were no keys, or no answer came. Rights that were not tried have no verdict then. The callback
 * may call slp_rights_free. */
typedef void (*slp_rights_fn)(slp_rights *t, const slp_fail *f, void *arg);

/* Starts to try the rights with the credentials, the region and the endpoints of s. `s` and `rights` are
 * borrowed until slp_rights_free. Returns 0 or SLP_ENOMEM. on_done is called later. */
int slp_rights_new(slp_rights **ret, sloop_t *s, slp_right *rights, size_t n, slp_rights_fn on_done,
                   void *arg);
/* Frees t; t may be NULL. If rights are still being tried, that ends, and on_done is not called. */
void slp_rights_free(slp_rights *t);

#endif
