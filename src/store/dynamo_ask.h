/* dynamo_ask.h - writes DynamoDB's requests in JSON. Each attribute's name is replaced by a placeholder,
 * because many short words are reserved. Pure. Each function appends to an empty buffer and returns 0,
 * SLP_ENOMEM, SLP_ELIMIT, or SLP_EBADDATA for a text that is not UTF-8. */
#ifndef SLP_STORE_DYNAMO_ASK_H
#define SLP_STORE_DYNAMO_ASK_H

#include "base/buf.h"
#include "lease/store.h"

int slp_dynamo_ask_describe(slp_buf *b, const slp_table_spec *t);
int slp_dynamo_ask_create(slp_buf *b, const slp_table_spec *t);
/* Writes a GetItem for one key, a BatchGetItem for several. */
int slp_dynamo_ask_get(slp_buf *b, const slp_table_spec *t, const slp_store_get *g);
/* writes a BatchGetItem for the keys that the last answer left unprocessed */
int slp_dynamo_ask_rest(slp_buf *b, slp_str unprocessed);
/* Writes a Query, or a Scan for a table without a range key. `from` is the LastEvaluatedKey of the page
 * before, as JSON; empty for the first page. */
int slp_dynamo_ask_list(slp_buf *b, const slp_table_spec *t, const slp_store_list *l, slp_str from);
int slp_dynamo_ask_write(slp_buf *b, const slp_table_spec *t, const slp_store_write *w);

#endif
