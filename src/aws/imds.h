/* imds.h - talks to the metadata service of an EC2 machine: asks for a session token (version 2), then for
 * one document after the other. Never through a proxy.
 *
 * AWS_EC2_METADATA_DISABLED is read from the environment. AWS_EC2_METADATA_V1_DISABLED,
 * AWS_EC2_METADATA_SERVICE_ENDPOINT, AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE, AWS_METADATA_SERVICE_TIMEOUT (s)
 * and AWS_METADATA_SERVICE_NUM_ATTEMPTS are read from the environment, then from the profile, as in botocore
 * 1.44.8. In the profile their names are in lower case and without aws_. */
#ifndef SLP_AWS_IMDS_H
#define SLP_AWS_IMDS_H

#include "aws/fetch.h"
#include "aws/profile.h"

typedef enum {
  SLP_IMDS_FINE,     /* fetch.answer has the document */
  SLP_IMDS_DISABLED, /* by AWS_EC2_METADATA_DISABLED */
  SLP_IMDS_SILENT,   /* no answer, so this is not an EC2 machine; `why` says where it was looked for */
  SLP_IMDS_STARVED,  /* no memory */
  SLP_IMDS_BROKEN    /* it answers without the document, or it is configured and does not answer; see `why` */
} slp_imds_result;

typedef struct slp_imds {
  slp_host *h;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  const slp_profile *profile; /* read during a get; borrowed. NULL: only the environment is read */
  void (*on_done)(struct slp_imds *m, slp_imds_result result); /* called once for each get, in a turn */

  slp_fetch fetch;
  char why[300];
  /* Private. */
  char base[256]; /* a URL that ends in a slash */
  char url[600];
  char path[256];
  slp_buf token;
  slp_event ev; /* reports a result that needs no request */
  slp_imds_result result;
  uint8_t configured; /* the user set the address */
  uint8_t has_token, without_token;
} slp_imds;

void slp_imds_init(slp_imds *m, slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx,
                   const slp_profile *profile);
/* `path` has no slash at its beginning, for example "latest/meta-data/"; copied. */
void slp_imds_get(slp_imds *m, const char *path);
void slp_imds_end(slp_imds *m); /* ends the conversation, even during a get; wipes token and answer */

#endif
