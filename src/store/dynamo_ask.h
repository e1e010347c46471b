/* dynamo_ask.h - requests to DynamoDB in JSON. Every attribute's name goes through a placeholder: many short
 * words are reserved. Pure; each appends to an empty buffer: 0, SLP_ENOMEM, SLP_ELIMIT, SLP_EBADDATA (a text
 * that is not UTF-8). */
#ifndef SLP_STORE_DYNAMO_ASK_H
#define SLP_STORE_DYNAMO_ASK_H

#include "base/buf.h"
#include "lease/store.h"

int slp_dynamo_ask_describe(slp_buf *b, const slp_table_spec *t);
int slp_dynamo_ask_create(slp_buf *b, const slp_table_spec *t);
/* GetItem for one key, BatchGetItem for more. */
int slp_dynamo_ask_get(slp_buf *b, const slp_table_spec *t, const slp_store_get *g);
int slp_dynamo_ask_rest(
    slp_buf *b, slp_str unprocessed); /* BatchGetItem for the keys that the answer before left unprocessed */
/* Query, or Scan of a table without a range key. from: LastEvaluatedKey of the page before, as JSON; empty:
 * first. */
int slp_dynamo_ask_list(slp_buf *b, const slp_table_spec *t, const slp_store_list *l, slp_str from);
int slp_dynamo_ask_write(slp_buf *b, const slp_table_spec *t, const slp_store_write *w);

#endif
