/* item.h - reads and writes rows in DynamoDB's JSON: {"name":{"S":"text"},...}. The service's answers and our
 * SQLite files have this form. Reading changes the text in place. Pure. */
#ifndef SLP_STORE_ITEM_H
#define SLP_STORE_ITEM_H

#include "codec/json.h"
#include "codec/json_write.h"
#include "lease/store.h"

/* At most this many attributes of a row, and members of all its sets together; a row with more is refused
 * (SLP_ELIMIT). An item of 400 KB can have some 100,000 one-byte names; a lease has 20. */
#define SLP_ITEM_ATTRS_MAX 4096u

/* Reads an item and adds it to `rows` as a row that does not point into the text. Returns 1, 0 if the item
 * was null, or SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM. */
int slp_item_read(slp_json *j, slp_store_rows *rows);
int slp_item_read_rest(slp_json *j, slp_store_rows *rows); /* the same when its '{' was read already */

/* Writes a member. The buffer fails with SLP_EBADDATA for a text that is not UTF-8, or a value that can't be
 * written (NONE). */
void slp_val_put(slp_jw *w, slp_str name, const slp_val *v);
/* Appends the attributes as an object. Returns 0, SLP_EBADDATA, SLP_ENOMEM or SLP_ELIMIT. */
int slp_attrs_put(slp_buf *b, const slp_attr *attrs, size_t n);

#endif
