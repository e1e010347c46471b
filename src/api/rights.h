/* rights.h - finds out which rights the user has, by calls that change nothing. A call is sent with DryRun if
 * the service offers that; otherwise only calls that read are sent. A right that can't be tried in this way
 * is not tried. */
#ifndef SLP_API_RIGHTS_H
#define SLP_API_RIGHTS_H

#include "base/fail.h"
#include <sloop.h>

typedef enum {
  SLP_RIGHT_ALLOWED = 1,
  SLP_RIGHT_DENIED,  /* the service denied the call */
  SLP_RIGHT_UNTRIED, /* no call that changes nothing can show whether the user has the right */
  SLP_RIGHT_UNKNOWN  /* the call failed for another reason than rights */
} slp_right_verdict;

#define SLP_RIGHT_WHY 480

typedef struct slp_right {
  /* Input, like `of` and `consumer`; borrowed. The name of the right, such as "kinesis:GetRecords". */
  const char *action;
  /* The stream or table: "orders", "dynamodb:t", or an ARN. All rights for one stream or table must follow
   * each other, because a call needs what an earlier answer contained. */
  const char *of;
  const char *consumer;      /* name or ARN of a registered consumer; NULL: no registered consumer is used */
  uint8_t leases;            /* input: 1 if the table is reached by the endpoint of the leases */
  slp_right_verdict verdict; /* output */
  /* output: what the service answered, or why the right was not tried; "": neither applies */
  char why[SLP_RIGHT_WHY];
} slp_right;

typedef struct slp_rights slp_rights;
/* Called when all rights were tried; the class of f is then SLP_FINE. Otherwise f says why the tries ended
 * early: there were no credentials, or no answer came; rights that were not tried then have no verdict. The
 * callback may call slp_rights_free. */
typedef void (*slp_rights_fn)(slp_rights *t, const slp_fail *f, void *arg);

/* Begins to try the rights, with the credentials, the region and the endpoints of s. `s` and `rights` are
 * borrowed until slp_rights_free. on_done is called later. Returns 0 or SLP_ENOMEM. */
int slp_rights_new(slp_rights **ret, sloop_t *s, slp_right *rights, size_t n, slp_rights_fn on_done,
                   void *arg);
/* Frees t; t may be NULL. If rights are still being tried, ends that without calling on_done. */
void slp_rights_free(slp_rights *t);

#endif
