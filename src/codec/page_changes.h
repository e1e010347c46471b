/* page_changes.h - reading GetRecords' answer of DynamoDB Streams; page.c calls it for SLP_FORM_CHANGES.
 *
 * Key, data, the whole record and userIdentity are the JSON text as it came. Texts that are handed out as
 * text (sequence number, event, event id, next iterator) lie in the body as well; one that was written with
 * escapes is put, without them, behind the answer. */
#ifndef SLP_CODEC_PAGE_CHANGES_H
#define SLP_CODEC_PAGE_CHANGES_H

#include "codec/json.h"
#include "codec/page.h"

typedef struct slp_changes_reader {
  slp_page *page;
  const char *why;
  uint8_t place, field; /* page_changes.c's */
  uint8_t change_given; /* the record has a `dynamodb` */
  uint8_t next_given;
  uint32_t skip_depth;      /* > 0: inside a value that is only passed over */
  uint32_t span_at;         /* where that value began */
  uint32_t next_at, next_n; /* the next iterator */
  slp_rec rec;              /* being read */
  slp_rec_change change;
  slp_json json;
} slp_changes_reader;

void slp_changes_begin(slp_changes_reader *r, slp_page *page); /* an empty page with a body */
/* As slp_page_read(). */
int slp_changes_read(slp_changes_reader *r, size_t bytes_max, size_t records_max);

#endif
