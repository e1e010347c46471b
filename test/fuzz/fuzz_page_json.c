/* fuzz_page_json.c - the page reader on JSON; where it accepts, jansson's tree and OpenSSL's base64 must tell
 * the same records. An answer we accept and jansson refuses: only for the reasons listed in fuzz_json.c. */
#include "fuzz_page.h"
#include "oracle64.h"
#if SLP_HAVE_JANSSON
#include "beyond_jansson.h"

static void same_text(const json_t *value, slp_str ours) {
  size_t n = json_is_string(value) ? json_string_length(value) : 0;
  REQUIRE(n == ours.n && (n == 0 || memcmp(json_string_value(value), ours.p, n) == 0));
}

static void same_record(const slp_page *page, const slp_rec *r, const json_t *record) {
  const json_t *data = json_object_get(record, "Data");
  const char *text = json_is_string(data) ? json_string_value(data) : "";
  size_t n = json_is_string(data) ? json_string_length(data) : 0;
  unsigned char *out = malloc(n + 4);
  slp_str ours = slp_rec_data(page, r);
  same_text(json_object_get(record, "SequenceNumber"), slp_rec_seq(page, r));
  same_text(json_object_get(record, "PartitionKey"), slp_rec_key(page, r));
  REQUIRE(!(r->flags & SLP_REC_KEYLESS) == json_is_string(json_object_get(record, "PartitionKey")));
  int64_t decoded = oracle64_decode(text, n, out);
  REQUIRE((r->flags & SLP_REC_RAW) == (decoded < 0 ? SLP_REC_RAW : 0));
  if (decoded < 0)
    REQUIRE(slp_str_eq(ours, (slp_str){text, n}));
  else
    REQUIRE(slp_str_eq(ours, (slp_str){(char *)out, (size_t)decoded}));
  const json_t *at = json_object_get(record, "ApproximateArrivalTimestamp");
  double ms = json_number_value(at) * 1000;
  if (!json_is_number(at) || ms <= -1)
    REQUIRE(r->arrived_ms == -1);
  else if (ms >= 0 && ms < 1e13)
    REQUIRE((double)r->arrived_ms - ms <= 0.51 && (double)r->arrived_ms - ms >= -0.51);
  free(out);
}

static void judge(const slp_page *page, int verdict, const uint8_t *body, size_t size) {
  json_error_t e;
  if (verdict) return;
  json_t *answer = json_loadb((const char *)body, size, JSON_ALLOW_NUL, &e);
  if (!answer) {
    REQUIRE(beyond_jansson(&e));
    return;
  }
  const json_t *records = json_object_get(answer, "Records"),
               *children = json_object_get(answer, "ChildShards");
  REQUIRE(json_array_size(records) == page->recs_n);
  for (size_t i = 0; i < page->recs_n; i++) same_record(page, &page->recs[i], json_array_get(records, i));
  if (!json_object_get(answer, "ContinuationSequenceNumber"))
    same_text(json_object_get(answer, "NextShardIterator"), page->next);
  REQUIRE(json_is_array(children) == page->children_given && json_array_size(children) == page->children_n);
  for (size_t i = 0; i < page->children_n; i++) {
    const json_t *child = json_array_get(children, i), *parents = json_object_get(child, "ParentShards");
    const json_t *range = json_object_get(child, "HashKeyRange");
    same_text(json_object_get(child, "ShardId"), page->children[i].id);
    same_text(json_array_get(parents, 0), page->children[i].parent);
    same_text(json_array_get(parents, 1), page->children[i].adjacent_parent);
    same_text(json_object_get(range, "StartingHashKey"), page->children[i].hash_start);
    same_text(json_object_get(range, "EndingHashKey"), page->children[i].hash_end);
    fuzz_child(&page->children[i]);
  }
  const json_t *behind = json_object_get(answer, "MillisBehindLatest");
  REQUIRE(json_is_number(behind) == (page->behind_ms >= 0));
  if (json_is_integer(behind)) {
    json_int_t v = json_integer_value(behind);
    REQUIRE(page->behind_ms == (v < 0 ? 0 : v));
  }
  json_decref(answer);
}
#define JUDGE judge
#else
#define JUDGE NULL
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_page(data, size, SLP_FORM_JSON, JUDGE);
  return 0;
}
