/* rights.h - tries rights, one call after the other, by calls that change nothing: with DryRun where the
 * service has it, and by calls that only read elsewhere. What can't be tried so is not tried. */
#ifndef SLP_API_RIGHTS_H
#define SLP_API_RIGHTS_H

#include "base/fail.h"
#include <sloop.h>

typedef enum {
  SLP_RIGHT_ALLOWED = 1,
  SLP_RIGHT_DENIED,  /* the service said so */
  SLP_RIGHT_UNTRIED, /* no harmless call shows it */
  SLP_RIGHT_UNKNOWN  /* the call failed for another reason */
} slp_right_verdict;

#define SLP_RIGHT_WHY 480

typedef struct slp_right {
  const char *action;   /* in, as the next two: "kinesis:GetRecords"; borrowed */
  const char *of;       /* the stream or table: "orders", "dynamodb:t", or an ARN. Rights of one thing follow
                           each other: what one call brings, the next one needs */
  const char *consumer; /* a registered consumer, by name or ARN; NULL: none is read by */
  uint8_t leases;       /* in: the table is at the endpoint of leases */
  slp_right_verdict verdict; /* out */
  char why[SLP_RIGHT_WHY];   /* out: what the service said, or why it was not tried; "": nothing */
} slp_right;

typedef struct slp_rights slp_rights;
/* The rights were tried; or f says why that ended before all were: no keys, no answer. The others have no
 * verdict then. Calls slp_rights_free, which may be done in it. */
typedef void (*slp_rights_fn)(slp_rights *t, const slp_fail *f, void *arg);

/* Begins; with the keys, the region and the endpoints of s, which is borrowed, as the rights are, until
 * slp_rights_free. 0 or SLP_ENOMEM. on_done comes later. */
int slp_rights_new(slp_rights **ret, sloop_t *s, slp_right *rights, size_t n, slp_rights_fn on_done,
                   void *arg);
void slp_rights_free(slp_rights *t); /* NULL, and while it is under way, is fine: on_done will not run */

#endif
