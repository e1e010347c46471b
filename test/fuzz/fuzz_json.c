/* fuzz_json.c - the JSON reader against jansson: the same verdict and, where both accept, the same value;
 * and the same tokens when it is read in slices.
 *
 * Where the verdicts may differ, and why:
 *  - jansson refuses integers beyond 64 bits and reals beyond a double. We hand numbers out as text and
 *    refuse them only when somebody asks for a machine number (sequence numbers are longer than any).
 *  - We refuse more than 64 levels (jansson: 2048) and numbers of more than 1024 characters.
 *  - jansson 2.14 swallows one NUL byte behind a number or a word ("[1<NUL>]" is [1] to it); RFC 8259 has no
 *    such thing. Without those bytes both must agree again.
 *  - jansson can't hold a NUL in an object's key; we can (JSON_ALLOW_NUL covers strings only). */
#include "codec/json.h"

#include "fuzz.h"
#if SLP_HAVE_JANSSON
#include <jansson.h>
#endif

static uint64_t mix(uint64_t h, const void *p, size_t n) {
  const uint8_t *u = p;
  for (size_t i = 0; i < n; i++) h = (h ^ u[i]) * 1099511628211u;
  return h;
}

/* A hash over kinds and texts of all tokens, the verdict included. */
static uint64_t read_in_slices(const uint8_t *data, size_t size, size_t slice, int *ret_verdict) {
  char *body = fuzz_copy(data, size);
  slp_json j;
  uint64_t h = 14695981039346656037u;
  int t;
  slp_json_begin(&j, body, size);
  if (slice) j.pause_at = slice;
  do {
    t = slp_json_next(&j);
    REQUIRE(j.at <= size && j.depth <= SLP_JSON_DEPTH_MAX);
    if (t == SLP_JSON_PAUSE) {
      REQUIRE(slice && j.at >= j.pause_at);
      j.pause_at = j.at + slice;
      continue;
    }
    h = mix(h, &t, sizeof t);
    if (t == SLP_JSON_KEY || t == SLP_JSON_STRING || t == SLP_JSON_NUMBER) {
      REQUIRE(j.text.p >= body && j.text.p + j.text.n <= body + size);
      h = mix(h, j.text.p, j.text.n);
      if (t != SLP_JSON_NUMBER) REQUIRE(slp_utf8_valid(j.text));
    }
  } while (t > 0);
  if (t < 0) REQUIRE(j.why != NULL);
  *ret_verdict = t;
  free(body);
  return h;
}

static int text_token(int t) { return t == SLP_JSON_KEY || t == SLP_JSON_STRING; }

/* A text as it was written, without its quotes, means this. */
static void require_means(slp_str raw, slp_str meant) {
  char *copy = fuzz_copy((const uint8_t *)raw.p - 1, raw.n + 2);
  slp_json j;
  slp_json_begin(&j, copy, raw.n + 2);
  REQUIRE(slp_json_next(&j) == SLP_JSON_STRING && slp_str_eq(j.text, meant));
  free(copy);
}

/* The reader that keeps texts as they are: the same tokens, and not a byte of the body changed. */
static void read_kept(const uint8_t *data, size_t size) {
  char *body = fuzz_copy(data, size), *kept = fuzz_copy(data, size);
  slp_json j, k;
  int t;
  slp_json_begin(&j, body, size);
  slp_json_begin(&k, kept, size);
  k.keep = 1;
  do {
    t = slp_json_next(&j);
    k.pause_at = 1 + k.at;
    int u;
    while ((u = slp_json_next(&k)) == SLP_JSON_PAUSE) k.pause_at = 1 + k.at;
    REQUIRE(t == u && j.at == k.at);
    if (!text_token(t)) continue;
    REQUIRE(!!k.escaped == (k.text.n && memchr(k.text.p, '\\', k.text.n)));
    require_means(k.text, j.text);
  } while (t > 0);
  REQUIRE(size == 0 || memcmp(kept, data, size) == 0);
  free(body);
  free(kept);
}

#if SLP_HAVE_JANSSON
static json_t *number_value(slp_str text) {
  char z[SLP_JSON_NUMBER_MAX + 1];
  memcpy(z, text.p, text.n);
  z[text.n] = 0;
  if (!strpbrk(z, ".eE")) return json_integer(strtoll(z, NULL, 10));
  json_t *real = json_real(strtod(z, NULL));
  return real ? real : json_null(); /* beyond a double: jansson will have refused it */
}

static void put(json_t *into, slp_str key, json_t *value) {
  if (json_is_array(into))
    REQUIRE(json_array_append_new(into, value) == 0);
  else
    REQUIRE(json_object_setn_new_nocheck(into, key.p, key.n, value) == 0);
}

/* Our tokens as a tree of jansson's. *ret_nul_key: a key holds a NUL. */
static json_t *our_tree(char *body, size_t size, int *ret_nul_key) {
  json_t *stack[SLP_JSON_DEPTH_MAX], *root = NULL;
  slp_str keys[SLP_JSON_DEPTH_MAX + 1] = {{NULL, 0}};
  size_t depth = 0;
  slp_json j;
  slp_json_begin(&j, body, size);
  for (;;) {
    int t = slp_json_next(&j);
    json_t *value = NULL;
    if (t == SLP_JSON_END) return root;
    REQUIRE(t > 0);
    switch (t) {
      case SLP_JSON_KEY:
        keys[depth] = j.text;
        if (memchr(j.text.p, 0, j.text.n)) *ret_nul_key = 1;
        continue;
      case SLP_JSON_OBJECT_END:
      case SLP_JSON_ARRAY_END: depth--; continue;
      case SLP_JSON_OBJECT: value = json_object(); break;
      case SLP_JSON_ARRAY: value = json_array(); break;
      case SLP_JSON_STRING: value = json_stringn_nocheck(j.text.p, j.text.n); break;
      case SLP_JSON_NUMBER: value = number_value(j.text); break;
      case SLP_JSON_TRUE: value = json_true(); break;
      case SLP_JSON_FALSE: value = json_false(); break;
      default: value = json_null();
    }
    REQUIRE(value != NULL);
    if (depth)
      put(stack[depth - 1], keys[depth], value);
    else
      root = value;
    if (t == SLP_JSON_OBJECT || t == SLP_JSON_ARRAY) {
      REQUIRE(j.depth == depth + 1);
      stack[depth++] = value;
    }
  }
}

/* Takes out each NUL that follows a digit or a letter. */
static size_t without_swallowed(char *p, size_t n) {
  size_t w = 0;
  for (size_t i = 0; i < n; i++) {
    char before = i ? p[i - 1] : 0;
    int word = (before >= '0' && before <= '9') || before == 'e' || before == 'l'; /* true, false, null */
    if (p[i] || !word)
      p[w++] = p[i];
    else
      p[i] = ' '; /* the next one is not swallowed */
  }
  return w;
}

static void against_jansson(const uint8_t *data, size_t size, int verdict) {
  json_error_t e;
  json_t *theirs = json_loadb((const char *)data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e), *ours = NULL;
  char *body = fuzz_copy(data, size);
  int nul_key = 0;
  if (verdict == SLP_ELIMIT) goto done; /* listed: depth, number length */
  if (verdict < 0 && theirs && memchr(data, 0, size)) {
    size = without_swallowed(body, size);
    ours = our_tree(body, size, &nul_key); /* requires that we take it now */
    REQUIRE(json_equal(ours, theirs));
    goto done;
  }
  if (verdict == 0) ours = our_tree(body, size, &nul_key);
  if (verdict == 0 && !theirs) {
    enum json_error_code code = json_error_code(&e);
    REQUIRE(code == json_error_numeric_overflow || (nul_key && code == json_error_null_byte_in_key));
  } else if (verdict == 0) {
    REQUIRE(json_equal(ours, theirs));
  } else {
    REQUIRE(!theirs);
  }
done:
  json_decref(theirs);
  json_decref(ours);
  free(body);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int verdict, again;
  uint64_t h = read_in_slices(data, size, 0, &verdict);
  for (size_t slice = 1; slice < 40; slice += slice < 4 ? 1 : 11) {
    REQUIRE(read_in_slices(data, size, slice, &again) == h && again == verdict);
  }
  char *body = fuzz_copy(data, size);
  slp_json j;
  slp_json_begin(&j, body, size);
  int skipped = slp_json_skip(&j);
  if (!skipped) skipped = slp_json_next(&j);
  REQUIRE(skipped == verdict);
  free(body);
  read_kept(data, size);
#if SLP_HAVE_JANSSON
  against_jansson(data, size, verdict);
#endif
  return 0;
}
