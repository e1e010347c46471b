/* dynamo_read.h - reads DynamoDB's answers in place: rows wherever they stand, the part left for another
 * call, the consumed capacity; and the description of a table. */
#ifndef SLP_STORE_DYNAMO_READ_H
#define SLP_STORE_DYNAMO_READ_H

#include "codec/json.h"
#include "lease/store.h"

/* Reads answers of GetItem, BatchGetItem, Query, Scan, PutItem, UpdateItem, DeleteItem, and the error of a
 * refused write: each of their members means the same wherever it comes. */
typedef struct slp_dynamo_reader {
  slp_json j;
  slp_store_rows *rows; /* NULL: rows are not wanted */
  slp_buf *rest;        /* gets LastEvaluatedKey or UnprocessedKeys as JSON; empty: that was all */
  uint64_t units;       /* out: thousandths */
  uint8_t begun, in_rows, nested;
} slp_dynamo_reader;
void slp_dynamo_reader_begin(slp_dynamo_reader *r, slp_str body, slp_store_rows *rows, slp_buf *rest);
/* Reads rows until bytes_max of the body are read, and the one begun. 0: all read; SLP_MORE: call again;
 * SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM (r->j.why). */
int slp_dynamo_read(slp_dynamo_reader *r, size_t bytes_max);

typedef struct slp_dynamo_table {
  char status[40];
  char hash[256], range[256]; /* "" when there is none */
  uint8_t not_text;           /* a key is no S */
} slp_dynamo_table;
int slp_dynamo_read_table(slp_str body, slp_dynamo_table *ret, const char **why); /* DescribeTable's */

#endif
