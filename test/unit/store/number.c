/* store/number.c: 38 digits, exactly. */
#include "store/number.h"

#include "check.h"

static slp_decimal num(const char *text) {
  slp_decimal d;
  if (slp_decimal_parse(slp_str_of(text), &d)) CHECK_FAIL("%s is not read", text);
  return d;
}
static const char *text_of(const slp_decimal *d) {
  static char room[SLP_DECIMAL_TEXT_MAX + 1];
  slp_str s = slp_decimal_text(d, room);
  room[s.n] = 0;
  return room;
}
static const char *sum(const char *a, const char *b) {
  slp_decimal x = num(a), y = num(b), z;
  int r = slp_decimal_add(&x, &y, &z);
  return r == SLP_ELIMIT ? "limit" : text_of(&z);
}
static int cmp(const char *a, const char *b) {
  slp_decimal x = num(a), y = num(b);
  CHECK_INT(slp_decimal_cmp(&y, &x), -slp_decimal_cmp(&x, &y));
  return slp_decimal_cmp(&x, &y);
}

TEST(numbers_are_written_as_the_service_writes_them) {
  static const char *const pairs[][2] = {
      {"0", "0"},
      {"-0", "0"},
      {"000", "0"},
      {"0.000", "0"},
      {"007", "7"},
      {"1.0", "1"},
      {"100", "100"},
      {"-12.50", "-12.5"},
      {"1e3", "1000"},
      {"1.5E+2", "150"},
      {"25e-3", "0.025"},
      {"0.00e5", "0"},
      {".5", "0.5"},
      {"5.", "5"},
      {"0.001e3", "1"},
      {"12345.678e-2", "123.45678"},
      {"+3", "3"},
      {"10.010", "10.01"},
      {"0e999999999", "0"},
      {"18446744073709551617", "18446744073709551617"},
      {"99999999999999999999999999999999999999", "99999999999999999999999999999999999999"}};
  for (size_t i = 0; i < SLP_COUNT(pairs); i++) {
    slp_decimal d = num(pairs[i][0]);
    CHECK_STR(text_of(&d), pairs[i][1]);
  }
  slp_decimal d = num("1e125");
  CHECK_INT(strlen(text_of(&d)), 126);
  d = num("-1.2345678901234567890123456789012345678e-130");
  CHECK_INT(strlen(text_of(&d)), 3 + 129 + 38);
}

TEST(what_is_no_number_or_none_of_38_digits_is_told_apart) {
  static const char *const bad[] = {"",    "-",    ".",  "1.2.3", "1a",  "e5", "1e",
                                    "1e+", "0x10", " 1", "1 ",    "--1", "NaN"};
  static const char *const large[] = {"1e126",
                                      "-1e-131",
                                      "0.1e127",
                                      "999999999999999999999999999999999999999",
                                      "1.00000000000000000000000000000000000001",
                                      "1e999999999999"};
  slp_decimal d;
  for (size_t i = 0; i < SLP_COUNT(bad); i++)
    if (slp_decimal_parse(slp_str_of(bad[i]), &d) != SLP_EBADDATA) CHECK_FAIL("%s", bad[i]);
  for (size_t i = 0; i < SLP_COUNT(large); i++)
    if (slp_decimal_parse(slp_str_of(large[i]), &d) != SLP_ELIMIT) CHECK_FAIL("%s", large[i]);
}

TEST(they_compare_by_value) {
  CHECK_INT(cmp("9", "10"), -1);
  CHECK_INT(cmp("-9", "-10"), 1);
  CHECK_INT(cmp("1.0", "1"), 0);
  CHECK_INT(cmp("1e2", "100"), 0);
  CHECK_INT(cmp("0", "-0"), 0);
  CHECK_INT(cmp("0", "1e-130"), -1);
  CHECK_INT(cmp("0", "-1e-130"), 1);
  CHECK_INT(cmp("-1", "1"), -1);
  CHECK_INT(cmp("12", "123"), -1);
  CHECK_INT(cmp("1.2", "1.19999"), 1);
  CHECK_INT(cmp("18446744073709551616", "18446744073709551617"), -1);
}

TEST(they_add_exactly_or_not_at_all) {
  CHECK_STR(sum("1", "2"), "3");
  CHECK_STR(sum("999", "1"), "1000");
  CHECK_STR(sum("1000", "-1"), "999");
  CHECK_STR(sum("-5", "5"), "0");
  CHECK_STR(sum("0.1", "0.2"), "0.3");
  CHECK_STR(sum("18446744073709551615", "1"), "18446744073709551616");
  CHECK_STR(sum("1e37", "-1"), "9999999999999999999999999999999999999");
  CHECK_STR(sum("99999999999999999999999999999999999999", "1"), "100000000000000000000000000000000000000");
  CHECK_STR(sum("99999999999999999999999999999999999999", "2"), "limit");
  CHECK_STR(sum("1e38", "1"), "limit"); /* 39 digits */
  CHECK_STR(sum("1e125", "1e-130"), "limit");
  CHECK_STR(sum("1e125", "0"), text_of(&(slp_decimal){.point = 126, .n = 1, .digits = "1"}));
  CHECK_STR(sum("9.9e125", "9.9e125"), "limit");
  CHECK_STR(sum("1e125", "-1e125"), "0");
}

TEST(sums_and_orders_agree_with_the_machines) {
  uint64_t x = 1;
  for (int i = 0; i < 200000; i++) {
    char a[40], b[40], want[40];
    x = x * 6364136223846793005u + 1442695040888963407u;
    int64_t m = (int64_t)x >> (20 + x % 43);
    x = x * 6364136223846793005u + 1442695040888963407u;
    int64_t n = (int64_t)x >> (20 + x % 43);
    snprintf(a, sizeof a, "%lld", (long long)m);
    snprintf(b, sizeof b, "%lld", (long long)n);
    snprintf(want, sizeof want, "%lld", (long long)(m + n));
    CHECK_STR(sum(a, b), want);
    CHECK_INT(cmp(a, b), (m > n) - (m < n));
  }
}
