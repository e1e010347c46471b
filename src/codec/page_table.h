/* page_table.h - for the readers of pages only: empties a page, adds rows, and reads what every form of
 * answer says in the same way. */
#ifndef SLP_CODEC_PAGE_TABLE_H
#define SLP_CODEC_PAGE_TABLE_H

#include "codec/page.h"

/* SequenceNumber is 0|([1-9]\d{0,128}). Source: the Kinesis service model of botocore 1.43. */
#define SLP_PAGE_SEQ_DIGITS_MAX 129

void slp_page_no_rows(slp_page *page);    /* as if no record had been read */
void slp_page_no_answer(slp_page *page);  /* as if nothing had been read; the body stays */
void slp_page_no_changes(slp_page *page); /* frees the table of changes: the form has none */

/* Adds a row with a sequence number, and notes what the page keeps of it. Returns 0; SLP_ELIMIT and
 * SLP_ENOMEM: *ret_why says it. */
int slp_page_add_row(slp_page *page, const slp_rec *rec, const char **ret_why);
/* Does the same with the row's change; every row of the page must have one. */
int slp_page_add_change(slp_page *page, const slp_rec *rec, const slp_rec_change *change,
                        const char **ret_why);
/* Returns the table, twice as large; NULL: no memory. */
void *slp_page_doubled(slp_page *page, void *table, size_t *cap, size_t first, size_t most, size_t each);

/* Reads a time of JSON as ms: seconds, with a fraction, maybe with an exponent; absurdly many are
 * milliseconds. SLP_ELIMIT: out of range; SLP_EBADDATA: no number. */
int slp_page_time_ms(slp_str number, int64_t *ret_ms);

#endif
