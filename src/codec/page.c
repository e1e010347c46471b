/* page.c - reads a GetRecords answer (JSON or CBOR) into a table of records, in slices of bounded work.
 * page_changes.c reads the answers of DynamoDB Streams.
 *
 * Two pull readers (json.h, cbor.h) return one token at each call. A state machine turns tokens into rows.
 * Its state is a place (the container that is being read) and a field (the member whose value comes next). It
 * never recurses, and skips unknown values by counting their depth. A long string pauses inside the pull
 * reader. The base64 of a long Data is decoded in pieces here; if it turns out not to be base64, it is
 * encoded again, also in pieces. */
#include "codec/page.h"

#include "base/buf.h"
#include "base/mem.h"
#include "codec/base64.h"
#include "codec/cbor.h"
#include "codec/digits.h"
#include "codec/json.h"
#include "codec/page_changes.h"
#include "codec/page_quick.h"
#include "codec/page_table.h"

#define CHILDREN_FIRST 4
/* The quick reader (page_quick.h) may read a record up to this many bytes behind the end of its slice. A
 * longer record is read by the pull reader, in slices. */
#define BEYOND_PAUSE 131072u
/* For an answer of which only a part has arrived. TOKEN_BYTES: the pull readers pause this many bytes before
 * the end of the part, so that each token that they begin is complete. The longest token is a number.
 * AGAIN_BYTES: if a record was incomplete, the quick reader tries again when this many more bytes have
 * arrived. */
#define TOKEN_BYTES 2048u
#define AGAIN_BYTES 32768u
_Static_assert(TOKEN_BYTES > SLP_JSON_NUMBER_MAX + 64, "no token reaches behind what is there");

/* The tokens of both pull readers, under common names. */
enum {
  T_END,
  T_MAP,
  T_MAP_END,
  T_LIST,
  T_LIST_END,
  T_KEY,
  T_TEXT,
  T_BYTES,
  T_NUMBER,
  T_NULL,
  T_OTHER, /* true, false, simple values */
  T_TAG,
  T_PAUSE
};

typedef enum place {
  IN_NOTHING, /* outside of any container: before the answer's { */
  IN_ANSWER,
  IN_RECORDS,
  IN_RECORD,
  IN_CHILDREN,
  IN_CHILD,
  IN_PARENTS,
  IN_RANGE,
  BEHIND_ANSWER
} place;

typedef enum field {
  NO_FIELD, /* no value is expected: a key or the end of a container comes next */
  UNKNOWN,
  RECORDS,
  NEXT_ITERATOR,
  BEHIND_MS,
  CHILDREN,
  SEQUENCE,
  ARRIVED,
  DATA,
  KEY,
  CHILD_ID,
  PARENTS,
  RANGE,
  RANGE_START,
  RANGE_END
} field;

struct slp_page_reader {
  slp_mem *mem; /* a reference is held */
  slp_page *page;
  slp_form form;
  place place;
  field field;
  int result; /* SLP_MORE while reading; afterwards the last result of slp_page_read() */
  const char *why;
  size_t bytes;        /* length of the whole answer, of which only a part may have arrived */
  size_t look_at;      /* the quick reader waits until this many bytes of the answer have arrived */
  int token;           /* the pull reader's own token, which was mapped to a T_ token */
  slp_str text;        /* the text of the token `token` */
  uint32_t skip_depth; /* depth inside a value that is skipped; 0: no value is skipped */
  slp_rec rec;         /* the record that is being read */
  size_t data_used;    /* characters of a base64 Data decoded so far */
  size_t data_back;    /* if data_undo is 1: how many base64 groups must still be encoded again */
  uint8_t data_on;     /* 1: a Data is being decoded, or encoded again */
  uint8_t data_undo;   /* 1: the Data proved to be no base64, so what was decoded is encoded again */
  slp_shard_desc child;
  uint8_t parents_n;
  slp_json json;
  slp_cbor cbor;
  /* If form is SLP_FORM_CHANGES, `changes` reads everything; of the other members only mem, form, result and
   * why are used. */
  slp_changes_reader changes;
};

/* ---- tokens -------------------------------------------------------------------------------------- */

static const uint8_t json_kinds[] = {
    [SLP_JSON_END] = T_END,     [SLP_JSON_OBJECT] = T_MAP,         [SLP_JSON_OBJECT_END] = T_MAP_END,
    [SLP_JSON_ARRAY] = T_LIST,  [SLP_JSON_ARRAY_END] = T_LIST_END, [SLP_JSON_KEY] = T_KEY,
    [SLP_JSON_STRING] = T_TEXT, [SLP_JSON_NUMBER] = T_NUMBER,      [SLP_JSON_TRUE] = T_OTHER,
    [SLP_JSON_FALSE] = T_OTHER, [SLP_JSON_NULL] = T_NULL,          [SLP_JSON_PAUSE] = T_PAUSE};
static const uint8_t cbor_kinds[] = {[SLP_CBOR_END] = T_END,
                                     [SLP_CBOR_MAP] = T_MAP,
                                     [SLP_CBOR_MAP_END] = T_MAP_END,
                                     [SLP_CBOR_ARRAY] = T_LIST,
                                     [SLP_CBOR_ARRAY_END] = T_LIST_END,
                                     [SLP_CBOR_UINT] = T_NUMBER,
                                     [SLP_CBOR_NEG] = T_NUMBER,
                                     [SLP_CBOR_BYTES] = T_BYTES,
                                     [SLP_CBOR_TEXT] = T_TEXT,
                                     [SLP_CBOR_TAG] = T_TAG,
                                     [SLP_CBOR_FLOAT] = T_NUMBER,
                                     [SLP_CBOR_TRUE] = T_OTHER,
                                     [SLP_CBOR_FALSE] = T_OTHER,
                                     [SLP_CBOR_NULL] = T_NULL,
                                     [SLP_CBOR_SIMPLE] = T_OTHER,
                                     [SLP_CBOR_PAUSE] = T_PAUSE};

static int next_token(slp_page_reader *r) {
  if (r->form == SLP_FORM_JSON) {
    int t = r->token = slp_json_next(&r->json);
    r->text = r->json.text;
    if (t >= 0) return json_kinds[t];
    r->why = r->json.why;
    return t;
  }
  int t = r->token = slp_cbor_next(&r->cbor);
  r->text = r->cbor.text;
  if (t < 0)
    r->why = r->cbor.why;
  else if (t == SLP_CBOR_TEXT && r->cbor.is_key)
    return T_KEY;
  return t < 0 ? t : cbor_kinds[t];
}

size_t slp_page_reader_where(const slp_page_reader *r) {
  if (r->form == SLP_FORM_CHANGES) return r->changes.json.at;
  return r->form == SLP_FORM_JSON ? r->json.at : r->cbor.at;
}

const char *slp_page_reader_why(const slp_page_reader *r) {
  const char *why = r->form == SLP_FORM_CHANGES && !r->why ? r->changes.why : r->why;
  return why ? why : "";
}

static int refuse_page_answer(slp_page_reader *r, const char *why) {
  r->why = why;
  return SLP_EBADDATA;
}

static int too_much(slp_page_reader *r, const char *why) {
  r->why = why;
  return SLP_ELIMIT;
}

static uint32_t place_in_body(const slp_page_reader *r) { return (uint32_t)(r->text.p - r->page->body.p); }

/* ---- keys ---------------------------------------------------------------------------------------- */

typedef struct known {
  const char *name;
  uint8_t n, field;
} known;
#define KNOWN(text, field) \
  { text, sizeof(text) - 1, field }

static const known answer_keys[] = {KNOWN("Records", RECORDS), KNOWN("NextShardIterator", NEXT_ITERATOR),
                                    /* An event of SubscribeToShard has a ContinuationSequenceNumber where a
                                     * page has a NextShardIterator */
                                    KNOWN("ContinuationSequenceNumber", NEXT_ITERATOR),
                                    KNOWN("MillisBehindLatest", BEHIND_MS), KNOWN("ChildShards", CHILDREN)};
static const known record_keys[] = {KNOWN("SequenceNumber", SEQUENCE),
                                    KNOWN("ApproximateArrivalTimestamp", ARRIVED), KNOWN("Data", DATA),
                                    KNOWN("PartitionKey", KEY)};
static const known child_keys[] = {KNOWN("ShardId", CHILD_ID), KNOWN("ParentShards", PARENTS),
                                   KNOWN("HashKeyRange", RANGE)};
static const known range_keys[] = {KNOWN("StartingHashKey", RANGE_START), KNOWN("EndingHashKey", RANGE_END)};

static field field_of(slp_str key, const known *k, size_t count) {
  for (; count > 0; count--, k++) {
    if (key.n == k->n && memcmp(key.p, k->name, key.n) == 0) return (field)k->field;
  }
  return UNKNOWN;
}

static field known_field(place in, slp_str key) {
  switch (in) {
    case IN_ANSWER: return field_of(key, answer_keys, SLP_COUNT(answer_keys));
    case IN_RECORD: return field_of(key, record_keys, SLP_COUNT(record_keys));
    case IN_CHILD: return field_of(key, child_keys, SLP_COUNT(child_keys));
    case IN_RANGE: return field_of(key, range_keys, SLP_COUNT(range_keys));
    default: return UNKNOWN;
  }
}

/* ---- records ------------------------------------------------------------------------------------- */

static int record_done(slp_page_reader *r) {
  if (!r->rec.seq_n) return refuse_page_answer(r, "a record without SequenceNumber");
  int e = slp_page_add_row(r->page, &r->rec, &r->why);
  if (!e) r->place = IN_RECORDS;
  return e;
}

static int take_sequence(slp_page_reader *r) {
  slp_str s = r->text;
  if (!s.n || s.n > SLP_PAGE_SEQ_DIGITS_MAX || !slp_all_digits(s.p, s.n)) {
    return refuse_page_answer(r, "a SequenceNumber that is none");
  }
  r->rec.seq_at = place_in_body(r);
  r->rec.seq_n = (uint8_t)s.n;
  return 0;
}

static int take_key(slp_page_reader *r) {
  if (r->text.n > UINT16_MAX) return too_much(r, "a PartitionKey is too long");
  r->rec.key_at = place_in_body(r);
  r->rec.key_n = (uint16_t)r->text.n;
  r->rec.flags &= (uint8_t)~SLP_REC_KEYLESS;
  return 0;
}

static int take_arrived(slp_page_reader *r) {
  int64_t ms = -1;
  int e;
  if (r->form == SLP_FORM_CBOR)
    e = slp_cbor_token_ms(&r->cbor, r->token, &ms);
  else
    e = slp_page_time_ms(r->text, &ms);
  if (e == SLP_ELIMIT) return too_much(r, "an ApproximateArrivalTimestamp is out of range");
  if (e) return refuse_page_answer(r, "an ApproximateArrivalTimestamp that is no time");
  r->rec.arrived_ms = ms < 0 ? -1 : ms;
  return 0;
}

/* ---- base64 in place ----------------------------------------------------------------------------- */

static void data_raw(slp_page_reader *r) {
  r->rec.flags |= SLP_REC_RAW;
  r->data_on = 0;
}

static void data_undo(slp_page_reader *r, char *text, size_t piece) {
  size_t groups = piece / 4, from = r->data_back > groups ? r->data_back - groups : 0;
  slp_base64_encode_back(text, from, r->data_back);
  r->data_back = from;
  if (!from) data_raw(r);
}

/* Decodes, or encodes again, about `piece` characters of the Data at rec.data_at. Sets data_on to 0 when the
 * Data is complete; until then rec.data_n is the length of its base64 text. */
static void data_step(slp_page_reader *r, size_t piece) {
  char *text = r->page->body.p + r->rec.data_at;
  size_t n = r->rec.data_n, used = r->data_used;
  piece = piece < 4 ? 4 : piece & ~(size_t)3;
  if (r->data_undo) {
    data_undo(r, text, piece);
    return;
  }
  if (piece > n - used) piece = n - used;
  size_t took = slp_base64_decode_groups(text + used / 4 * 3, text + used, piece);
  r->data_used = used += took;
  if (took == piece && used < n) return;
  int64_t rest = 0;
  if (used < n) rest = n - used == 4 ? slp_base64_decode(text + used / 4 * 3, text + used, 4) : SLP_EBADDATA;
  if (rest >= 0) {
    r->rec.data_n = (uint32_t)(used / 4 * 3 + (size_t)rest);
    r->data_on = 0;
    return;
  }
  r->data_undo = 1;
  r->data_back = used / 4;
  data_undo(r, text, piece);
}

static void take_data(slp_page_reader *r, int is_base64) {
  r->rec.data_at = place_in_body(r);
  r->rec.data_n = (uint32_t)r->text.n;
  r->rec.flags &= (uint8_t)~SLP_REC_RAW;
  if (!is_base64 || !r->text.n) return;
  if (r->text.n % 4) {
    data_raw(r);
    return;
  }
  r->data_on = 1;
  r->data_undo = 0;
  r->data_used = 0;
}

static int record_value(slp_page_reader *r, int t) {
  if (t == T_NULL) {
    switch (r->field) {
      case SEQUENCE: r->rec.seq_n = 0; break;
      case ARRIVED: r->rec.arrived_ms = -1; break;
      case KEY:
        r->rec.key_n = 0;
        r->rec.flags |= SLP_REC_KEYLESS;
        break;
      default: /* DATA: the member Data */ r->rec.data_n = 0; r->rec.flags &= (uint8_t)~SLP_REC_RAW;
    }
    return 0;
  }
  switch (r->field) {
    case SEQUENCE:
      return t == T_TEXT ? take_sequence(r) : refuse_page_answer(r, "SequenceNumber is not text");
    case ARRIVED:
      return t == T_NUMBER ? take_arrived(r)
                           : refuse_page_answer(r, "ApproximateArrivalTimestamp is no number");
    case KEY: return t == T_TEXT ? take_key(r) : refuse_page_answer(r, "PartitionKey is not text");
    default:
      if (t != T_TEXT && t != T_BYTES) return refuse_page_answer(r, "Data is neither bytes nor text");
      take_data(r, t == T_TEXT);
      return 0;
  }
}

/* ---- children ------------------------------------------------------------------------------------ */

static int child_done(slp_page_reader *r) {
  slp_page *page = r->page;
  const char *wrong = slp_shard_desc_wrong(&r->child);
  if (wrong) return refuse_page_answer(r, wrong);
  size_t cap = page->children ? slp_alloc_size(page->children) / sizeof(slp_shard_desc) : 0;
  if (page->children_n == cap) {
    if (cap == SLP_PAGE_CHILDREN_MAX) return too_much(r, "too many ChildShards");
    slp_shard_desc *c =
        slp_page_doubled(page, page->children, &cap, CHILDREN_FIRST, SLP_PAGE_CHILDREN_MAX, sizeof *c);
    if (!c) {
      r->why = "no memory";
      return SLP_ENOMEM;
    }
    page->children = c;
  }
  /* A child has one parent (after a split) or two (after a merge). core/ can't represent any other number. */
  if (!r->child.id.n || !r->child.parent.n || r->parents_n > 2) page->children_bad = 1;
  SLP_CHECK(page->children); /* not NULL: without a table `cap` is 0, so a table was allocated above */
  page->children[page->children_n++] = r->child;
  r->place = IN_CHILDREN;
  return 0;
}

static int take_parent_token(slp_page_reader *r, int t) {
  if (t == T_LIST_END) {
    r->place = IN_CHILD;
    return 0;
  }
  if (t != T_TEXT) return refuse_page_answer(r, "a parent shard is not text");
  if (r->parents_n == 0)
    r->child.parent = r->text;
  else if (r->parents_n == 1)
    r->child.adjacent_parent = r->text;
  if (r->parents_n < 3) r->parents_n++;
  return 0;
}

static int child_value(slp_page_reader *r, int t) {
  slp_str text = t == T_TEXT ? r->text : (slp_str){NULL, 0};
  if (r->field == PARENTS) {
    if (t != T_LIST && t != T_NULL) return refuse_page_answer(r, "ParentShards is no list");
    r->child.parent = r->child.adjacent_parent = (slp_str){NULL, 0};
    r->parents_n = 0;
    if (t == T_LIST) r->place = IN_PARENTS;
    return 0;
  }
  if (r->field == RANGE) {
    if (t != T_MAP && t != T_NULL) return refuse_page_answer(r, "HashKeyRange is no map");
    r->child.hash_start = r->child.hash_end = (slp_str){NULL, 0};
    if (t == T_MAP) r->place = IN_RANGE;
    return 0;
  }
  if (t != T_TEXT && t != T_NULL) return refuse_page_answer(r, "a member of ChildShards is not text");
  if (r->field == CHILD_ID)
    r->child.id = text;
  else if (r->field == RANGE_START)
    r->child.hash_start = text;
  else
    r->child.hash_end = text;
  return 0;
}

/* ---- the answer ---------------------------------------------------------------------------------- */

/* MillisBehindLatest is only a hint. So a number that is out of range is clamped, not refused. */
static int take_behind(slp_page_reader *r) {
  const slp_cbor *c = &r->cbor;
  int64_t v = 0;
  if (r->form == SLP_FORM_JSON) {
    int e = slp_decimal_scaled(r->text, 0, &v);
    if (e == SLP_ELIMIT) v = r->text.p[0] == '-' ? 0 : INT64_MAX;
  } else if (r->token == SLP_CBOR_UINT) {
    v = c->u > INT64_MAX ? INT64_MAX : (int64_t)c->u;
  } else if (r->token == SLP_CBOR_FLOAT) {
    if (c->f != c->f) return refuse_page_answer(r, "MillisBehindLatest is no number");
    v = c->f >= 9223372036854775808.0 ? INT64_MAX : c->f > 0 ? (int64_t)c->f : 0;
  }
  r->page->behind_ms = v < 0 ? 0 : v;
  return 0;
}

/* Handles a member of the answer. If a member is given twice, the last one counts, so all that was read from
 * the first is dropped. */
static int answer_value(slp_page_reader *r, int t) {
  slp_page *page = r->page;
  switch (r->field) {
    case RECORDS:
      if (t != T_LIST && t != T_NULL) return refuse_page_answer(r, "Records is no list");
      slp_page_no_rows(page);
      page->records_given = t == T_LIST;
      if (t == T_LIST) r->place = IN_RECORDS;
      return 0;
    case CHILDREN:
      if (t != T_LIST && t != T_NULL) return refuse_page_answer(r, "ChildShards is no list");
      page->children_n = 0;
      page->children_bad = 0;
      page->children_given = t == T_LIST;
      if (t == T_LIST) r->place = IN_CHILDREN;
      return 0;
    case NEXT_ITERATOR:
      if (t != T_TEXT && t != T_NULL) return refuse_page_answer(r, "NextShardIterator is not text");
      page->next = t == T_TEXT && r->text.n ? r->text : (slp_str){NULL, 0};
      return 0;
    default: /* BEHIND_MS: the member MillisBehindLatest */
      page->behind_ms = -1;
      if (t == T_NULL) return 0;
      return t == T_NUMBER ? take_behind(r) : refuse_page_answer(r, "MillisBehindLatest is no number");
  }
}

static int map_done(slp_page_reader *r) {
  switch (r->place) {
    case IN_RECORD: return record_done(r);
    case IN_CHILD: return child_done(r);
    case IN_RANGE: r->place = IN_CHILD; return 0;
    default: r->place = BEHIND_ANSWER; return 0;
  }
}

/* Reads the beginning of an element of Records or ChildShards, or the end of the list. */
static int take_element_token(slp_page_reader *r, int t) {
  if (t == T_LIST_END) {
    r->place = IN_ANSWER;
    return 0;
  }
  if (t != T_MAP) return refuse_page_answer(r, "a record or child shard is no map");
  if (r->place == IN_RECORDS) {
    /* KEYLESS until the PartitionKey was read */
    r->rec = (slp_rec){.arrived_ms = -1, .flags = SLP_REC_KEYLESS};
    r->place = IN_RECORD;
  } else {
    r->child = (slp_shard_desc){.id = {NULL, 0}};
    r->parents_n = 0;
    r->place = IN_CHILD;
  }
  return 0;
}

static int take_value_token(slp_page_reader *r, int t) {
  int e = 0;
  if (r->field == UNKNOWN) {
    if (t == T_MAP || t == T_LIST) r->skip_depth = 1;
  } else if (r->place == IN_RECORD) {
    e = record_value(r, t);
  } else if (r->place == IN_ANSWER) {
    e = answer_value(r, t);
  } else {
    e = child_value(r, t);
  }
  r->field = NO_FIELD;
  return e;
}

static int on_token(slp_page_reader *r, int t) {
  if (t == T_TAG) return 0; /* the value that the tag marks comes next */
  if (r->skip_depth) {
    if (t == T_MAP || t == T_LIST)
      r->skip_depth++;
    else if (t == T_MAP_END || t == T_LIST_END)
      r->skip_depth--;
    return 0;
  }
  if (r->field != NO_FIELD) return take_value_token(r, t);
  switch (r->place) {
    case IN_NOTHING:
      if (t != T_MAP) return refuse_page_answer(r, "the answer is no map");
      r->place = IN_ANSWER;
      return 0;
    case IN_RECORDS:
    case IN_CHILDREN: return take_element_token(r, t);
    case IN_PARENTS: return take_parent_token(r, t);
    default:
      if (t == T_MAP_END) return map_done(r);
      r->field = known_field(r->place, r->text);
      return 0;
  }
}

/* ---- slices -------------------------------------------------------------------------------------- */

slp_page_reader *slp_page_reader_new(slp_mem *mem) {
  slp_page_reader *r = SLP_NEW(mem, slp_page_reader);
  if (!r) return NULL;
  r->mem = slp_mem_hold(mem);
  r->result = SLP_EINVAL; /* slp_page_read() returns this if slp_page_reader_begin() was not called before */
  return r;
}

void slp_page_reader_free(slp_page_reader *r) {
  if (!r) return;
  slp_mem *mem = r->mem;
  slp_free(mem, r);
  slp_mem_drop(mem);
}

void slp_page_reader_begin(slp_page_reader *r, slp_page *page, slp_form form) {
  slp_page_reader_begin_early(r, page, form, page->body.n);
}

void slp_page_reader_begin_early(slp_page_reader *r, slp_page *page, slp_form form, size_t bytes) {
  SLP_CHECK(bytes <= page->body.cap || bytes == page->body.n);
  r->page = page;
  r->form = form;
  r->bytes = bytes;
  r->look_at = 0;
  r->place = IN_NOTHING;
  r->field = NO_FIELD;
  r->result = SLP_MORE;
  r->why = NULL;
  r->skip_depth = 0;
  r->data_on = 0;
  slp_page_no_answer(page);
  slp_json_begin(&r->json, page->body.p, bytes);
  slp_cbor_begin(&r->cbor, page->body.p, bytes);
  slp_changes_begin(&r->changes, page);
  if (form != SLP_FORM_CHANGES) slp_page_no_changes(page);
  if (bytes > SLP_PAGE_BYTES_MAX) r->result = too_much(r, "the answer is too long");
}

/* Reads one plain record by the quick reader. The record must end before `there`, the end of the bytes that
 * have arrived. Returns 1, or 0 if no such record begins at the present offset. */
static int quick_record(slp_page_reader *r, size_t pause_at, size_t there) {
  size_t end;
  if (r->form == SLP_FORM_CBOR) {
    slp_cbor *c = &r->cbor;
    if (c->at >= pause_at || !slp_cbor_more(c) || !slp_page_quick_cbor(c->p, there, c->at, &r->rec, &end))
      return 0;
    slp_cbor_passed(c, end);
  } else {
    slp_json *j = &r->json;
    size_t limit = slp_min_u64(there, pause_at + BEYOND_PAUSE);
    if (j->at >= pause_at || !slp_json_object_next(j) ||
        !slp_page_quick_json(j->p, limit, j->at, &r->rec, &end))
      return 0;
    slp_json_passed(j, end);
  }
  return 1;
}

/* Reads bytes at the probable places of the next GROUP records, so that the processor fetches all of them
 * from memory at the same time. When the last byte of a large page has arrived, the beginning of the page is
 * no longer in the CPU's cache. The place of a record is known only when the previous record was read, so the
 * processor would wait for each record in turn. Records of a page often have the same size, so their places
 * can be guessed. Small records, and base64, are read byte by byte; there the processor fetches ahead by
 * itself. */
#define GROUP 8
#define SPARSE 512u /* the smallest size of a record for which bring_near() is worth it */
#define HEAD_BYTES 256u
#define LINE 64u
static void bring_near(const slp_page_reader *r, size_t size) {
  const slp_buf *body = &r->page->body;
  size_t at = slp_page_reader_where(r), from = at + GROUP * size, to = from + GROUP * size;
  if (r->form != SLP_FORM_CBOR || size < SPARSE || to > body->n) return;
  for (; from < to; from += size) {
    const volatile char *p = body->p + from;
    for (size_t i = 0; i < HEAD_BYTES; i += LINE) (void)p[i];
  }
}

/* Reads plain records until another kind of record comes. Returns 1: the slice is over; 0: the pull reader
 * must continue; or an error. */
static int quick_records(slp_page_reader *r, size_t pause_at, size_t recs_most) {
  size_t at = slp_page_reader_where(r), there = r->page->body.n;
  if (there < r->look_at) return 0;
  while (quick_record(r, pause_at, there)) {
    int e = record_done(r);
    if (e) return e;
    size_t to = slp_page_reader_where(r), size = to - at;
    if (r->page->recs_n % GROUP == 0) bring_near(r, size);
    at = to;
    if (r->page->recs_n >= recs_most) return 1;
    r->look_at = slp_min_u64(to + size, r->bytes);
    if (there < r->look_at) return 0;
  }
  if (at < pause_at) r->look_at = slp_min_u64(there + AGAIN_BYTES, r->bytes);
  return 0;
}

/* Returns 1 if the next token may not have arrived completely. Between records, it returns 1 until the next
 * BEYOND_PAUSE bytes have arrived, so that the quick reader finds the whole next record. */
static int token_is_to_come(slp_page_reader *r) {
  size_t there = r->page->body.n;
  if (there >= r->bytes) return 0;
  size_t safe = there - slp_min_u64(there, r->place == IN_RECORDS ? BEYOND_PAUSE : TOKEN_BYTES);
  r->json.pause_at = slp_min_u64(r->json.pause_at, safe);
  r->cbor.pause_at = slp_min_u64(r->cbor.pause_at, safe);
  return slp_page_reader_where(r) >= safe;
}

static int read_slice(slp_page_reader *r, size_t bytes_max, size_t records_max) {
  size_t at = slp_page_reader_where(r), pause_at = at + slp_min_u64(bytes_max, SLP_PAGE_BYTES_MAX);
  size_t recs_from = r->page->recs_n, decoded = 0;
  size_t most = slp_min_u64(records_max, SLP_PAGE_RECORDS_MAX + 1);
  for (;;) {
    r->json.pause_at = r->cbor.pause_at = pause_at;
    while (r->data_on) {
      if (decoded >= bytes_max) return SLP_MORE;
      size_t piece = bytes_max - decoded;
      data_step(r, piece);
      decoded += slp_min_u64(piece, r->text.n);
    }
    int e = 0;
    if (r->place == IN_RECORDS)
      e = quick_records(r, pause_at, slp_min_u64(recs_from, r->page->recs_n) + most);
    if (e) return e < 0 ? e : SLP_MORE;
    if (token_is_to_come(r)) return SLP_MORE;
    int t = next_token(r);
    if (t < 0) return t;
    if (t == T_PAUSE) return SLP_MORE;
    if (t == T_END) return 0;
    e = on_token(r, t);
    if (e) return e;
    /* If the answer has Records twice, the table starts again at 0 rows. So recs_from may be greater than
     * recs_n. */
    if (r->page->recs_n > recs_from && r->page->recs_n - recs_from >= records_max) return SLP_MORE;
  }
}

int slp_page_read(slp_page_reader *r, size_t bytes_max, size_t records_max) {
  if (bytes_max < 1) bytes_max = 1;
  if (records_max < 1) records_max = 1;
  if (r->result != SLP_MORE) return r->result;
  r->result = r->form == SLP_FORM_CHANGES ? slp_changes_read(&r->changes, bytes_max, records_max)
                                          : read_slice(r, bytes_max, records_max);
  return r->result;
}
