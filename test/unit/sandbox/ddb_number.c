/* ddb_number.c - 38-digit decimals: what they normalise to, their range, sums and order. The sums of
 * random numbers are checked against 128-bit integers. */
#include "check.h"
#include "sandbox/ddb.h"

static const char *normal(const char *text) {
  static char out[SLP_N38_TEXT_MAX + 1];
  slp_n38 n;
  slp_n38_fault fault = slp_n38_parse(slp_str_of(text), &n);
  if (fault) return slp_n38_why(fault);
  out[slp_n38_text(&n, out)] = 0;
  return out;
}

#define NINES "99999999999999999999999999999999999999" /* 38 */

TEST(numbers_are_normalised) {
  static const char *const cases[][2] = {
      {"007", "7"},
      {"1.0", "1"},
      {"-0", "0"},
      {"-0.000", "0"},
      {"0e500", "0"},
      {"+5", "5"},
      {".5", "0.5"},
      {"5.", "5"},
      {"1e3", "1000"},
      {"1E+3", "1000"},
      {"12e-1", "1.2"},
      {"-12.50", "-12.5"},
      {"1e-3", "0.001"},
      {"100", "100"},
      {"1010", "1010"},
      {"0.00100", "0.001"},
      {NINES, NINES},
      {"-" NINES, "-" NINES},
      {NINES "000", NINES "000"},
      {"000000000000000000000000000000000000000000000001", "1"},
      {"1.00000000000000000000000000000000000000000000", "1"},
      {"12345678901234567890.123456789012345678", "12345678901234567890.123456789012345678"},
  };
  for (size_t i = 0; i < SLP_COUNT(cases); i++) CHECK_STR(normal(cases[i][0]), cases[i][1]);
}

TEST(bad_and_excessive_numbers_are_refused) {
  static const char *const bad[] = {"",   "-",     "+",    ".",   "e5",       "1e",    "1e+", "1x", " 1",
                                    "1 ", "1.2.3", "0x10", "NaN", "Infinity", "1e5.5", "--1", "1,5"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) CHECK_STR(normal(bad[i]), slp_n38_why(SLP_N38_TEXT));
  CHECK_STR(normal("1" NINES), slp_n38_why(SLP_N38_PRECISION));
  CHECK_STR(normal("1.00000000000000000000000000000000000001"), slp_n38_why(SLP_N38_PRECISION));
  CHECK_STR(normal("1e126"), slp_n38_why(SLP_N38_OVERFLOW));
  CHECK_STR(normal("-1e126"), slp_n38_why(SLP_N38_OVERFLOW));
  CHECK_STR(normal("1e99999999999999999999"), slp_n38_why(SLP_N38_OVERFLOW));
  CHECK_STR(normal("1e-131"), slp_n38_why(SLP_N38_UNDERFLOW));
  CHECK_STR(normal("1e-99999999999999999999"), slp_n38_why(SLP_N38_UNDERFLOW));
  CHECK_INT(strlen(normal("9." NINES "e0") + 0) > 0, 1);
  CHECK_INT(strlen(normal("1e125")), 126);
  CHECK_INT(strlen(normal("1e-130")), 132);
  CHECK_INT(strlen(normal("9.9999999999999999999999999999999999999e125")), 126);
}

static slp_n38 num(const char *text) {
  slp_n38 n;
  if (slp_n38_parse(slp_str_of(text), &n)) CHECK_FAIL("%s is refused", text);
  return n;
}

static const char *sum(const char *a, const char *b, int subtract) {
  static char out[SLP_N38_TEXT_MAX + 1];
  slp_n38 x = num(a), y = num(b), r;
  slp_n38_fault fault = slp_n38_add(&x, &y, subtract, &r);
  if (fault) return slp_n38_why(fault);
  out[slp_n38_text(&r, out)] = 0;
  return out;
}

TEST(sums_are_exact) {
  CHECK_STR(sum("0.1", "0.2", 0), "0.3");
  CHECK_STR(sum("1", "1", 1), "0");
  CHECK_STR(sum("0", "5", 1), "-5");
  CHECK_STR(sum("0", "-5", 1), "5");
  CHECK_STR(sum("5", "0", 1), "5");
  CHECK_STR(sum("-5", "0", 0), "-5");
  CHECK_STR(sum("0", "0", 1), "0");
  CHECK_STR(sum("-3", "5", 0), "2");
  CHECK_STR(sum("3", "-5", 0), "-2");
  CHECK_STR(sum("-3", "-5", 1), "2");
  CHECK_STR(sum("1000", "0.001", 1), "999.999");
  CHECK_STR(sum("9999999999999999999999999999999999999", "1", 0), "10000000000000000000000000000000000000");
  CHECK_STR(sum(NINES, "1", 0), "100000000000000000000000000000000000000");
  CHECK_STR(sum(NINES, "0.1", 0), slp_n38_why(SLP_N38_PRECISION));
  CHECK_STR(sum("1e100", "1", 0), slp_n38_why(SLP_N38_PRECISION));
  CHECK_STR(sum("9e125", "1e125", 0), slp_n38_why(SLP_N38_OVERFLOW));
  CHECK_STR(sum("1.1e-130", "1e-130", 1), slp_n38_why(SLP_N38_UNDERFLOW));
}

TEST(random_sums_and_orders_agree_with_integers) {
  uint64_t state = 1;
  for (int i = 0; i < 20000; i++) {
    char a[48], b[48], want[48];
    long long v[2];
    for (int k = 0; k < 2; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      v[k] = (long long)(state >> 2) >> (state % 61);
      if (state & 2) v[k] = -v[k];
    }
    snprintf(a, sizeof a, "%lld", v[0]);
    snprintf(b, sizeof b, "%lld", v[1]);
    snprintf(want, sizeof want, "%lld", v[0] + v[1]);
    CHECK_STR(sum(a, b, 0), want);
    snprintf(want, sizeof want, "%lld", v[0] - v[1]);
    CHECK_STR(sum(a, b, 1), want);
    slp_n38 x = num(a), y = num(b);
    CHECK_INT(slp_n38_cmp(&x, &y), (v[0] > v[1]) - (v[0] < v[1]));
  }
}

TEST(order_knows_points_and_signs) {
  static const char *const rising[] = {"-1e125", "-10",  "-9.9", "-1",  "-0.1", "-1e-130",   "0",    "1e-130",
                                       "0.1",    "0.11", "1",    "9.9", "10",   "10.000001", "1e125"};
  for (size_t i = 0; i < SLP_COUNT(rising); i++) {
    for (size_t k = 0; k < SLP_COUNT(rising); k++) {
      slp_n38 x = num(rising[i]), y = num(rising[k]);
      CHECK_INT(slp_n38_cmp(&x, &y), (i > k) - (i < k));
    }
  }
}

TEST(sizes_count_pairs_of_digits) {
  static const struct {
    const char *text;
    size_t size;
  } cases[] = {{"0", 1},    {"1", 2},   {"12", 2},  {"123", 3}, {"-1", 3},
               {"1000", 2}, {"1.5", 3}, {"100", 2}, {NINES, 20}};
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    slp_n38 n = num(cases[i].text);
    CHECK_INT(slp_n38_size(&n), cases[i].size);
  }
}
