/* sts.h - AssumeRole and AssumeRoleWithWebIdentity. One request at a time, signed with the given keys or not
 * at all; slp_call handles tries, clock and errors. */
#ifndef SLP_AWS_STS_H
#define SLP_AWS_STS_H

#include "aws/call.h"

typedef struct slp_sts {
  /* Set by the caller; borrowed until the end. */
  const char *role_arn, *session, *external_id; /* session NULL: a name of our own; external_id NULL: none */
  const char *duration_s;                       /* NULL: the service's default */
  const char *mfa_serial, *mfa_code;            /* NULL: none */
  slp_str web_token;                            /* if it is given, the request is not signed */
  slp_sign_keys sign_with;
  void (*on_done)(struct slp_sts *s); /* called once, in a turn */

  /* The answer: call.fail and, if that is SLP_FINE, keys. */
  slp_aws_keys keys; /* valid until the next send, cancel or free */

  slp_call call;
  slp_buf body, answer, text;
  slp_aws_keys ready; /* keys of an answer that could be read */
} slp_sts;

void slp_sts_init(slp_sts *s, slp_aws *aws);
void slp_sts_send(slp_sts *s);
void slp_sts_cancel(slp_sts *s); /* wipes everything; may be called when idle */
void slp_sts_free(slp_sts *s);   /* cancels first */
const char *slp_sts_action(const slp_sts *s);
int slp_sts_passes(const slp_sts *s); /* returns 1 if the failure may pass by itself */

#endif
