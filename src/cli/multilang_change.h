/* multilang_change.h - a change of a table as the child of a shard gets it. The text is what Amazon's
 * StreamsMultiLangDaemon gives its children: RecordAdapter.getData() of dynamodb-streams-kinesis-adapter 1.x.
 * It differs from what the service sends in two places, and this file knows only those. */
#ifndef SLP_CLI_MULTILANG_CHANGE_H
#define SLP_CLI_MULTILANG_CHANGE_H

#include "base/buf.h"

/* Appends the JSON of the whole record. whole: as the service sent it; its reader has found it to be JSON.
 * Returns as slp_buf_add(); SLP_EBADDATA is recorded in b when whole is no JSON object. */
int slp_ml_put_change(slp_buf *b, slp_str whole);

#endif
