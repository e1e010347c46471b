/* multilang_change.h - writes a change of a DynamoDB table as text for a child process. Amazon's
 * StreamsMultiLangDaemon gives its children the same text: RecordAdapter.getData() of
 * dynamodb-streams-kinesis-adapter 1.x. multilang_change.c lists how the text differs from the service's. */
#ifndef SLP_CLI_MULTILANG_CHANGE_H
#define SLP_CLI_MULTILANG_CHANGE_H

#include "base/buf.h"

/* Appends the JSON of the whole record. `whole` is the record as the service sent it, which was found to be
 * JSON when the page was read. Returns 0, or why b failed: SLP_EBADDATA if `whole` is no JSON object. */
int slp_ml_put_change(slp_buf *b, slp_str whole);

#endif
