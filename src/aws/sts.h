/* sts.h - AssumeRole and AssumeRoleWithWebIdentity: one request at a time, signed with given keys or not at
 * all; slp_call does tries, clock and errors. */
#ifndef SLP_AWS_STS_H
#define SLP_AWS_STS_H

#include "aws/call.h"

typedef struct slp_sts {
  /* Set by the caller; borrowed until the end. */
  const char *role_arn, *session, *external_id; /* session NULL: one of our own; external_id NULL: none */
  const char *duration_s;                       /* NULL: the service's own */
  const char *mfa_serial, *mfa_code;            /* NULL: none */
  slp_str web_token;                            /* given: the request is not signed */
  slp_sign_keys sign_with;
  void (*on_done)(struct slp_sts *s); /* once, in a turn */

  /* The answer: call.fail, and when that is fine: */
  slp_aws_keys keys; /* valid until the next send, cancel or free */

  slp_call call;
  slp_buf body, answer, text;
  slp_aws_keys ready; /* of a readable answer */
} slp_sts;

void slp_sts_init(slp_sts *s, slp_aws *aws);
void slp_sts_send(slp_sts *s);
void slp_sts_cancel(slp_sts *s); /* wipes; idle is fine */
void slp_sts_free(slp_sts *s);   /* cancels */
const char *slp_sts_action(const slp_sts *s);
int slp_sts_passes(const slp_sts *s); /* 1: what failed it passes by itself */

#endif
