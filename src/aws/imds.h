/* imds.h - talks to the metadata service of an EC2 machine. It first gets a session token (version 2 of the
 * service), and with this token fetches documents, one at a time. It never uses a proxy.
 *
 * AWS_EC2_METADATA_DISABLED is read from the environment only. AWS_EC2_METADATA_V1_DISABLED,
 * AWS_EC2_METADATA_SERVICE_ENDPOINT, AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE, AWS_METADATA_SERVICE_TIMEOUT
 * (seconds) and AWS_METADATA_SERVICE_NUM_ATTEMPTS are read from the environment, then from the profile, as in
 * botocore 1.44.8. In the profile, their names are in lower case and do not begin with "aws_". */
#ifndef SLP_AWS_IMDS_H
#define SLP_AWS_IMDS_H

#include "aws/aws.h"
#include "aws/fetch.h"
#include "aws/profile.h"
#include "base/buf.h"
#include "host/host.h"

typedef enum {
  SLP_IMDS_FINE,     /* fetch.answer has the document */
  SLP_IMDS_DISABLED, /* AWS_EC2_METADATA_DISABLED is set */
  SLP_IMDS_SILENT,   /* no answer, so this is not an EC2 machine; `why` names the address that was tried */
  SLP_IMDS_STARVED,  /* there was no memory */
  /* the service answered, but not with the document, or an address that the user set does not answer; see
   * `why` */
  SLP_IMDS_BROKEN
} slp_imds_result;

typedef struct slp_imds {
  slp_host *h;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  const slp_profile *profile; /* borrowed; read during slp_imds_get; NULL: only the environment is read */
  /* called once for each slp_imds_get, in a turn */
  void (*on_done)(struct slp_imds *m, slp_imds_result result);

  slp_fetch fetch;
  char why[300];
  /* The members from here on are private to imds.c. */
  char base[256]; /* the service's URL, which ends in a slash */
  char url[600];
  char path[256];
  slp_buf token;
  slp_event ev; /* reports a result for which no request is needed */
  slp_imds_result result;
  uint8_t configured; /* 1: the user set the service's address */
  uint8_t has_token, without_token;
} slp_imds;

void slp_imds_init(slp_imds *m, slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx,
                   const slp_profile *profile);
/* Fetches a document. `path` does not begin with a slash, as in "latest/meta-data/"; it is copied. */
void slp_imds_get(slp_imds *m, const char *path);
void slp_imds_end(slp_imds *m); /* ends the conversation, even during slp_imds_get; wipes token and answer */

#endif
