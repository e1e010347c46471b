/* dynamo.h - a store (lease/store.h) that keeps leases in a DynamoDB table. */
#ifndef SLP_STORE_DYNAMO_H
#define SLP_STORE_DYNAMO_H

#include "aws/aws.h"
#include "host/host.h"
#include "lease/store.h"

/* Creates a store for the table that `table` describes. The store holds a reference to aws, and copies the
 * names in `table`. No request is sent. Returns 0 or SLP_ENOMEM. */
int slp_dynamo_store(slp_store **ret, slp_host *h, slp_aws *aws, const slp_table_spec *table);

#endif
