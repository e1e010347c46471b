/* num.c - decimal text of any length: valid or not, greater or less, and into machine words. */
#include "base/num.h"
#include "check.h"

TEST(sequence_numbers_are_digits_and_zeros_in_front_are_taken) {
  CHECK(slp_num_valid(SLP_STR("0")) && slp_num_valid(SLP_STR("7")) && slp_num_valid(SLP_STR("10")));
  CHECK(slp_num_valid(SLP_STR("00")) && slp_num_valid(SLP_STR("000000000000000000001")));
  CHECK(!slp_num_valid(SLP_STR("")) && !slp_num_valid(SLP_STR("0x1")) && !slp_num_valid(SLP_STR("1x")));
  CHECK(!slp_num_valid(SLP_STR("-1")) && !slp_num_valid(SLP_STR("1 ")));
}

TEST(plain_numbers_have_no_zeros_in_front) {
  CHECK(slp_num_plain(SLP_STR("0")) && slp_num_plain(SLP_STR("7")) && slp_num_plain(SLP_STR("10")));
  CHECK(!slp_num_plain(SLP_STR("")) && !slp_num_plain(SLP_STR("00")) && !slp_num_plain(SLP_STR("01")));
  CHECK(!slp_num_plain(SLP_STR("1x")));
}

TEST(a_number_fits_when_only_zeros_in_front_are_too_many) {
  CHECK(slp_str_is(slp_num_fit(SLP_STR("007"), 3), "007") &&
        slp_str_is(slp_num_fit(SLP_STR("007"), 2), "07"));
  CHECK(slp_str_is(slp_num_fit(SLP_STR("000"), 1), "0"));
  CHECK(!slp_num_fit(SLP_STR("0123"), 2).n && !slp_num_fit(SLP_STR("123"), 2).n);
  CHECK(!slp_num_fit(SLP_STR(""), 2).n && !slp_num_fit(SLP_STR("+1"), 2).n &&
        !slp_num_fit(SLP_STR(" 1"), 2).n);
}

TEST(zeros_in_front_change_no_order) {
  static const struct {
    const char *a, *b;
    int order;
  } cases[] = {{"000000000000000000100", "99", 1},
               {"000000000000000000100", "100", 0},
               {"000000000000000000100", "101", -1},
               {"000000000000000000100", "000000000000000000099", 1},
               {"0", "000", 0},
               {"00", "1", -1},
               {"", "00", -1},
               {"0123", "45", 1}};
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    slp_str a = slp_str_of(cases[i].a), b = slp_str_of(cases[i].b);
    if (slp_num_cmp(a, b) != cases[i].order || slp_num_cmp(b, a) != -cases[i].order)
      CHECK_FAIL("%s and %s", cases[i].a, cases[i].b);
  }
}

TEST(comparison_is_by_value_not_by_text) {
  CHECK_INT(slp_num_cmp(SLP_STR("9"), SLP_STR("10")), -1);
  CHECK_INT(slp_num_cmp(SLP_STR("49680417198371168986991908271191709414732856935575453746"),
                        SLP_STR("49680417198371168986991908271191709414732856935575453747")),
            -1);
  CHECK_INT(slp_num_cmp(SLP_STR("5"), SLP_STR("5")), 0);
  char long_a[129], long_b[129];
  memset(long_a, '9', 129);
  memset(long_b, '9', 129);
  long_b[128] = '8';
  CHECK_INT(slp_num_cmp((slp_str){long_a, 129}, (slp_str){long_b, 129}), 1);
}

TEST(words_overflow_exactly_where_they_end) {
  uint64_t u;
  int64_t i;
  CHECK_INT(slp_parse_u64(SLP_STR("18446744073709551615"), &u), 0);
  CHECK(u == UINT64_MAX);
  CHECK_INT(slp_parse_u64(SLP_STR("18446744073709551616"), &u), SLP_ELIMIT);
  CHECK_INT(slp_parse_u64(SLP_STR("1a"), &u), SLP_EBADDATA);
  CHECK_INT(slp_parse_u64(SLP_STR(""), &u), SLP_EBADDATA);
  CHECK_INT(slp_parse_i64(SLP_STR("-9223372036854775808"), &i), 0);
  CHECK(i == INT64_MIN);
  CHECK_INT(slp_parse_i64(SLP_STR("-9223372036854775809"), &i), SLP_ELIMIT);
  CHECK_INT(slp_parse_i64(SLP_STR("9223372036854775808"), &i), SLP_ELIMIT);
  CHECK_INT(slp_parse_i64(SLP_STR("-0"), &i), 0);
  CHECK_INT(i, 0);
}

TEST(hash_keys_become_sixteen_bytes) {
  static const struct {
    const char *text, *hex;
    int verdict;
  } cases[] = {
      {"0", "00000000000000000000000000000000", 0},
      {"255", "000000000000000000000000000000ff", 0},
      {"000256", "00000000000000000000000000000100", 0},
      {"4294967296", "00000000000000000000000100000000", 0},
      {"18446744073709551616", "00000000000000010000000000000000", 0},
      {"79228162514264337593543950336", "00000001000000000000000000000000", 0},
      {"170141183460469231731687303715884105728", "80000000000000000000000000000000", 0},
      {"340282366920938463463374607431768211455", "ffffffffffffffffffffffffffffffff", 0},
      {"340282366920938463463374607431768211456", NULL, SLP_ELIMIT},
      {"3402823669209384634633746074317682114550", NULL, SLP_ELIMIT},
      {"", NULL, SLP_EBADDATA},
      {"-1", NULL, SLP_EBADDATA},
      {"12a", NULL, SLP_EBADDATA},
  };
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    uint8_t got[16];
    char hex[33] = {0};
    CHECK_INT(slp_parse_u128(slp_str_of(cases[i].text), got), cases[i].verdict);
    if (cases[i].verdict) continue;
    for (int j = 0; j < 16; j++) snprintf(hex + 2 * j, 3, "%02x", got[j]);
    CHECK_STR(hex, cases[i].hex);
  }
}
