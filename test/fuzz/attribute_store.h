/* attribute_store.h - the stores' half of fuzz_attribute.c: their names and the sandbox's don't go together.
 */
#ifndef SLP_TEST_FUZZ_ATTRIBUTE_STORE_H
#define SLP_TEST_FUZZ_ATTRIBUTE_STORE_H

#include "base/buf.h"

/* Reads the text with the stores' reader of items: 1, and the item is written again into `written`, with as
 * many attributes as *ret_n; else the reader's error. *ret_plain: the texts and bytes in it, one after the
 * other. */
int attribute_store_read(slp_mem *mem, slp_str text, slp_buf *written, slp_buf *plain, size_t *ret_n);

#endif
