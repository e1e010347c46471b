/* dynamo.h - leases in a table of DynamoDB. */
#ifndef SLP_STORE_DYNAMO_H
#define SLP_STORE_DYNAMO_H

#include "aws/aws.h"
#include "lease/store.h"

/* A handle on one table. Holds aws; copies the names. Does no I/O. SLP_ENOMEM. */
int slp_dynamo_store(slp_store **ret, slp_host *h, slp_aws *aws, const slp_table_spec *table);

#endif
