/* page_changes.h - reads GetRecords' answer of DynamoDB Streams; page.c calls it for SLP_FORM_CHANGES.
 *
 * Key, data, the whole record and userIdentity are the JSON text as it came. Texts that are handed out as
 * text (sequence number, event, event id, next iterator) lie in the body as well. A text that was written
 * with escapes is put behind the answer, without them. */
#ifndef SLP_CODEC_PAGE_CHANGES_H
#define SLP_CODEC_PAGE_CHANGES_H

#include "codec/json.h"
#include "codec/page.h"

typedef struct slp_changes_reader {
  slp_page *page;
  const char *why;
  uint8_t place, field; /* which container and member are being read, see page_changes.c */
  uint8_t change_given; /* 1: the record has a `dynamodb` */
  uint8_t next_given;
  uint32_t skip_depth;      /* > 0: inside a value that is skipped */
  uint32_t span_at;         /* where the value that is skipped began */
  uint32_t next_at, next_n; /* the next iterator */
  slp_rec rec;              /* the record that is being read */
  slp_rec_change change;
  slp_json json;
} slp_changes_reader;

void slp_changes_begin(slp_changes_reader *r, slp_page *page); /* the page is empty, and has a body */
/* Reads a slice, as slp_page_read() does. */
int slp_changes_read(slp_changes_reader *r, size_t bytes_max, size_t records_max);

#endif
