/* page_quick.h - reads one record of a page in one pass, if it is plain: of the form that the service writes,
 * as nearly all records of a stream are. All other records are left to the pull readers, which also decide
 * whether a record is valid. */
#ifndef SLP_CODEC_PAGE_QUICK_H
#define SLP_CODEC_PAGE_QUICK_H

#include "codec/page.h"

/* Reads the record whose map begins at p + at. Returns 1 with *rec filled as the pull reader would fill it,
 * and *ret_end behind the record. Returns 0 if the record is not plain, which does not say whether it is
 * valid; *rec may hold anything then. */
int slp_page_quick_cbor(const char *p, size_t n, size_t at, slp_rec *rec, size_t *ret_end);
/* Reads a record of JSON in the same way, and decodes the base64 of Data in place. If it returns 0, the bytes
 * are unchanged. A record that does not end before p + n is not plain, so n bounds the work. */
int slp_page_quick_json(char *p, size_t n, size_t at, slp_rec *rec, size_t *ret_end);

#endif
