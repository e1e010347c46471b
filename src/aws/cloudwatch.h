/* cloudwatch.h - sends values to CloudWatch (PutMetricData), many in one call. A call is filled with data
 * until the service's limits are reached, then sent. One call at a time. */
#ifndef SLP_AWS_CLOUDWATCH_H
#define SLP_AWS_CLOUDWATCH_H

#include "aws/json_op.h"

/* Limits of one call: "limited to 1 MB in size" and "no more than 1000 different metrics" (botocore 1.43.11,
 * service model monitoring 2010-08-01, PutMetricData). */
#define SLP_CLOUDWATCH_DATA_MAX 1000u
#define SLP_CLOUDWATCH_BODY_MAX 1000000u
/* The same model: shapes Namespace, MetricName and DimensionName 1..255, DimensionValue 1..1024. */
#define SLP_CLOUDWATCH_NAME_MAX 255u
#define SLP_CLOUDWATCH_VALUE_MAX 1024u
#define SLP_CLOUDWATCH_DIMENSIONS_MAX 4u /* how many this program uses; the service takes 30 */

typedef struct slp_cw_dimension {
  const char *name;
  slp_str value;
} slp_cw_dimension;

typedef struct slp_cw_datum {
  const char *name, *unit; /* unit: one of the model's StandardUnit */
  uint64_t value;          /* times 10^-decimals */
  unsigned decimals;
  size_t dimensions_n;
  slp_cw_dimension dimensions[SLP_CLOUDWATCH_DIMENSIONS_MAX];
} slp_cw_datum;

typedef struct slp_cw_put {
  void (*on_done)(struct slp_cw_put *p); /* called once, in a turn; set it before sending */
  slp_fail fail;                         /* out */
  size_t data_n;                         /* data in the call */
  int64_t at_ms;                         /* time of all its data */
  slp_json_op op;
} slp_cw_put;

/* Returns why the service would refuse the namespace, as static text, or NULL. */
const char *slp_cw_namespace_wrong(slp_str ns);

void slp_cw_put_init(slp_cw_put *p, slp_aws *aws); /* zeroes p; the owner holds aws */
/* Begins an empty call. Returns 0 or SLP_EBADDATA if the namespace is not UTF-8. */
int slp_cw_put_begin(slp_cw_put *p, slp_str ns, int64_t at_ms);
/* Adds a datum. Returns 0; SLP_MORE if the call is full: send it, and add the datum to the next one;
 * SLP_EBADDATA if the service would refuse the datum (a dimension is empty, too long or not UTF-8), which is
 * then left out; or SLP_ENOMEM. */
int slp_cw_put_add(slp_cw_put *p, const slp_cw_datum *d);
void slp_cw_put_send(slp_cw_put *p);
void slp_cw_put_cancel(slp_cw_put *p); /* on_done will not run; may be called when nothing is sent */
void slp_cw_put_free(slp_cw_put *p);   /* only when nothing is sent */

#endif
