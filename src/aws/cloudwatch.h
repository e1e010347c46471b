/* cloudwatch.h - sends values to CloudWatch (PutMetricData). One call carries many values: it is filled until
 * the service's limits are reached, then sent. Only one call is in flight at a time. */
#ifndef SLP_AWS_CLOUDWATCH_H
#define SLP_AWS_CLOUDWATCH_H

#include "aws/aws.h"
#include "aws/json_op.h"
#include "base/fail.h"

/* Limits of one call: "limited to 1 MB in size" and "no more than 1000 different metrics" (botocore 1.43.11,
 * service model monitoring 2010-08-01, PutMetricData). */
#define SLP_CLOUDWATCH_DATA_MAX 1000u
#define SLP_CLOUDWATCH_BODY_MAX 1000000u
/* Limits of texts (botocore 1.43.11, service model monitoring 2010-08-01): Namespace, MetricName and
 * DimensionName have 1..255 characters, DimensionValue 1..1024. */
#define SLP_CLOUDWATCH_NAME_MAX 255u
#define SLP_CLOUDWATCH_VALUE_MAX 1024u
/* most dimensions of one value that this program sends; CloudWatch accepts 30 */
#define SLP_CLOUDWATCH_DIMENSIONS_MAX 4u

typedef struct slp_cw_dimension {
  const char *name;
  slp_str value;
} slp_cw_dimension;

typedef struct slp_cw_datum {
  /* unit: one of CloudWatch's units, such as "Count" (StandardUnit in its service model) */
  const char *name, *unit;
  uint64_t value; /* the datum is value * 10^-decimals */
  unsigned decimals;
  size_t dimensions_n;
  slp_cw_dimension dimensions[SLP_CLOUDWATCH_DIMENSIONS_MAX];
} slp_cw_datum;

typedef struct slp_cw_put {
  void (*on_done)(struct slp_cw_put *p); /* set by the owner before sending; called once, in a turn */
  slp_fail fail;                         /* out: the outcome of the call; class SLP_FINE: success */
  size_t data_n;                         /* number of values in the call */
  int64_t at_ms;                         /* the time of all data in the call */
  slp_json_op op;
} slp_cw_put;

/* Returns NULL if the namespace is valid, otherwise a static text that says why CloudWatch would refuse
 * it. */
const char *slp_cw_namespace_wrong(slp_str ns);

void slp_cw_put_init(slp_cw_put *p,
                     slp_aws *aws); /* makes p idle, without a call; its owner must hold a reference on aws */
/* Prepares a call without data. Returns 0, or SLP_EBADDATA if the namespace is not UTF-8. */
int slp_cw_put_begin(slp_cw_put *p, slp_str ns, int64_t at_ms);
/* Adds a datum to the call. Returns 0 or SLP_ENOMEM. Returns SLP_MORE if the call is full: the caller sends
 * it, and adds the datum to the next call. Returns SLP_EBADDATA if CloudWatch would refuse the datum, because
 * a dimension is empty, too long or not UTF-8; the datum is then left out. */
int slp_cw_put_add(slp_cw_put *p, const slp_cw_datum *d);
/* Sends the call. on_done runs in a later turn, with the outcome in p->fail. */
void slp_cw_put_send(slp_cw_put *p);
/* on_done will not be called; may be called when no call is in flight */
void slp_cw_put_cancel(slp_cw_put *p);
void slp_cw_put_free(slp_cw_put *p); /* frees what p owns; no call may be in flight */

#endif
