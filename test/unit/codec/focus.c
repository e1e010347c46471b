/* focus.c - words order as the numbers do, whatever the focus is. */
#include "codec/focus.h"

#include "base/num.h"
#include "check.h"
#include "rnd.h"

/* A number that nearly shares the focus' digits, or not at all, or has another length. */
static slp_str number(char *text, const char *base, size_t length) {
  size_t n = rnd(8) ? length : 1 + rnd(129);
  for (size_t i = 0; i < n; i++) text[i] = (char)('0' + rnd(10));
  if (rnd(8)) memcpy(text, base, rnd(n < length ? n : length));
  if (text[0] == '0') text[0] = '1';
  if (rnd(16) == 0) { /* zeros in front, so that it is as long or longer and still less */
    size_t zeros = 1 + rnd(129 - n + (n == 129));
    if (n + zeros > 129) n -= zeros;
    memmove(text + zeros, text, n);
    memset(text, '0', zeros);
    n += zeros;
  }
  return (slp_str){text, n};
}

TEST(words_that_differ_order_as_the_numbers_do) {
  char base[130], left[130], right[130];
  size_t differed = 0, decided_inside = 0;
  for (int round = 0; round < 2000; round++) {
    size_t length = SLP_FOCUS_DIGITS + rnd(111);
    for (size_t i = 0; i < length; i++) base[i] = (char)('0' + rnd(10));
    if (base[0] == '0') base[0] = '4';
    slp_focus f = {.id = 1, .length = length, .from = rnd(length - SLP_FOCUS_DIGITS + 1)};
    if (f.from < 8) f.from = 0;
    if (f.from > sizeof f.shared) f.from = sizeof f.shared;
    memcpy(f.shared, base, f.from);
    for (int k = 0; k < 100; k++) {
      slp_str a = number(left, base, length), b = number(right, base, length);
      uint64_t word_a = slp_focus_word(&f, a), word_b = slp_focus_word(&f, b);
      if (word_a == word_b) continue;
      differed++;
      CHECK_INT(word_a < word_b ? -1 : 1, slp_num_cmp(a, b));
      decided_inside += word_a != SLP_FOCUS_BELOW && word_a != SLP_FOCUS_ABOVE && word_b != SLP_FOCUS_BELOW &&
                        word_b != SLP_FOCUS_ABOVE;
    }
  }
  CHECK(differed > 100000 && decided_inside > 10000);
}

TEST(the_greatest_and_the_least_digits_are_inside) {
  slp_focus f = {.id = 1, .length = 56, .from = 20, .shared = "49590338271490256608"};
  char text[57] = "49590338271490256608";
  memset(text + 20, '0', 36);
  CHECK(slp_focus_word(&f, (slp_str){text, 56}) == 1);
  memset(text + 20, '9', 36);
  CHECK(slp_focus_word(&f, (slp_str){text, 56}) == UINT64_C(10000000000000000000));
  CHECK(slp_focus_word(&f, SLP_STR("")) == SLP_FOCUS_BELOW);
  CHECK(slp_focus_word(&f, SLP_STR("1")) == SLP_FOCUS_BELOW);
  text[0] = '5';
  CHECK(slp_focus_word(&f, (slp_str){text, 56}) == SLP_FOCUS_ABOVE);
  text[0] = '3';
  CHECK(slp_focus_word(&f, (slp_str){text, 56}) == SLP_FOCUS_BELOW);
}

TEST(without_a_focus_only_empty_text_is_below) {
  slp_focus none = {.id = 1};
  CHECK(slp_focus_word(&none, SLP_STR("")) == SLP_FOCUS_BELOW);
  CHECK(slp_focus_word(&none, SLP_STR("1")) == SLP_FOCUS_ABOVE);
}
