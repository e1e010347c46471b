/* fuzz_page_cbor.c - the page reader on CBOR; where both accept, libcbor's tree must tell the same records.
 * libcbor may refuse what we accept only for the reason listed in fuzz_cbor.c (unassigned simple values and
 * tags). */
#include "codec/cbor.h"
#include "fuzz_page.h"
#include "oracle64.h"
#if SLP_HAVE_LIBCBOR
#include <cbor.h>

/* Behind any tags. Borrowed: the tags keep it. */
static const cbor_item_t *untagged(const cbor_item_t *item) {
  while (item && cbor_isa_tag(item)) {
    cbor_item_t *inner = cbor_tag_item(item);
    item = inner;
    cbor_decref(&inner);
  }
  return item;
}

/* The bytes of a string item of any form, joined. Owned. */
static char *joined(const cbor_item_t *item, size_t *ret_n) {
  int text = cbor_isa_string(item),
      definite = text ? cbor_string_is_definite(item) : cbor_bytestring_is_definite(item);
  size_t chunks = definite ? 1
                  : text   ? cbor_string_chunk_count(item)
                           : cbor_bytestring_chunk_count(item),
         n = 0;
  cbor_item_t **parts = definite ? NULL
                        : text   ? cbor_string_chunks_handle(item)
                                 : cbor_bytestring_chunks_handle(item);
  char *p = malloc(1);
  for (size_t i = 0; i < chunks; i++) {
    const cbor_item_t *part = definite ? item : parts[i];
    size_t len = text ? cbor_string_length(part) : cbor_bytestring_length(part);
    p = realloc(p, n + len + 1);
    REQUIRE(p != NULL);
    if (len) memcpy(p + n, text ? cbor_string_handle(part) : cbor_bytestring_handle(part), len);
    n += len;
  }
  *ret_n = n;
  return p;
}

/* The last value with that key; NULL: absent or null. */
static const cbor_item_t *member(const cbor_item_t *map, const char *key) {
  const cbor_item_t *found = NULL;
  for (size_t i = 0; map && i < cbor_map_size(map); i++) {
    size_t n;
    char *k = joined(cbor_map_handle(map)[i].key, &n);
    if (n == strlen(key) && memcmp(k, key, n) == 0) found = untagged(cbor_map_handle(map)[i].value);
    free(k);
  }
  /* libcbor 0.8 asserts when cbor_is_null() is asked about a float. */
  if (!found || !cbor_isa_float_ctrl(found) || !cbor_float_ctrl_is_ctrl(found)) return found;
  return cbor_is_null(found) || cbor_is_undef(found) ? NULL : found;
}

static void same_text(const cbor_item_t *value, slp_str ours) {
  size_t n = 0;
  char *p = value ? joined(value, &n) : NULL;
  REQUIRE(n == ours.n && (n == 0 || memcmp(p, ours.p, n) == 0));
  free(p);
}

static void same_record(const slp_page *page, const slp_rec *r, const cbor_item_t *record) {
  const cbor_item_t *data = member(record, "Data"), *at = member(record, "ApproximateArrivalTimestamp");
  slp_str ours = slp_rec_data(page, r);
  same_text(member(record, "SequenceNumber"), slp_rec_seq(page, r));
  same_text(member(record, "PartitionKey"), slp_rec_key(page, r));
  REQUIRE(!(r->flags & SLP_REC_KEYLESS) == (member(record, "PartitionKey") != NULL));
  size_t n = 0;
  char *p = data ? joined(data, &n) : NULL;
  unsigned char *out = malloc(n + 4);
  int64_t decoded = data && cbor_isa_string(data) ? oracle64_decode(p, n, out) : -2;
  REQUIRE((r->flags & SLP_REC_RAW) == (decoded == -1 ? SLP_REC_RAW : 0));
  if (decoded < 0)
    REQUIRE(slp_str_eq(ours, (slp_str){p, n}));
  else
    REQUIRE(slp_str_eq(ours, (slp_str){(char *)out, (size_t)decoded}));
  free(out);
  free(p);
  if (!at)
    REQUIRE(r->arrived_ms == -1);
  else if (cbor_isa_negint(at))
    REQUIRE(r->arrived_ms == -1);
  else if (cbor_isa_uint(at))
    REQUIRE((uint64_t)r->arrived_ms == cbor_get_int(at) * (cbor_get_int(at) < 100000000000u ? 1000 : 1));
}

static void judge(const slp_page *page, int verdict, const uint8_t *body, size_t size) {
  struct cbor_load_result result;
  if (verdict) return;
  cbor_item_t *root = cbor_load(body, size, &result);
  if (!root) return; /* unassigned simple values or tags: fuzz_cbor.c holds that there is no other reason */
  const cbor_item_t *answer = untagged(root), *records = member(answer, "Records"),
                    *children = member(answer, "ChildShards");
  REQUIRE((records ? cbor_array_size(records) : 0) == page->recs_n);
  for (size_t i = 0; i < page->recs_n; i++)
    same_record(page, &page->recs[i], untagged(cbor_array_handle(records)[i]));
  if (!member(answer, "ContinuationSequenceNumber"))
    same_text(member(answer, "NextShardIterator"), page->next);
  REQUIRE(!children == !page->children_given &&
          (children ? cbor_array_size(children) : 0) == page->children_n);
  for (size_t i = 0; i < page->children_n; i++) {
    const cbor_item_t *child = untagged(cbor_array_handle(children)[i]),
                      *parents = member(child, "ParentShards");
    const cbor_item_t *range = member(child, "HashKeyRange");
    size_t n = parents ? cbor_array_size(parents) : 0;
    same_text(member(child, "ShardId"), page->children[i].id);
    same_text(n > 0 ? untagged(cbor_array_handle(parents)[0]) : NULL, page->children[i].parent);
    same_text(n > 1 ? untagged(cbor_array_handle(parents)[1]) : NULL, page->children[i].adjacent_parent);
    same_text(member(range, "StartingHashKey"), page->children[i].hash_start);
    same_text(member(range, "EndingHashKey"), page->children[i].hash_end);
    fuzz_child(&page->children[i]);
  }
  const cbor_item_t *behind = member(answer, "MillisBehindLatest");
  REQUIRE(!behind == (page->behind_ms < 0));
  if (behind && cbor_isa_uint(behind)) {
    uint64_t v = cbor_get_int(behind);
    REQUIRE((uint64_t)page->behind_ms == (v > INT64_MAX ? INT64_MAX : v));
  }
  cbor_decref(&root);
}
#define JUDGE judge
#else
#define JUDGE NULL
#endif

/* Records that the page reader takes in one pass (page_quick.c) must be valid for the token reader, too. */
static void judge_tokens(const slp_page *page, int verdict, const uint8_t *data, size_t size) {
  if (verdict == 0) {
    char *body = fuzz_copy(data, size);
    slp_cbor c;
    slp_cbor_begin(&c, body, size);
    REQUIRE(slp_cbor_skip(&c) == 0 && slp_cbor_next(&c) == SLP_CBOR_END);
    free(body);
  }
  void (*by_oracle)(const slp_page *, int, const uint8_t *, size_t) = JUDGE;
  if (by_oracle) by_oracle(page, verdict, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 8192) return 0; /* libcbor frees chains of tags by recursion */
  fuzz_page(data, size, SLP_FORM_CBOR, judge_tokens);
  return 0;
}
