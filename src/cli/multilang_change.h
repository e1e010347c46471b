/* multilang_change.h - writes a change record of a DynamoDB table as text for a child process. The text is
 * the one that Amazon's StreamsMultiLangDaemon gives its children: RecordAdapter.getData() of
 * dynamodb-streams-kinesis-adapter 1.x. multilang_change.c lists the differences from the service's text. */
#ifndef SLP_CLI_MULTILANG_CHANGE_H
#define SLP_CLI_MULTILANG_CHANGE_H

#include "base/buf.h"

/* Appends the JSON text of a record. `whole` is the record as the service sent it; the reader of the page has
 * found it to be JSON. Returns 0, or the error of b: SLP_EBADDATA if `whole` is not a JSON object. */
int slp_ml_put_change(slp_buf *b, slp_str whole);

#endif
