/* page_changes.c - reads an answer of DynamoDB Streams into a table of changes. The pull reader changes no
 * byte of the text. A state machine with a place (which container) and a field (which member) remembers where
 * the wanted parts begin and end. Members may come in any order, unknown ones are skipped, null counts as
 * absent, and of a member given twice the last one counts. */
#include "codec/page_changes.h"

#include "base/buf.h"
#include "codec/digits.h"
#include "codec/json.h"
#include "codec/page.h"
#include "codec/page_table.h"

/* A text with escapes is unescaped only up to this length. A text may have UINT16_MAX bytes, and an escape
 * has at most six characters for one byte. */
#define ESCAPED_MAX (6 * (size_t)UINT16_MAX)

enum { IN_NOTHING, IN_ANSWER, IN_RECORDS, IN_RECORD, IN_CHANGE, BEHIND_ANSWER };

enum { NO_FIELD, UNKNOWN, RECORDS, NEXT_ITERATOR, EVENT, EVENT_ID, USER, CHANGE, SEQUENCE, KEYS, CREATED };

static int refuse_changes(slp_changes_reader *r, const char *why) {
  r->why = why;
  return SLP_EBADDATA;
}

static int too_much(slp_changes_reader *r, const char *why) {
  r->why = why;
  return SLP_ELIMIT;
}

/* ---- texts ---------------------------------------------------------------------------------------- */

/* Appends the unescaped text to the body, behind the answer. The body may move in memory. Returns 0 or an
 * error, with r->why set. */
static int append_unescaped_copy(slp_changes_reader *r, slp_str raw, uint32_t *ret_at, size_t *ret_n) {
  slp_buf *body = &r->page->body;
  /* the string is copied with its quotes, so that it is one JSON value */
  size_t from = body->n, raw_at = (size_t)(raw.p - body->p) - 1;
  int e = slp_buf_reserve(body, raw.n + 2);
  if (e) {
    r->why = e == SLP_ENOMEM ? "no memory" : "the answer is too long";
    return e;
  }
  r->json.p = body->p;
  memcpy(body->p + from, body->p + raw_at, raw.n + 2);
  slp_json j;
  slp_json_begin(&j, body->p + from, raw.n + 2);
  SLP_CHECK(slp_json_next(&j) == SLP_JSON_STRING);
  body->n = from + 1 + j.text.n;
  *ret_at = (uint32_t)from + 1;
  *ret_n = j.text.n;
  return 0;
}

/* Sets *ret_at and *ret_n to the offset and the length of the unescaped text of the string just read. Returns
 * 0 or an error; SLP_ELIMIT if it is longer than `most` bytes. */
static int take_text(slp_changes_reader *r, size_t most, uint32_t *ret_at, size_t *ret_n) {
  slp_str text = r->json.text;
  *ret_at = (uint32_t)(text.p - r->page->body.p);
  *ret_n = text.n;
  if (r->json.escaped && text.n <= ESCAPED_MAX) {
    int e = append_unescaped_copy(r, text, ret_at, ret_n);
    if (e) return e;
  }
  return *ret_n > most ? too_much(r, "a text is too long") : 0;
}

static int take_sequence(slp_changes_reader *r) {
  uint32_t at;
  size_t n;
  int e = take_text(r, SLP_PAGE_SEQ_DIGITS_MAX, &at, &n);
  if (e) return e;
  if (!n || !slp_all_digits(r->page->body.p + at, n)) {
    return refuse_changes(r, "a SequenceNumber that is none");
  }
  r->rec.seq_at = at;
  r->rec.seq_n = (uint8_t)n;
  return 0;
}

static int take_created(slp_changes_reader *r) {
  int64_t ms = -1;
  int e = slp_page_time_ms(r->json.text, &ms);
  if (e == SLP_ELIMIT) return too_much(r, "an ApproximateCreationDateTime is out of range");
  if (e) return refuse_changes(r, "an ApproximateCreationDateTime that is no time");
  r->rec.arrived_ms = ms < 0 ? -1 : ms;
  return 0;
}

/* ---- members -------------------------------------------------------------------------------------- */

typedef struct known {
  const char *name;
  uint8_t n, place, field;
} known;
#define KNOWN(text, place, field) \
  { text, sizeof(text) - 1, place, field }

/* The names are those of the service model dynamodbstreams 2012-08-10 in botocore 1.43.11. */
static const known members[] = {
    KNOWN("Records", IN_ANSWER, RECORDS),
    KNOWN("NextShardIterator", IN_ANSWER, NEXT_ITERATOR),
    KNOWN("eventName", IN_RECORD, EVENT),
    KNOWN("eventID", IN_RECORD, EVENT_ID),
    KNOWN("userIdentity", IN_RECORD, USER),
    KNOWN("dynamodb", IN_RECORD, CHANGE),
    KNOWN("SequenceNumber", IN_CHANGE, SEQUENCE),
    KNOWN("Keys", IN_CHANGE, KEYS),
    KNOWN("ApproximateCreationDateTime", IN_CHANGE, CREATED),
};
#define NAME_MAX_N 27u

static int take_key(slp_changes_reader *r) {
  slp_str key = r->json.text;
  char plain[6 * NAME_MAX_N + 2];
  r->field = UNKNOWN;
  if (r->json.escaped) {
    if (key.n > 6 * NAME_MAX_N) return 0;
    memcpy(plain, key.p - 1, key.n + 2); /* the key is copied with its quotes, so that it is one JSON value */
    slp_json j;
    slp_json_begin(&j, plain, key.n + 2);
    SLP_CHECK(slp_json_next(&j) == SLP_JSON_STRING);
    key = j.text;
  }
  for (size_t i = 0; i < SLP_COUNT(members); i++) {
    const known *k = &members[i];
    if (k->place == r->place && k->n == key.n && memcmp(k->name, key.p, key.n) == 0) r->field = k->field;
  }
  return 0;
}

static void no_change(slp_changes_reader *r) {
  r->change_given = 0;
  r->rec = (slp_rec){.arrived_ms = -1};
}

static int member_is_null(slp_changes_reader *r) {
  slp_rec_change *c = &r->change;
  switch (r->field) {
    case RECORDS:
      slp_page_no_rows(r->page);
      r->page->records_given = 0;
      break;
    case NEXT_ITERATOR: r->next_given = 0; break;
    case EVENT: c->event_at = c->event_n = 0; break;
    case EVENT_ID: c->id_at = c->id_n = 0; break;
    case USER: c->user_at = c->user_n = 0; break;
    case CHANGE: no_change(r); break;
    case SEQUENCE: r->rec.seq_n = 0; break;
    case KEYS: r->rec.key_at = r->rec.key_n = 0; break;
    case CREATED: r->rec.arrived_ms = -1; break;
    default: break;
  }
  return 0;
}

static int text_member(slp_changes_reader *r, int t) {
  uint32_t at;
  size_t n;
  if (t != SLP_JSON_STRING)
    return refuse_changes(r, "an iterator, event, event id or sequence number is not text");
  if (r->field == SEQUENCE) return take_sequence(r);
  int e = take_text(r, r->field == EVENT ? UINT8_MAX : UINT16_MAX, &at, &n);
  if (e) return e;
  if (r->field == EVENT) {
    r->change.event_at = at;
    r->change.event_n = (uint8_t)n;
  } else if (r->field == EVENT_ID) {
    r->change.id_at = at;
    r->change.id_n = (uint16_t)n;
  } else {
    r->next_at = at;
    r->next_n = (uint32_t)n;
    r->next_given = n > 0;
  }
  return 0;
}

/* Stores where the value of Keys or userIdentity begins. end_span() stores where it ends. */
static int begin_span(slp_changes_reader *r, int t) {
  if (t != SLP_JSON_OBJECT) return refuse_changes(r, "Keys or userIdentity is no object");
  r->span_at = (uint32_t)r->json.at - 1;
  r->skip_depth = 1;
  return 0;
}

static int end_span(slp_changes_reader *r) {
  uint32_t n = (uint32_t)r->json.at - r->span_at;
  if (r->field == USER) {
    r->change.user_at = r->span_at;
    r->change.user_n = n;
  } else if (r->field == KEYS) {
    if (n > UINT16_MAX) return too_much(r, "Keys is too long");
    r->rec.key_at = r->span_at;
    r->rec.key_n = (uint16_t)n;
  }
  return 0;
}

static int begin_change(slp_changes_reader *r, int t) {
  if (t != SLP_JSON_OBJECT) return refuse_changes(r, "dynamodb is no object");
  no_change(r);
  r->change_given = 1;
  r->rec.data_at = (uint32_t)r->json.at - 1;
  r->place = IN_CHANGE;
  return 0;
}

static int begin_records(slp_changes_reader *r, int t) {
  if (t != SLP_JSON_ARRAY) return refuse_changes(r, "Records is no list");
  slp_page_no_rows(r->page);
  r->page->records_given = 1;
  r->place = IN_RECORDS;
  return 0;
}

/* ---- values and ends ------------------------------------------------------------------------------ */

/* Handles the first token of the value of r->field. */
static int take_change_value(slp_changes_reader *r, int t) {
  int e = 0;
  switch (t == SLP_JSON_NULL ? UNKNOWN : r->field) {
    case RECORDS: e = begin_records(r, t); break;
    case CHANGE: e = begin_change(r, t); break;
    case USER:
    case KEYS: e = begin_span(r, t); break;
    case CREATED:
      e = t == SLP_JSON_NUMBER ? take_created(r)
                               : refuse_changes(r, "ApproximateCreationDateTime is no number");
      break;
    case UNKNOWN:
      if (t == SLP_JSON_NULL) e = member_is_null(r);
      if (t == SLP_JSON_OBJECT || t == SLP_JSON_ARRAY) r->skip_depth = 1;
      break;
    default: e = text_member(r, t);
  }
  if (!r->skip_depth) r->field = NO_FIELD;
  return e;
}

static int inside_value(slp_changes_reader *r, int t) {
  int e = 0;
  if (t == SLP_JSON_OBJECT || t == SLP_JSON_ARRAY) r->skip_depth++;
  if (t == SLP_JSON_OBJECT_END || t == SLP_JSON_ARRAY_END) r->skip_depth--;
  if (r->skip_depth) return 0;
  e = end_span(r);
  r->field = NO_FIELD;
  return e;
}

static int record_done(slp_changes_reader *r) {
  if (!r->change_given) return refuse_changes(r, "a record without dynamodb");
  if (!r->rec.seq_n) return refuse_changes(r, "a record without SequenceNumber");
  r->change.whole_n = (uint32_t)r->json.at - r->change.whole_at;
  r->place = IN_RECORDS;
  return slp_page_add_change(r->page, &r->rec, &r->change, &r->why);
}

static int object_done(slp_changes_reader *r) {
  switch (r->place) {
    case IN_CHANGE:
      r->rec.data_n = (uint32_t)r->json.at - r->rec.data_at;
      r->place = IN_RECORD;
      return 0;
    case IN_RECORD: return record_done(r);
    default: r->place = BEHIND_ANSWER; return 0;
  }
}

static int begin_record(slp_changes_reader *r, int t) {
  if (t == SLP_JSON_ARRAY_END) {
    r->place = IN_ANSWER;
    return 0;
  }
  if (t != SLP_JSON_OBJECT) return refuse_changes(r, "a record is no object");
  no_change(r);
  r->change = (slp_rec_change){.whole_at = (uint32_t)r->json.at - 1};
  r->place = IN_RECORD;
  return 0;
}

static int on_token(slp_changes_reader *r, int t) {
  if (r->skip_depth) return inside_value(r, t);
  if (r->field != NO_FIELD) return take_change_value(r, t);
  switch (r->place) {
    case IN_NOTHING:
      if (t != SLP_JSON_OBJECT) return refuse_changes(r, "the answer is no object");
      r->place = IN_ANSWER;
      return 0;
    case IN_RECORDS: return begin_record(r, t);
    default: return t == SLP_JSON_KEY ? take_key(r) : object_done(r);
  }
}

/* ---- slices --------------------------------------------------------------------------------------- */

void slp_changes_begin(slp_changes_reader *r, slp_page *page) {
  *r = (slp_changes_reader){.page = page, .place = IN_NOTHING, .field = NO_FIELD};
  slp_json_begin(&r->json, page->body.p, page->body.n);
  r->json.keep = 1;
}

static void set_next_iterator(slp_changes_reader *r) {
  slp_page *page = r->page;
  if (r->next_given) page->next = (slp_str){page->body.p + r->next_at, r->next_n};
}

int slp_changes_read(slp_changes_reader *r, size_t bytes_max, size_t records_max) {
  size_t from = r->page->recs_n;
  r->json.pause_at = r->json.at + slp_min_u64(bytes_max, SLP_PAGE_BYTES_MAX);
  for (;;) {
    int t = slp_json_next(&r->json);
    if (t == SLP_JSON_PAUSE) return SLP_MORE;
    if (t == SLP_JSON_END) {
      set_next_iterator(r);
      return 0;
    }
    if (t < 0) {
      r->why = r->json.why;
      return t;
    }
    int e = on_token(r, t);
    if (e) return e;
    /* If the answer has Records twice, the table starts again at 0 rows. So `from` may be greater than
     * recs_n. */
    if (r->page->recs_n > from && r->page->recs_n - from >= records_max) return SLP_MORE;
  }
}
