/* page_quick.h - reads one record of a page in one pass, if it has the shape that the service writes: nearly
 * all bytes of a stream are such records. Everything unusual is left to the pull readers, which also judge
 * it. */
#ifndef SLP_CODEC_PAGE_QUICK_H
#define SLP_CODEC_PAGE_QUICK_H

#include "codec/page.h"

/* Reads the record whose map begins at `at` of the n bytes at p. Returns 1 with *rec filled, as the pull
 * reader would have done, and *ret_end behind the record. Returns 0 if it is not of the plain shape: that
 * says nothing about whether it is valid, and *rec may be anything. */
int slp_page_quick_cbor(const char *p, size_t n, size_t at, slp_rec *rec, size_t *ret_end);
/* Does the same for JSON, with Data decoded in its place. If it returns 0, the bytes are as they were. A
 * record that does not end before n is not of the plain shape, so n bounds the work. */
int slp_page_quick_json(char *p, size_t n, size_t at, slp_rec *rec, size_t *ret_end);

#endif
