/* needles.c - looks for texts by their two rarest bytes, 16 or 32 places at a time. */
#include "cli/needles.h"

#include "base/base.h"
#include "cli/regex.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_X86 1
#endif

/* Several needles are looked for one after the other, but only in a payload of at most this many bytes: the
 * search is one step of the loop. */
#define MANY_BYTES ((size_t)2 << 20)

/* A byte with a rank from RARE on is looked for alone at first, until it was met RAREST_HITS times. */
#define RARE 40
#define RAREST_HITS 2

/* Bytes from the most common to the least common in logs and JSON. All other bytes are rarer. */
static const char common[] = " eatoinsrl\"d:,0c1u2mph3456f789-g._b/TyvwZ{}SAECkIDR=NPOL";

static size_t rank_byte(char c) {
  const char *is = c ? strchr(common, c) : NULL;
  return is ? (size_t)(is - common) + 1 : sizeof common;
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static char lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

/* Returns 1 if a character beyond ASCII counts as the same letter: U+212A is a k, U+017F is an s. */
static int has_twin(char c) { return c == 'k' || c == 's'; }

/* Finds the longest part of a text in lower case whose letters have no twin. Returns its length. */
static size_t find_part(const char *text, size_t *ret_from) {
  size_t best = 0;
  for (size_t i = 0, from = 0;; i++) {
    if (text[i] && !has_twin(text[i])) continue;
    if (i - from > best) best = i - from, *ret_from = from;
    from = i + 1;
    if (!text[i]) return best;
  }
}

/* Chooses the two bytes by which the needle is looked for. */
static void choose_bytes(slp_needle *k) {
  size_t best[2] = {0, 0};
  for (uint8_t i = 0; i < k->n; i++) {
    size_t rank = rank_byte(k->text[i]);
    int first = rank > best[0];
    if (first) best[1] = best[0], k->at[1] = k->at[0];
    if (first || rank > best[1]) best[!first] = rank, k->at[!first] = i;
  }
  if (k->n == 1) k->at[1] = k->at[0];
  k->rare = best[0] >= RARE && !(k->folds && is_letter(k->text[k->at[0]]));
  for (int i = 0; i < 2; i++) k->low_bit[i] = k->folds && is_letter(k->text[k->at[i]]) ? 0x20 : 0;
}

/* Returns 0 if nothing of the text can be looked for. */
static int make_needle(slp_needle *k, const slp_regex_text *t) {
  char text[sizeof t->text] = {0};
  size_t n = strlen(t->text), from = 0;
  for (size_t i = 0; i <= n; i++) text[i] = t->folds ? lower_ascii(t->text[i]) : t->text[i];
  if (t->folds) n = find_part(text, &from);
  *k = (slp_needle){.n = (uint8_t)n, .folds = t->folds};
  if (!n) return 0;
  memcpy(k->text, text + from, n);
  choose_bytes(k);
  return 1;
}

void slp_needles_of(slp_needles *ret, const slp_regex_traits *traits) {
  ret->n = 0;
  for (size_t i = 0; i < traits->any_n; i++) {
    if (make_needle(&ret->list[i], &traits->any[i])) continue;
    ret->n = 0;
    return;
  }
  ret->n = traits->any_n;
}

static int stands_at(const slp_needle *k, const char *p) {
  if (!k->folds) return memcmp(p, k->text, k->n) == 0;
  size_t i = 0;
  while (i < k->n && lower_ascii(p[i]) == k->text[i]) i++;
  return i == k->n;
}

/* Where a needle is looked for. */
typedef struct search {
  const slp_needle *k;
  const char *p;
  size_t places; /* how many places from p on the needle may begin at */
  size_t left;   /* how many more places at which both of its bytes stand are looked at */
} search;

/* Returns 1 if the needle stands at one of the places i + BIT, or if no more places are looked at. */
__attribute__((noinline)) static int stands_at_one(search *s, size_t i, unsigned bits) {
  for (; bits; bits &= bits - 1)
    if (s->left-- == 0 || stands_at(s->k, s->p + i + __builtin_ctz(bits))) return 1;
  return 0;
}

/* Each of the three functions below looks at the places from i on. Returns 0 if the needle stands at none of
 * them. The last block of places overlaps the block before it. */
#ifdef HAVE_X86
__attribute__((target("avx2"))) static int search_by_avx2(search *s, size_t i) {
  const slp_needle *k = s->k;
  const __m256i low0 = _mm256_set1_epi8((char)k->low_bit[0]), low1 = _mm256_set1_epi8((char)k->low_bit[1]);
  const __m256i want0 = _mm256_set1_epi8(k->text[k->at[0]]), want1 = _mm256_set1_epi8(k->text[k->at[1]]);
  for (; i < s->places; i += 32) {
    if (i + 32 > s->places) i = s->places - 32;
    __m256i v0 = _mm256_loadu_si256((const __m256i *)(const void *)(s->p + i + k->at[0]));
    __m256i v1 = _mm256_loadu_si256((const __m256i *)(const void *)(s->p + i + k->at[1]));
    __m256i is0 = _mm256_cmpeq_epi8(_mm256_or_si256(v0, low0), want0);
    __m256i is1 = _mm256_cmpeq_epi8(_mm256_or_si256(v1, low1), want1);
    unsigned bits = (unsigned)_mm256_movemask_epi8(_mm256_and_si256(is0, is1));
    if (bits && stands_at_one(s, i, bits)) return 1;
  }
  return 0;
}

static int search_by_sse2(search *s, size_t i) {
  const slp_needle *k = s->k;
  const __m128i low0 = _mm_set1_epi8((char)k->low_bit[0]), low1 = _mm_set1_epi8((char)k->low_bit[1]);
  const __m128i want0 = _mm_set1_epi8(k->text[k->at[0]]), want1 = _mm_set1_epi8(k->text[k->at[1]]);
  for (; i < s->places; i += 16) {
    if (i + 16 > s->places) i = s->places - 16;
    __m128i v0 = _mm_loadu_si128((const __m128i *)(const void *)(s->p + i + k->at[0]));
    __m128i v1 = _mm_loadu_si128((const __m128i *)(const void *)(s->p + i + k->at[1]));
    __m128i is0 = _mm_cmpeq_epi8(_mm_or_si128(v0, low0), want0);
    __m128i is1 = _mm_cmpeq_epi8(_mm_or_si128(v1, low1), want1);
    unsigned bits = (unsigned)_mm_movemask_epi8(_mm_and_si128(is0, is1));
    if (bits && stands_at_one(s, i, bits)) return 1;
  }
  return 0;
}
#endif

static int search_by_bytes(search *s, size_t i) {
  const slp_needle *k = s->k;
  for (; i < s->places; i++)
    if ((char)(s->p[i + k->at[0]] | k->low_bit[0]) == k->text[k->at[0]] && stands_at_one(s, i, 1)) return 1;
  return 0;
}

/* Looks at the first places at which the rarest byte stands: usually there are few, or none. Returns 1 if the
 * needle stands at one of them. *ret_i: the place from which the rest is to be searched. */
static int search_by_rarest(search *s, size_t *ret_i) {
  size_t i = 0, hits = RAREST_HITS;
  for (; hits > 0 && i < s->places; hits--) {
    const char *at = memchr(s->p + i + s->k->at[0], s->k->text[s->k->at[0]], s->places - i);
    i = at ? (size_t)(at - s->p) - s->k->at[0] + 1 : s->places;
    if (at && stands_at(s->k, at - s->k->at[0])) return 1;
  }
  *ret_i = i;
  return 0;
}

/* Returns as slp_needles_may_be_in(), for one needle. */
static int may_be_in(const slp_needle *k, slp_str text) {
  size_t i = 0;
  if (text.n < k->n) return 0;
  search s = {.k = k, .p = text.p, .places = text.n - k->n + 1, .left = text.n / 64 + 8};
  if (k->rare && search_by_rarest(&s, &i)) return 1;
  if (i == s.places) return 0;
#ifdef HAVE_X86
  if (s.places >= 32 && __builtin_cpu_supports("avx2")) return search_by_avx2(&s, i);
  if (s.places >= 16) return search_by_sse2(&s, i);
#endif
  return search_by_bytes(&s, i);
}

int slp_needles_may_be_in(const slp_needles *needles, slp_str text) {
  if (needles->n == 0 || (needles->n > 1 && text.n > MANY_BYTES)) return 1;
  for (size_t i = 0; i < needles->n; i++)
    if (may_be_in(&needles->list[i], text)) return 1;
  return 0;
}
