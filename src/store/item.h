/* item.h - reads and writes rows in DynamoDB's JSON: {"name":{"S":"text"},...}. DynamoDB's answers and our
 * SQLite files have this form. Reading changes the text in place. The functions do no I/O. */
#ifndef SLP_STORE_ITEM_H
#define SLP_STORE_ITEM_H

#include "base/buf.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "lease/store.h"

/* SLP_ITEM_ATTRS_MAX: most attributes of a row, and most members of all its sets together. A row with more is
 * refused (SLP_ELIMIT). A DynamoDB item of 400 KB can have some 100,000 one-byte names; a lease has 20
 * attributes. */
#define SLP_ITEM_ATTRS_MAX 4096u

/* Reads an item and adds it to `rows`. The new row has memory of its own, and does not point into the text.
 * Returns 1 if a row was added, 0 if the item was null; otherwise SLP_EBADDATA, SLP_ELIMIT or SLP_ENOMEM. */
int slp_item_read(slp_json *j, slp_store_rows *rows);
/* like slp_item_read, for an item whose '{' has been read already */
int slp_item_read_rest(slp_json *j, slp_store_rows *rows);

/* Writes the member `name` with the value v. The buffer of w fails with SLP_EBADDATA if a text is not UTF-8,
 * or if v is of kind SLP_VAL_NONE, which has no JSON form. */
void slp_val_put(slp_jw *w, slp_str name, const slp_val *v);
/* Appends the attributes as one JSON object. Returns 0, SLP_EBADDATA, SLP_ENOMEM or SLP_ELIMIT. */
int slp_attrs_put(slp_buf *b, const slp_attr *attrs, size_t n);

#endif
