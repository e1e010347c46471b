/* dynamo_read.h - reads DynamoDB's answers in place: rows, where the next call goes on, the consumed
 * capacity; and the description of a table. */
#ifndef SLP_STORE_DYNAMO_READ_H
#define SLP_STORE_DYNAMO_READ_H

#include "codec/json.h"
#include "lease/store.h"

/* Reads answers of GetItem, BatchGetItem, Query, Scan, PutItem, UpdateItem and DeleteItem, and the error of a
 * refused write. One reader does for all, because a member means the same in each of them. */
typedef struct slp_dynamo_reader {
  slp_json j;
  slp_store_rows *rows; /* NULL: rows are skipped */
  slp_buf *rest;        /* gets LastEvaluatedKey or UnprocessedKeys as JSON; empty: the answer is complete */
  uint64_t units;       /* out: thousandths of a unit */
  uint8_t begun, in_rows, nested;
} slp_dynamo_reader;
void slp_dynamo_reader_begin(slp_dynamo_reader *r, slp_str body, slp_store_rows *rows, slp_buf *rest);
/* Reads rows until at least bytes_max bytes of the body are read, and ends after a whole row. Returns 0 when
 * all is read, SLP_MORE to be called again, or SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM with the reason in
 * r->j.why. */
int slp_dynamo_read(slp_dynamo_reader *r, size_t bytes_max);

typedef struct slp_dynamo_table {
  char status[40];
  char hash[256], range[256]; /* "": there is none */
  uint8_t not_text;           /* a key is not of type S */
} slp_dynamo_table;
/* reads DescribeTable's answer */
int slp_dynamo_read_table(slp_str body, slp_dynamo_table *ret, const char **why);

#endif
