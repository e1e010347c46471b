/* fuzz_page_changes.c - pages of DynamoDB Streams against jansson: where both accept, the same records, each
 * part of them a piece of the answer that means the same by itself; and what jansson takes and fits the form,
 * we take. */
#include "fuzz_page.h"
#if SLP_HAVE_JANSSON
#include "beyond_jansson.h"

static void same_text(const json_t *value, slp_str ours) {
  size_t n = json_is_string(value) ? json_string_length(value) : 0;
  REQUIRE(n == ours.n && (n == 0 || memcmp(json_string_value(value), ours.p, n) == 0));
}

/* The piece was not changed, and means this. */
static void same_piece(const slp_page *page, const uint8_t *body, size_t size, uint32_t at, size_t n,
                       const json_t *value) {
  json_error_t e;
  if (!json_is_object(value)) {
    REQUIRE(n == 0);
    return;
  }
  REQUIRE((size_t)at + n <= size && memcmp(page->body.p + at, body + at, n) == 0);
  json_t *alone = json_loadb((const char *)body + at, n, JSON_ALLOW_NUL, &e);
  REQUIRE(alone && json_equal(alone, value));
  json_decref(alone);
}

static void same_time(const json_t *at, int64_t ours) {
  double ms = json_number_value(at) * 1000;
  if (!json_is_number(at) || ms <= -1)
    REQUIRE(ours == -1);
  else if (ms >= 0 && ms < 1e13)
    REQUIRE((double)ours - ms <= 0.51 && (double)ours - ms >= -0.51);
}

static void same_record(const slp_page *page, size_t i, const json_t *record, const uint8_t *body,
                        size_t size) {
  const slp_rec *r = &page->recs[i];
  const slp_rec_change *c = &page->changes[i];
  const char *p = page->body.p;
  const json_t *change = json_object_get(record, "dynamodb");
  same_text(json_object_get(change, "SequenceNumber"), slp_rec_seq(page, r));
  same_text(json_object_get(record, "eventName"), (slp_str){p + c->event_at, c->event_n});
  same_text(json_object_get(record, "eventID"), (slp_str){p + c->id_at, c->id_n});
  same_piece(page, body, size, r->key_at, r->key_n, json_object_get(change, "Keys"));
  same_piece(page, body, size, r->data_at, r->data_n, change);
  same_piece(page, body, size, c->user_at, c->user_n, json_object_get(record, "userIdentity"));
  same_piece(page, body, size, c->whole_at, c->whole_n, record);
  same_time(json_object_get(change, "ApproximateCreationDateTime"), r->arrived_ms);
}

/* ---- what fits the form -------------------------------------------------------------------------------- */

static int absent(const json_t *v) { return !v || json_is_null(v); }
static int text_or_absent(const json_t *v) { return absent(v) || json_is_string(v); }
static int map_or_absent(const json_t *v) { return absent(v) || json_is_object(v); }

static int is_sequence(const json_t *v) {
  size_t n = json_is_string(v) ? json_string_length(v) : 0;
  for (size_t i = 0; i < n; i++) {
    if (json_string_value(v)[i] < '0' || json_string_value(v)[i] > '9') return 0;
  }
  return n >= 1 && n <= 129;
}

static int record_fits(const json_t *record) {
  const json_t *change = json_object_get(record, "dynamodb");
  const json_t *at = json_object_get(change, "ApproximateCreationDateTime");
  return json_is_object(record) && json_is_object(change) &&
         is_sequence(json_object_get(change, "SequenceNumber")) &&
         map_or_absent(json_object_get(change, "Keys")) && (absent(at) || json_is_number(at)) &&
         map_or_absent(json_object_get(record, "userIdentity")) &&
         text_or_absent(json_object_get(record, "eventName")) &&
         text_or_absent(json_object_get(record, "eventID"));
}

static int answer_fits(const json_t *answer) {
  const json_t *records = json_object_get(answer, "Records");
  if (!json_is_object(answer) || !text_or_absent(json_object_get(answer, "NextShardIterator"))) return 0;
  if (!absent(records) && !json_is_array(records)) return 0;
  for (size_t i = 0; i < json_array_size(records); i++) {
    if (!record_fits(json_array_get(records, i))) return 0;
  }
  return 1;
}

static void judge(const slp_page *page, int verdict, const uint8_t *body, size_t size) {
  json_error_t e;
  if (verdict) {
    /* jansson 2.14 swallows a NUL behind a word or a number (see fuzz_json.c). */
    json_t *once = json_loadb((const char *)body, size, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &e);
    REQUIRE(!once || verdict == SLP_ELIMIT || memchr(body, 0, size) || !answer_fits(once));
    json_decref(once);
    return;
  }
  json_t *answer = json_loadb((const char *)body, size, JSON_ALLOW_NUL, &e);
  if (!answer) {
    REQUIRE(beyond_jansson(&e));
    return;
  }
  const json_t *records = json_object_get(answer, "Records");
  REQUIRE(answer_fits(answer));
  REQUIRE(json_array_size(records) == page->recs_n && json_is_array(records) == page->records_given);
  for (size_t i = 0; i < page->recs_n; i++) same_record(page, i, json_array_get(records, i), body, size);
  same_text(json_object_get(answer, "NextShardIterator"), page->next);
  REQUIRE(page->body.n >= size && (size == 0 || memcmp(page->body.p, body, size) == 0));
  json_decref(answer);
}
#define JUDGE judge
#else
#define JUDGE NULL
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_page(data, size, SLP_FORM_CHANGES, JUDGE);
  return 0;
}
