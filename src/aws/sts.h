/* sts.h - AssumeRole and AssumeRoleWithWebIdentity, one request at a time. The request is signed with the
 * given keys, or not signed. slp_call repeats it, corrects the clock and handles errors. */
#ifndef SLP_AWS_STS_H
#define SLP_AWS_STS_H

#include "aws/aws.h"
#include "aws/call.h"
#include "aws/sigv4.h"
#include "base/buf.h"

typedef struct slp_sts {
  /* The caller sets these members. The memory to which they point is borrowed until the request is over.
   * session NULL: a name is generated. external_id NULL: none is sent. */
  const char *role_arn, *session, *external_id;
  /* lifetime of the new keys in seconds, as text; NULL: the default of STS */
  const char *duration_s;
  const char *mfa_serial, *mfa_code; /* id of the MFA device and its code; NULL: the role needs none */
  /* the token of another identity provider; if it is given, the request is AssumeRoleWithWebIdentity, which
   * is not signed */
  slp_str web_token;
  slp_sign_keys sign_with;
  void (*on_done)(struct slp_sts *s); /* called once, in a turn */

  /* The outcome: call.fail, and `keys` if call.fail is SLP_FINE. */
  slp_aws_keys keys; /* valid until the next send, cancel or free */

  slp_call call;
  slp_buf body, answer, text;
  slp_aws_keys ready; /* the keys of an answer that has been read; they become `keys` when the call ends */
} slp_sts;

void slp_sts_init(slp_sts *s, slp_aws *aws);
/* Sends the request. on_done runs in a later turn. */
void slp_sts_send(slp_sts *s);
void slp_sts_cancel(slp_sts *s); /* wipes everything; may be called when idle */
void slp_sts_free(slp_sts *s);   /* cancels, then frees what s owns */
const char *slp_sts_action(const slp_sts *s);
int slp_sts_passes(const slp_sts *s); /* returns 1 if the failure may pass by itself */

#endif
