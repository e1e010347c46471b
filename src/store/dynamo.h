/* dynamo.h - keeps leases in a DynamoDB table. */
#ifndef SLP_STORE_DYNAMO_H
#define SLP_STORE_DYNAMO_H

#include "aws/aws.h"
#include "lease/store.h"

/* Makes a store on one table. Holds a reference on aws and copies the names. Does no I/O. Returns 0 or
 * SLP_ENOMEM. */
int slp_dynamo_store(slp_store **ret, slp_host *h, slp_aws *aws, const slp_table_spec *table);

#endif
