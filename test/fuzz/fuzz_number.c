/* fuzz_number.c - two decimal numbers, apart by a space. DynamoDB's numbers of 38 digits are here twice, once
 * in the stores and once in the sandbox, written apart: both take the same, order and add the same. Whole
 * numbers against strtoull, strtoll and the compiler's 128 bits; seconds with a fraction against the 38
 * digits. */
#include "base/num.h"
#include "codec/json.h"
#include "sandbox/ddb.h"
#include "store/number.h"

#include "fuzz.h"

#define TEXT_MAX 4000 /* the store's limit is not the sandbox's */

typedef unsigned __int128 u128;

static int same_text(const slp_decimal *d, const slp_n38 *n) {
  char ours[SLP_DECIMAL_TEXT_MAX], theirs[SLP_N38_TEXT_MAX];
  return slp_str_eq(slp_decimal_text(d, ours), (slp_str){theirs, slp_n38_text(n, theirs)});
}

static int parse_both(slp_str s, slp_decimal *d, slp_n38 *n) {
  int r = slp_decimal_parse(s, d);
  slp_n38_fault fault = slp_n38_parse(s, n);
  REQUIRE((r == 0) == (fault == SLP_N38_FINE));
  REQUIRE(r != SLP_EBADDATA || fault == SLP_N38_TEXT);
  if (r) return 0;
  REQUIRE(same_text(d, n));
  slp_decimal again;
  char room[SLP_DECIMAL_TEXT_MAX];
  REQUIRE(slp_decimal_parse(slp_decimal_text(d, room), &again) == 0 && slp_decimal_cmp(d, &again) == 0);
  return 1;
}

static int sign_of(int c) { return (c > 0) - (c < 0); }

static void two(slp_str a, slp_str b) {
  slp_decimal x, y, sum, back;
  slp_n38 p, q, added;
  if (!parse_both(a, &x, &p) || !parse_both(b, &y, &q)) return;
  int c = slp_decimal_cmp(&x, &y);
  REQUIRE(sign_of(c) == sign_of(slp_n38_cmp(&p, &q)) && sign_of(slp_decimal_cmp(&y, &x)) == -sign_of(c));
  int r = slp_decimal_add(&x, &y, &sum);
  REQUIRE((r == 0) == (slp_n38_add(&p, &q, 0, &added) == SLP_N38_FINE));
  if (r) return;
  REQUIRE(same_text(&sum, &added));
  REQUIRE(slp_decimal_add(&y, &x, &back) == 0 && slp_decimal_cmp(&sum, &back) == 0);
  if (y.n) y.negative = !y.negative;
  if (slp_decimal_add(&sum, &y, &back) == 0) REQUIRE(slp_decimal_cmp(&back, &x) == 0);
}

/* ---- whole numbers ---------------------------------------------------------------------------- */

static int all_digits(slp_str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] < '0' || s.p[i] > '9') return 0;
  return s.n > 0;
}

static void words(const char *z, slp_str s) {
  uint64_t u = 7;
  int64_t i = 7;
  slp_str amount = s.n && s.p[0] == '-' ? (slp_str){s.p + 1, s.n - 1} : s;
  errno = 0;
  unsigned long long want = strtoull(z, NULL, 10);
  int r = slp_parse_u64(s, &u);
  REQUIRE((r == SLP_EBADDATA) == !all_digits(s) || r == SLP_ELIMIT);
  if (all_digits(s)) REQUIRE(errno == ERANGE ? r == SLP_ELIMIT && u == 7 : r == 0 && u == want);
  errno = 0;
  long long wanted = strtoll(z, NULL, 10);
  r = slp_parse_i64(s, &i);
  if (all_digits(amount)) REQUIRE(errno == ERANGE ? r == SLP_ELIMIT && i == 7 : r == 0 && i == wanted);
  if (!all_digits(amount)) REQUIRE(r && i == 7);
}

static int in_128_bits(slp_str s, u128 *ret) {
  u128 v = 0;
  for (size_t i = 0; i < s.n; i++) {
    unsigned d = (unsigned)(s.p[i] - '0');
    if (v > (~(u128)0 - d) / 10) return 0;
    v = v * 10 + d;
  }
  *ret = v;
  return 1;
}

static void bits_128(slp_str s) {
  uint8_t bytes[16];
  u128 want, got = 0;
  int r = slp_parse_u128(s, bytes);
  REQUIRE(slp_num_valid(s) == all_digits(s));
  REQUIRE(slp_num_plain(s) == (all_digits(s) && (s.n == 1 || s.p[0] != '0')));
  if (!all_digits(s)) {
    REQUIRE(r == SLP_EBADDATA || r == SLP_ELIMIT);
  } else if (!in_128_bits(s, &want)) {
    REQUIRE(r == SLP_ELIMIT);
  } else {
    for (int i = 0; i < 16; i++) got = got << 8 | bytes[i];
    REQUIRE(r == 0 && got == want);
  }
}

static void order(slp_str a, slp_str b) {
  u128 x, y;
  if (!slp_num_valid(a) || !slp_num_valid(b) || !in_128_bits(a, &x) || !in_128_bits(b, &y)) return;
  REQUIRE(slp_num_cmp(a, b) == (x > y) - (x < y));
}

/* ---- numbers of JSON as milliseconds ----------------------------------------------------------- */

static int is_json_number(slp_str s) {
  char *copy = fuzz_copy((const uint8_t *)s.p, s.n);
  slp_json j;
  slp_json_begin(&j, copy, s.n);
  int is = slp_json_next(&j) == SLP_JSON_NUMBER && j.text.n == s.n && slp_json_next(&j) == SLP_JSON_END;
  free(copy);
  return is;
}

/* digits x 10^(exponent + shift), rounded half away from zero; 0: not within 64 bits. */
static int scaled(const slp_n38 *n, int shift, int64_t *ret) {
  u128 v = 0;
  int exponent = n->exponent + shift;
  for (int i = 0; i < n->digits_n; i++) v = v * 10 + n->digits[i];
  for (; exponent > 0 && v && v < (u128)1 << 100; exponent--) v *= 10;
  u128 unit = 1;
  for (; exponent < 0 && unit <= v; exponent++) unit *= 10; /* no more than 10^38 */
  v = exponent < 0 ? 0 : v / unit + (v % unit >= (unit + 1) / 2);
  if (n->digits_n && v > (u128)INT64_MAX) return 0;
  *ret = n->negative ? -(int64_t)v : (int64_t)v;
  return 1;
}

static void milliseconds(slp_str s) {
  static const int shifts[] = {0, 3};
  slp_n38 n;
  if (!is_json_number(s)) return;
  slp_n38_fault fault = slp_n38_parse(s, &n);
  for (int i = 0; i < 2; i++) {
    int64_t ms = 7, want;
    int r = slp_decimal_scaled(s, shifts[i], &ms);
    REQUIRE(r == 0 || (r == SLP_ELIMIT && ms == 7));
    if (fault == SLP_N38_OVERFLOW) REQUIRE(r);
    if (fault == SLP_N38_UNDERFLOW) REQUIRE(r == 0 && ms == 0);
    if (fault) continue; /* more than 38 digits */
    if (scaled(&n, shifts[i], &want))
      REQUIRE(r == 0 && ms == want);
    else
      REQUIRE(r == SLP_ELIMIT || ms == INT64_MIN);
  }
}

static void one(const char *z, slp_str s) {
  words(z, s);
  bits_128(s);
  milliseconds(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > TEXT_MAX || memchr(data, 0, size)) return 0;
  char *z = malloc(size + 2);
  REQUIRE(z != NULL);
  memcpy(z, data, size);
  z[size] = z[size + 1] = 0;
  char *space = strchr(z, ' '), *second = space ? space + 1 : z + size;
  if (space) *space = 0;
  slp_str a = slp_str_of(z), b = slp_str_of(second);
  two(a, b);
  one(z, a);
  one(second, b);
  order(a, b);
  free(z);
  return 0;
}
