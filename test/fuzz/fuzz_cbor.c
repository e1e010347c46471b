/* fuzz_cbor.c - the CBOR reader against libcbor's cbor_load: the same verdict and, where both accept, the
 * same value; and the same tokens when it is read in slices.
 *
 * Where the verdicts may differ, and why:
 *  - We refuse keys that are not text (maps come from JSON structures), text that is not UTF-8 (each chunk
 *    by itself, RFC 8949 3.2.3), and more than 64 levels.
 *  - libcbor 0.8 refuses simple values that are not assigned, and tags 6 to 20 (its table calls them
 *    unassigned); RFC 8949 calls both well-formed, we hand them out.
 *  - libcbor 0.8 allocates what a head announces, gigabytes too, and goes on for a while behind what we
 * refused: it is not asked when a byte from there on could be the head of a large array or map.
 *  - libcbor takes a value that is followed by other bytes and says how many it read; we refuse that. */
#include "codec/cbor.h"

#include "fuzz.h"
#if SLP_HAVE_LIBCBOR
#include <cbor.h>
#endif

static uint64_t mix(uint64_t h, const void *p, size_t n) {
  const uint8_t *u = p;
  for (size_t i = 0; i < n; i++) h = (h ^ u[i]) * 1099511628211u;
  return h;
}

static uint64_t read_in_slices(const uint8_t *data, size_t size, size_t slice, int *ret_verdict,
                               const char **ret_why, size_t *ret_at, int *ret_unassigned) {
  char *body = fuzz_copy(data, size);
  slp_cbor c;
  uint64_t h = 14695981039346656037u;
  int t;
  slp_cbor_begin(&c, body, size);
  if (slice) c.pause_at = slice;
  do {
    t = slp_cbor_next(&c);
    REQUIRE(c.at <= size && c.depth <= SLP_CBOR_DEPTH_MAX);
    if (t == SLP_CBOR_PAUSE) {
      REQUIRE(slice && c.at >= c.pause_at);
      c.pause_at = c.at + slice;
      continue;
    }
    h = mix(h, &t, sizeof t);
    if (t == SLP_CBOR_TEXT || t == SLP_CBOR_BYTES) {
      REQUIRE(c.text.p >= body && c.text.p + c.text.n <= body + size);
      h = mix(h, c.text.p, c.text.n);
      h = mix(h, &c.is_key, 1);
    } else if (t == SLP_CBOR_FLOAT) {
      h = mix(h, &c.f, sizeof c.f);
    } else if (t == SLP_CBOR_UINT || t == SLP_CBOR_NEG || t == SLP_CBOR_TAG || t == SLP_CBOR_SIMPLE) {
      h = mix(h, &c.u, sizeof c.u);
    }
    if (t == SLP_CBOR_SIMPLE || (t == SLP_CBOR_TAG && c.u >= 6 && c.u <= 20)) *ret_unassigned = 1;
  } while (t > 0);
  if (t < 0) REQUIRE(c.why != NULL);
  *ret_verdict = t;
  *ret_why = c.why;
  *ret_at = c.at;
  free(body);
  return h;
}

#if SLP_HAVE_LIBCBOR
/* libcbor 0.8 asserts when its own cbor_is_null() and the like are asked about a float. */
static int is_control(const cbor_item_t *item) {
  return cbor_isa_float_ctrl(item) && cbor_float_ctrl_is_ctrl(item);
}

/* Compares the value to come with libcbor's item. Recursion is bounded: our reader took the bytes, so
 * they have at most 64 levels and as many tags as bytes. */
static void same(slp_cbor *c, const cbor_item_t *item);

static void same_string(slp_cbor *c, int t, const cbor_item_t *item) {
  int text = t == SLP_CBOR_TEXT,
      definite = text ? cbor_string_is_definite(item) : cbor_bytestring_is_definite(item);
  REQUIRE(text ? cbor_isa_string(item) : cbor_isa_bytestring(item));
  slp_str ours = c->text;
  size_t chunks = definite ? 1 : text ? cbor_string_chunk_count(item) : cbor_bytestring_chunk_count(item);
  cbor_item_t **parts = definite ? NULL
                        : text   ? cbor_string_chunks_handle(item)
                                 : cbor_bytestring_chunks_handle(item);
  for (size_t i = 0; i < chunks; i++) {
    const cbor_item_t *part = definite ? item : parts[i];
    size_t n = text ? cbor_string_length(part) : cbor_bytestring_length(part);
    const void *p = text ? (const void *)cbor_string_handle(part) : cbor_bytestring_handle(part);
    REQUIRE(ours.n >= n && (n == 0 || memcmp(ours.p, p, n) == 0));
    ours = (slp_str){ours.p + n, ours.n - n};
  }
  REQUIRE(ours.n == 0);
}

static void same_level(slp_cbor *c, int t, const cbor_item_t *item) {
  if (t == SLP_CBOR_ARRAY) {
    REQUIRE(cbor_isa_array(item));
    for (size_t i = 0; i < cbor_array_size(item); i++) same(c, cbor_array_handle(item)[i]);
    REQUIRE(slp_cbor_next(c) == SLP_CBOR_ARRAY_END);
    return;
  }
  REQUIRE(cbor_isa_map(item));
  for (size_t i = 0; i < cbor_map_size(item); i++) {
    same(c, cbor_map_handle(item)[i].key);
    same(c, cbor_map_handle(item)[i].value);
  }
  REQUIRE(slp_cbor_next(c) == SLP_CBOR_MAP_END);
}

static void same(slp_cbor *c, const cbor_item_t *item) {
  int t = slp_cbor_next(c);
  switch (t) {
    case SLP_CBOR_UINT: REQUIRE(cbor_isa_uint(item) && cbor_get_int(item) == c->u); break;
    case SLP_CBOR_NEG: REQUIRE(cbor_isa_negint(item) && cbor_get_int(item) == c->u); break;
    case SLP_CBOR_BYTES:
    case SLP_CBOR_TEXT: same_string(c, t, item); break;
    case SLP_CBOR_ARRAY:
    case SLP_CBOR_MAP: same_level(c, t, item); break;
    case SLP_CBOR_TAG:
      REQUIRE(cbor_isa_tag(item) && cbor_tag_value(item) == c->u);
      cbor_item_t *inner = cbor_tag_item(item);
      same(c, inner);
      cbor_decref(&inner);
      break;
    case SLP_CBOR_TRUE: REQUIRE(is_control(item) && cbor_is_bool(item) && cbor_get_bool(item)); break;
    case SLP_CBOR_FALSE: REQUIRE(is_control(item) && cbor_is_bool(item) && !cbor_get_bool(item)); break;
    case SLP_CBOR_NULL: REQUIRE(is_control(item) && (cbor_is_null(item) || cbor_is_undef(item))); break;
    case SLP_CBOR_FLOAT:
      REQUIRE(cbor_is_float(item));
      REQUIRE(cbor_float_get_float(item) == c->f ||
              (c->f != c->f && cbor_float_get_float(item) != cbor_float_get_float(item)));
      break;
    default: REQUIRE(!"a token that libcbor has no value for");
  }
}

static int listed(const char *why) {
  return !strcmp(why, "a key is not text") || !strcmp(why, "text is not UTF-8") ||
         !strcmp(why, "a count is past the end");
}

/* An array or map with a count of four or eight bytes. */
static int may_announce_much(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if ((p[i] & 0xDE) == 0x9A) return 1; /* 9a 9b ba bb */
  }
  return 0;
}

static void against_libcbor(const uint8_t *data, size_t size, int verdict, const char *why, size_t at,
                            int unassigned) {
  struct cbor_load_result result;
  if (verdict == SLP_ELIMIT || (verdict < 0 && listed(why))) return;
  if (verdict < 0 && may_announce_much(data + at, size - at)) return;
  cbor_item_t *item = cbor_load(data, size, &result);
  if (verdict < 0) {
    REQUIRE(!item || result.read != size);
  } else if (!item) {
    REQUIRE(unassigned);
  } else {
    char *body = fuzz_copy(data, size);
    slp_cbor c;
    REQUIRE(result.read == size);
    slp_cbor_begin(&c, body, size);
    same(&c, item);
    REQUIRE(slp_cbor_next(&c) == SLP_CBOR_END);
    free(body);
  }
  if (item) cbor_decref(&item);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int verdict, again, unassigned = 0;
  const char *why;
  size_t at;
  if (size > 4096) return 0; /* chains of tags: the comparison above recurses once for each */
  uint64_t h = read_in_slices(data, size, 0, &verdict, &why, &at, &unassigned);
  for (size_t slice = 1; slice < 40; slice += slice < 4 ? 1 : 11) {
    const char *why_again;
    size_t at_again;
    REQUIRE(read_in_slices(data, size, slice, &again, &why_again, &at_again, &unassigned) == h &&
            again == verdict);
  }
  char *body = fuzz_copy(data, size);
  slp_cbor c;
  slp_cbor_begin(&c, body, size);
  int skipped = slp_cbor_skip(&c);
  if (!skipped) skipped = slp_cbor_next(&c);
  REQUIRE(skipped == verdict);
  free(body);
#if SLP_HAVE_LIBCBOR
  against_libcbor(data, size, verdict, why, at, unassigned);
#endif
  return 0;
}
