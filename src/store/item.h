/* item.h - reads in place, and writes, rows as DynamoDB writes them: {"name":{"S":"text"},...}. The service's
 * answers and our SQLite files have this form. Pure. */
#ifndef SLP_STORE_ITEM_H
#define SLP_STORE_ITEM_H

#include "codec/json.h"
#include "codec/json_write.h"
#include "lease/store.h"

/* Attributes of one row, and members of all its sets; a row that has more is refused (SLP_ELIMIT). An item of
 * 400 KB can hold some 100,000 one-byte names; a lease has 20. */
#define SLP_ITEM_ATTRS_MAX 4096u

/* Reads an item: one more row in `rows`, which shares nothing with the text. 1: read; 0: it was null;
 * SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM. */
int slp_item_read(slp_json *j, slp_store_rows *rows);
int slp_item_read_rest(slp_json *j, slp_store_rows *rows); /* its '{' was read */

/* Writes a member. SLP_EBADDATA in the buffer: a text that is not UTF-8, or a value that can't be written
 * (NONE). */
void slp_val_put(slp_jw *w, slp_str name, const slp_val *v);
/* Appends the attributes as an object. 0, SLP_EBADDATA, SLP_ENOMEM, SLP_ELIMIT. */
int slp_attrs_put(slp_buf *b, const slp_attr *attrs, size_t n);

#endif
