/* u128.c - arithmetic with 128 bits, against numbers that were worked out elsewhere and against itself. */
#include "base/u128.h"
#include "check.h"
#include "rnd.h"

static slp_u128 number(uint64_t hi, uint64_t lo) { return (slp_u128){hi, lo}; }

static void check_same(slp_u128 a, slp_u128 b) {
  CHECK_INT(slp_u128_cmp(a, b), 0);
  CHECK(slp_u128_eq(a, b) && a.hi == b.hi && a.lo == b.lo);
}

TEST(carries_and_borrows_reach_the_upper_half) {
  check_same(slp_u128_add(number(1, UINT64_MAX), SLP_U128(1)), number(2, 0));
  check_same(slp_u128_sub(number(2, 0), SLP_U128(1)), number(1, UINT64_MAX));
  check_same(slp_u128_add(SLP_U128_MAX, SLP_U128(1)), SLP_U128(0));
  check_same(slp_u128_sub(SLP_U128(0), SLP_U128(1)), SLP_U128_MAX);
  check_same(slp_u128_half(number(3, 1)), number(1, UINT64_C(1) << 63));
  check_same(slp_u128_middle(SLP_U128(4), SLP_U128(7)), SLP_U128(5));
  check_same(slp_u128_middle(SLP_U128(0), SLP_U128_MAX), number(UINT64_MAX >> 1, UINT64_MAX));
}

TEST(numbers_are_compared_by_their_upper_halves_first) {
  CHECK_INT(slp_u128_cmp(number(1, 0), number(0, UINT64_MAX)), 1);
  CHECK_INT(slp_u128_cmp(number(1, 5), number(1, 6)), -1);
  CHECK(slp_u128_within(SLP_U128(5), SLP_U128(5), SLP_U128(5)));
  CHECK(!slp_u128_within(SLP_U128(4), SLP_U128(5), SLP_U128(6)));
  CHECK(!slp_u128_within(number(1, 5), SLP_U128(5), SLP_U128(6)));
}

TEST(products) {
  check_same(slp_u128_product(UINT64_MAX, UINT64_MAX), number(UINT64_MAX - 1, 1));
  check_same(slp_u128_product(UINT64_C(0x123456789abcdef0), UINT64_C(0xfedcba9876543210)),
             number(UINT64_C(0x121fa00ad77d7422), UINT64_C(0x236d88fe5618cf00)));
  check_same(slp_u128_times(number(3, UINT64_MAX), 2), number(7, UINT64_MAX - 1));
}

/* A quotient is right if quotient * by + rest is the dividend, and rest < by. */
static void check_quotient(slp_u128 a, uint64_t by) {
  uint64_t rest, other;
  slp_u128 v = slp_u128_div(a, by, &rest);
  CHECK(rest < by);
  check_same(slp_u128_add(slp_u128_times(v, by), SLP_U128(rest)), a);
  if (a.hi >= by) return;
  CHECK(v.hi == 0 && slp_u128_div_bits(a, by, &other) == v.lo && other == rest);
}

TEST(quotients_and_rests_give_the_dividend_again) {
  static const uint64_t divisors[] = {
      1, 2, 10, UINT32_MAX, (uint64_t)UINT32_MAX + 1, UINT64_C(10000000000000000000), UINT64_MAX};
  for (size_t i = 0; i < SLP_COUNT(divisors); i++) {
    check_quotient(SLP_U128_MAX, divisors[i]);
    check_quotient(SLP_U128(0), divisors[i]);
    check_quotient(number(divisors[i] - 1, UINT64_MAX), divisors[i]);
    for (int n = 0; n < 1000; n++) check_quotient(number(rnd(UINT64_MAX), rnd(UINT64_MAX)), divisors[i]);
  }
  for (int n = 0; n < 20000; n++)
    check_quotient(number(rnd(UINT64_MAX) >> (n & 63), rnd(UINT64_MAX)),
                   (rnd(UINT64_MAX) >> (n / 64 & 63)) | 1);
}

TEST(texts) {
  char text[40];
  slp_u128_text(SLP_U128_MAX, text);
  CHECK_STR(text, "340282366920938463463374607431768211455");
  slp_u128_text(SLP_U128(0), text);
  CHECK_STR(text, "0");
  slp_u128_text(number(1, 0), text);
  CHECK_STR(text, "18446744073709551616");
}
