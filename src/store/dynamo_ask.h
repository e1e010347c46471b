/* dynamo_ask.h - writes the JSON bodies of DynamoDB requests. Attribute names are sent as placeholders,
 * because DynamoDB reserves many short words. Does no I/O. Each function appends to an empty buffer, and
 * returns 0, SLP_ENOMEM, SLP_ELIMIT, or SLP_EBADDATA if a text is not UTF-8. */
#ifndef SLP_STORE_DYNAMO_ASK_H
#define SLP_STORE_DYNAMO_ASK_H

#include "base/buf.h"
#include "lease/store.h"

int slp_dynamo_ask_describe(slp_buf *b, const slp_table_spec *t);
int slp_dynamo_ask_create(slp_buf *b, const slp_table_spec *t);
/* Writes a GetItem request if g has one key, otherwise a BatchGetItem request. */
int slp_dynamo_ask_get(slp_buf *b, const slp_table_spec *t, const slp_store_get *g);
/* Writes a BatchGetItem request for the keys that the last answer left unprocessed. unprocessed: the object
 * UnprocessedKeys of that answer, as JSON. */
int slp_dynamo_ask_rest(slp_buf *b, slp_str unprocessed);
/* Writes a Query request, or a Scan request if the table has no range key. from: LastEvaluatedKey of the page
 * before, as JSON; empty for the first page. */
int slp_dynamo_ask_list(slp_buf *b, const slp_table_spec *t, const slp_store_list *l, slp_str from);
int slp_dynamo_ask_write(slp_buf *b, const slp_table_spec *t, const slp_store_write *w);

#endif
