/* page_quick.h - reads one record of a page in the shape the service writes, in one pass: nearly all bytes
 * of a stream are such records. The pull readers take, and judge, everything unusual. */
#ifndef SLP_CODEC_PAGE_QUICK_H
#define SLP_CODEC_PAGE_QUICK_H

#include "codec/page.h"

/* Reads the record whose map begins at `at` of the n bytes at p. 1: *rec is filled and *ret_end is behind it,
 * as the pull reader would have done. 0: not of the plain shape; nothing is said about whether it is valid,
 * and *rec may be anything. */
int slp_page_quick_cbor(const char *p, size_t n, size_t at, slp_rec *rec, size_t *ret_end);
/* The same of JSON, with Data decoded in its place. 0: the bytes are as they were. A record that does not
 * end before n is not of the plain shape, so n bounds the work. */
int slp_page_quick_json(char *p, size_t n, size_t at, slp_rec *rec, size_t *ret_end);

#endif
