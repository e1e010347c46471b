/* page_table.h - for the readers of pages only: empties a page, adds rows, and reads the values that all
 * forms of answers share. */
#ifndef SLP_CODEC_PAGE_TABLE_H
#define SLP_CODEC_PAGE_TABLE_H

#include "codec/page.h"

/* Digits of the longest SequenceNumber, which is 0|([1-9]\d{0,128}). Source: the Kinesis service model of
 * botocore 1.43. */
#define SLP_PAGE_SEQ_DIGITS_MAX 129

void slp_page_no_rows(slp_page *page);    /* removes all rows and their statistics */
void slp_page_no_answer(slp_page *page);  /* removes everything that was read; the body stays */
void slp_page_no_changes(slp_page *page); /* frees the table of changes, which only SLP_FORM_CHANGES needs */

/* Adds a row, which must have a sequence number, and updates the page's statistics. Returns 0; SLP_ELIMIT or
 * SLP_ENOMEM, with *ret_why set. */
int slp_page_add_row(slp_page *page, const slp_rec *rec, const char **ret_why);
/* Adds a row together with its change. Either all rows of a page have a change, or none. */
int slp_page_add_change(slp_page *page, const slp_rec *rec, const slp_rec_change *change,
                        const char **ret_why);
/* Grows a table of *cap entries to twice as many (`first` if *cap is 0, never more than `most`), and updates
 * *cap. Returns the table; NULL: no memory, and the table is unchanged. */
void *slp_page_doubled(slp_page *page, void *table, size_t *cap, size_t first, size_t most, size_t each);

/* Converts a JSON number to a time in ms. The number is in seconds, maybe with a fraction or an exponent;
 * from 1e11 on it is in milliseconds. Returns 0; SLP_ELIMIT: out of range; SLP_EBADDATA: no number. */
int slp_page_time_ms(slp_str number, int64_t *ret_ms);

#endif
