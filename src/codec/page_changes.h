/* page_changes.h - reads the answers of DynamoDB Streams to GetRecords; page.c calls it for SLP_FORM_CHANGES.
 *
 * Every text that is handed out is an offset into the body of the page. Key, data, the whole record and
 * userIdentity are JSON text as it came. Sequence number, event, event id and next iterator are plain text. A
 * plain text with escapes is unescaped into a copy that is appended to the body, after the answer. */
#ifndef SLP_CODEC_PAGE_CHANGES_H
#define SLP_CODEC_PAGE_CHANGES_H

#include "codec/json.h"
#include "codec/page.h"

typedef struct slp_changes_reader {
  slp_page *page;
  const char *why;
  uint8_t place, field; /* which container and member are being read, see page_changes.c */
  uint8_t change_given; /* 1: the record has a member `dynamodb` */
  uint8_t next_given;
  uint32_t skip_depth;      /* depth inside a value that is skipped; 0: no value is skipped */
  uint32_t span_at;         /* offset in the body at which the value of Keys or userIdentity began */
  uint32_t next_at, next_n; /* offset and length in the body of the next iterator */
  slp_rec rec;              /* the record that is being read */
  slp_rec_change change;
  slp_json json;
} slp_changes_reader;

/* The page must be empty, except for its body. */
void slp_changes_begin(slp_changes_reader *r, slp_page *page);
/* Reads a slice. Returns the same codes as slp_page_read(). */
int slp_changes_read(slp_changes_reader *r, size_t bytes_max, size_t records_max);

#endif
