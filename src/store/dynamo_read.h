/* dynamo_read.h - reads DynamoDB's answers; strings in the text are unescaped in place. Returns the rows, the
 * key at which the next page starts, the consumed capacity, and the description of a table. */
#ifndef SLP_STORE_DYNAMO_READ_H
#define SLP_STORE_DYNAMO_READ_H

#include "base/buf.h"
#include "codec/json.h"
#include "lease/store.h"

/* Reads answers of GetItem, BatchGetItem, Query, Scan, PutItem, UpdateItem and DeleteItem, and the error
 * body of a write whose condition failed. One reader handles all of these answers, because a JSON member
 * has the same meaning in each of them. */
typedef struct slp_dynamo_reader {
  slp_json j;
  slp_store_rows *rows; /* the rows of the answer are added here; NULL: they are skipped */
  /* set to LastEvaluatedKey or UnprocessedKeys as JSON; stays empty if the answer has neither */
  slp_buf *rest;
  uint64_t units; /* out: the consumed capacity, in thousandths of a capacity unit */
  uint8_t begun, in_rows, nested;
} slp_dynamo_reader;
void slp_dynamo_reader_begin(slp_dynamo_reader *r, slp_str body, slp_store_rows *rows, slp_buf *rest);
/* Reads rows until at least bytes_max bytes of the body were read; stops only after a whole row. Returns 0 if
 * the whole answer was read, SLP_MORE if it must be called again; otherwise SLP_EBADDATA, SLP_ELIMIT or
 * SLP_ENOMEM, with the reason in r->j.why. */
int slp_dynamo_read(slp_dynamo_reader *r, size_t bytes_max);

typedef struct slp_dynamo_table {
  char status[40];
  char hash[256], range[256]; /* names of the key attributes; "": the table has no such key */
  uint8_t not_text;           /* 1: a key attribute is of another type than S (text) */
} slp_dynamo_table;
/* Reads an answer of DescribeTable. Returns 0, or an error with the reason in *why. */
int slp_dynamo_read_table(slp_str body, slp_dynamo_table *ret, const char **why);

#endif
