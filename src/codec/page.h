/* page.h - a page of records: the body of one answer, and a table of where its records lie in the body.
 * Nothing is copied, and nothing is allocated for a record: base64 is decoded over its own text. */
#ifndef SLP_CODEC_PAGE_H
#define SLP_CODEC_PAGE_H

#include "base/buf.h"
#include "base/mem.h"
#include "codec/focus.h"

/* A row of the table. Offsets are into the page's body (at most 32 MiB, so 32 bits are enough). */
typedef struct slp_rec {
  int64_t arrived_ms; /* ApproximateArrivalTimestamp; -1: not given */
  uint32_t seq_at, key_at, data_at, data_n;
  uint32_t sub; /* index inside its aggregate; 0 for an ordinary record */
  uint16_t key_n;
  uint8_t seq_n;
  uint8_t flags; /* bits SLP_REC_RAW and so on, see below */
  uint64_t word; /* the word of the sequence number by the page's focus (focus.h); 0: no focus */
} slp_rec;
_Static_assert(sizeof(slp_rec) == 40, "a table of them must be small");
#define SLP_REC_RAW 1u     /* data was not decoded or expanded, and is unchanged (bad base64: its text) */
#define SLP_REC_FOREIGN 2u /* part of an aggregate, with a key that hashes into another shard's range */
#define SLP_REC_KEYLESS 8u /* has no key, as a record of an AUTO stream may; key_n is 0 */
/* an aggregate without records: nothing is handed out, but the position moves behind it */
#define SLP_REC_EMPTY 4u

typedef struct slp_rec_change { /* more about a record of DynamoDB Streams; offsets into the body */
  /* Offset and length of the text of the whole record. */
  uint32_t whole_at, whole_n;
  uint32_t user_at, user_n; /* the text of userIdentity; 0, 0: there is none */
  uint32_t id_at, event_at;
  uint16_t id_n;
  uint8_t event_n;
} slp_rec_change;

typedef struct slp_shard_desc { /* a shard in a listing, or a child shard in an answer of GetRecords */
  slp_str id;
  /* id of the parent, and of the second parent after a merge; {NULL,0}: none */
  slp_str parent, adjacent_parent;
  /* the first and the last hash key of the shard, in decimal; may be absent */
  slp_str hash_start, hash_end;
  slp_str seq_start, seq_end; /* first and last sequence number; seq_end absent: the shard is open */
} slp_shard_desc;

/* Checks the description by the services' own patterns. Returns NULL if it is valid, or a static text that
 * says what is wrong: an id that can't be a shard's, or a hash key or sequence number that is no decimal
 * number. An absent id and other empty texts are not checked. */
const char *slp_shard_desc_wrong(const slp_shard_desc *d);

#define SLP_PAGE_BYTES_MAX (32u * 1024 * 1024) /* 10 MiB of records are 14 MB of base64, plus keys and JSON */
/* Kinesis returns up to 10,000 records, moto has returned 20,000 */
#define SLP_PAGE_RECORDS_MAX 100000
#define SLP_PAGE_CHILDREN_MAX 64

typedef struct slp_page {
  slp_mem *mem;  /* a reference is held */
  slp_buf body;  /* owned; the reader decodes in place */
  slp_rec *recs; /* owned */
  /* Chooses the digits of slp_rec.word. Set before the first row is added, and kept until slp_page_reset().
   * id 0: there is no focus. */
  slp_focus focus;
  size_t recs_n, recs_cap;
  slp_rec_change *changes; /* owned; one for each record if the form is SLP_FORM_CHANGES; else NULL */
  /* NextShardIterator, or an event's ContinuationSequenceNumber; points into the body; {NULL,0}: absent or
   * null */
  slp_str next;
  int64_t behind_ms;        /* MillisBehindLatest; -1: absent; clamped to [0, INT64_MAX] */
  slp_shard_desc *children; /* owned; child shards from the answer's ChildShards */
  size_t children_n;
  uint8_t children_given; /* 1: the answer had ChildShards, not null but maybe empty */
  uint8_t children_bad;   /* 1: some child has no id, no parent or more than two parents */
  uint8_t records_given;  /* 1: the answer had Records, not null but maybe empty */
  /* Statistics of the records, collected while they are read, because their bytes are in the CPU's cache
   * then. */
  uint32_t raw_n;         /* records flagged SLP_REC_RAW */
  uint32_t largest_bytes; /* length of the longest data; an aggregate counts with all its bytes */
  int64_t latest_ms;      /* the greatest arrival time; -1: none */
  int64_t earliest_ms;    /* the least arrival time; INT64_MAX: none */
  uint8_t unordered;      /* 1: some sequence number is not greater than the one before it */
  uint32_t magic_n;       /* records that begin as aggregates do, see kpl.h */
  /* Counted by kpl.c, which replaces aggregates by their records. */
  uint32_t aggregates_n; /* aggregates replaced, empty ones included */
  uint32_t extra_n;      /* rows that kpl.c added: the service counts recs_n - extra_n */
  uint32_t empty_n;      /* rows flagged SLP_REC_EMPTY */
} slp_page;

slp_page *slp_page_new(slp_mem *mem);
void slp_page_free(slp_page *page); /* NULL is fine */
/* Empties the page, and keeps the memory of body and table for the next answer. */
void slp_page_reset(slp_page *page);
/* Sets the page's children, if they were not in the answer but are known from another call. Their texts are
 * copied behind the body. Returns 0; SLP_ENOMEM or SLP_ELIMIT: the page has no children. */
int slp_page_give_children(slp_page *page, const slp_shard_desc *children, size_t n);
/* Keeps the first recs_n rows and their bytes, and frees the other memory. Removes the next iterator and the
 * children. */
void slp_page_cut(slp_page *page, size_t recs_n);
/* Returns the offset in the body behind all bytes of the rows with index `from` to `to` - 1; 0 if there are
 * no such rows. */
size_t slp_page_rows_end(const slp_page *page, size_t from, size_t to);
/* Returns the memory that the page has allocated for body and tables. */
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

/* The form of a GetRecords answer. A slp_page_reader reads it out of page->body, in slices. */
typedef enum {
  SLP_FORM_JSON,
  SLP_FORM_CBOR,
  SLP_FORM_CHANGES /* JSON of DynamoDB Streams: key is the text of Keys, data the text of dynamodb */
} slp_form;
typedef struct slp_page_reader slp_page_reader;
slp_page_reader *slp_page_reader_new(slp_mem *mem); /* one reader serves many pages, one after the other */
void slp_page_reader_free(slp_page_reader *r);
void slp_page_reader_begin(slp_page_reader *r, slp_page *page, slp_form form);
/* Begins to read an answer that is still arriving. page->body has the beginning of the answer, and room for
 * its whole length `bytes`. Between calls of slp_page_read() the caller may append more of the answer. Not
 * for SLP_FORM_CHANGES. */
void slp_page_reader_begin_early(slp_page_reader *r, slp_page *page, slp_form form, size_t bytes);
/* Reads about bytes_max bytes of the body or records_max records, whichever comes first. Returns SLP_MORE:
 * call again; 0: the whole body is one valid answer; SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM: the page can't be
 * used, and slp_page_reader_where returns the offset of the error. Reading can pause inside a long string
 * too, so a slice is bounded whatever the body holds. */
int slp_page_read(slp_page_reader *r, size_t bytes_max, size_t records_max);
size_t slp_page_reader_where(const slp_page_reader *r);
/* returns a text that says what was wrong, or "" */
const char *slp_page_reader_why(const slp_page_reader *r);

#endif
