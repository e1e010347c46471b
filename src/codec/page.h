/* page.h - a page of records: one answer's body and a table of where its records lie in it.
 * Nothing is copied and nothing is allocated per record: base64 is decoded over its own text. */
#ifndef SLP_CODEC_PAGE_H
#define SLP_CODEC_PAGE_H

#include "base/buf.h"
#include "codec/focus.h"

/* Offsets are into the page's body (capped at 32 MiB, so 32 bits do). */
typedef struct slp_rec {
  int64_t arrived_ms; /* ApproximateArrivalTimestamp; -1: not given */
  uint32_t seq_at, key_at, data_at, data_n;
  uint32_t sub; /* index inside an aggregate, else 0 */
  uint16_t key_n;
  uint8_t seq_n;
  uint8_t flags; /* SLP_REC_* */
  uint64_t word; /* of its sequence number, by the page's focus; 0: no focus */
} slp_rec;
_Static_assert(sizeof(slp_rec) == 40, "a table of them must be small");
#define SLP_REC_RAW 1u /* could not be decoded further; data is what came (undecodable base64: its text) */
#define SLP_REC_FOREIGN 2u /* part of an aggregate; its key hashes into another shard's range */
#define SLP_REC_KEYLESS 8u /* has no key, as a record of an AUTO stream may; key_n is 0 */
#define SLP_REC_EMPTY 4u   /* an aggregate without records: nothing to hand out, the position moves over it */

typedef struct slp_rec_change { /* what a record of DynamoDB Streams has in addition; offsets into the body */
  uint32_t whole_at, whole_n;
  uint32_t user_at, user_n; /* 0, 0: no userIdentity */
  uint32_t id_at, event_at;
  uint16_t id_n;
  uint8_t event_n;
} slp_rec_change;

typedef struct slp_shard_desc { /* a row of a shard listing, or a child named by GetRecords */
  slp_str id;
  slp_str parent, adjacent_parent; /* {NULL,0}: none */
  slp_str hash_start, hash_end;    /* decimal; may be absent */
  slp_str seq_start, seq_end;      /* seq_end absent: open */
} slp_shard_desc;

/* Returns what the services' own patterns forbid in it: an id that is no shard's, a hash key or a sequence
 * number that is no decimal number. NULL: nothing. An id that is missing (NULL), and another text that is
 * empty, are left to the caller. */
const char *slp_shard_desc_wrong(const slp_shard_desc *d);

#define SLP_PAGE_BYTES_MAX (32u * 1024 * 1024) /* 10 MiB of records is 14 MB of base64 plus keys and JSON */
#define SLP_PAGE_RECORDS_MAX 100000            /* the service gives 10,000; moto gave 20,000 */
#define SLP_PAGE_CHILDREN_MAX 64

typedef struct slp_page {
  slp_mem *mem;    /* owns a reference */
  slp_buf body;    /* owned; the reader decodes in place */
  slp_rec *recs;   /* owned */
  slp_focus focus; /* set before the first row is added, until the page is reset; may be none */
  size_t recs_n, recs_cap;
  slp_rec_change *changes; /* owned; one for each record, for SLP_FORM_CHANGES; else NULL */
  slp_str next; /* next iterator, or continuation number of an event; in body; {NULL,0}: absent or null */
  int64_t behind_ms;        /* MillisBehindLatest; -1: absent; clamped to [0, INT64_MAX] */
  slp_shard_desc *children; /* owned; with parent and adjacent_parent */
  size_t children_n;
  uint8_t children_given; /* 1: ChildShards was there and not null, maybe empty */
  uint8_t children_bad;   /* 1: a child without parents or id was among them */
  uint8_t records_given;  /* 1: Records was there and not null, maybe empty */
  /* Noted while the records are read, because their bytes are in the CPU's cache then. */
  uint32_t raw_n;         /* records flagged SLP_REC_RAW */
  uint32_t largest_bytes; /* length of the longest data, as it came */
  int64_t latest_ms;      /* the greatest arrival time; -1: none */
  int64_t earliest_ms;    /* the least; INT64_MAX: none */
  uint8_t unordered;      /* 1: some sequence number is not greater than the one before it */
  uint32_t magic_n;       /* records that begin as aggregates do, see kpl.h */
  /* Noted by kpl.c, which replaces aggregates by their records. */
  uint32_t aggregates_n; /* aggregates replaced, empty ones included */
  uint32_t extra_n;      /* rows that kpl.c added: the service counts recs_n - extra_n */
  uint32_t empty_n;      /* rows flagged SLP_REC_EMPTY */
} slp_page;

slp_page *slp_page_new(slp_mem *mem);
void slp_page_free(slp_page *page); /* NULL is fine */
/* Empties the page. Keeps the memory of body and table for the next answer. */
void slp_page_reset(slp_page *page);
/* Sets children learnt from elsewhere, with copies of their texts behind the body. Returns 0, SLP_ENOMEM or
 * SLP_ELIMIT: the page has none. */
int slp_page_give_children(slp_page *page, const slp_shard_desc *children, size_t n);
/* Keeps the first recs_n rows, and the memory that they need. Everything that is not of a row is gone. */
void slp_page_cut(slp_page *page, size_t recs_n);
/* Returns where the rows from..to-1 end in the body; 0: there are none. */
size_t slp_page_rows_end(const slp_page *page, size_t from, size_t to);
/* Returns the memory that the page uses: capacity of the body and tables. */
size_t slp_page_bytes(const slp_page *page);
static inline slp_str slp_rec_seq(const slp_page *p, const slp_rec *r) {
  return (slp_str){p->body.p + r->seq_at, r->seq_n};
}
static inline slp_str slp_rec_key(const slp_page *p, const slp_rec *r) {
  return (slp_str){p->body.p + r->key_at, r->key_n};
}
static inline slp_str slp_rec_data(const slp_page *p, const slp_rec *r) {
  return (slp_str){p->body.p + r->data_at, r->data_n};
}

/* Reading a GetRecords answer out of page->body, in slices. */
typedef enum {
  SLP_FORM_JSON,
  SLP_FORM_CBOR,
  SLP_FORM_CHANGES /* DynamoDB Streams: JSON; key is the text of Keys, data the text of dynamodb */
} slp_form;
typedef struct slp_page_reader slp_page_reader;
slp_page_reader *slp_page_reader_new(slp_mem *mem); /* may be used for many pages, one at a time */
void slp_page_reader_free(slp_page_reader *r);
void slp_page_reader_begin(slp_page_reader *r, slp_page *page, slp_form form);
/* Begins while the answer comes: page->body holds its beginning, and room for all its bytes; at each
 * slp_page_read() there may be more of them. Not for SLP_FORM_CHANGES. */
void slp_page_reader_begin_early(slp_page_reader *r, slp_page *page, slp_form form, size_t bytes);
/* Reads about bytes_max of the body or records_max records, whichever comes first. Returns SLP_MORE: call
 * again; 0: the whole body is one valid answer; SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM: the page is worthless,
 * and slp_page_reader_where gives the byte. A long string is resumable too, so a slice is bounded whatever
 * the body holds. */
int slp_page_read(slp_page_reader *r, size_t bytes_max, size_t records_max);
size_t slp_page_reader_where(const slp_page_reader *r);
const char *slp_page_reader_why(const slp_page_reader *r); /* "", or what was wrong */

#endif
