/* json_number.c - writes floating-point numbers and decimals in JSON's syntax. */
#include "cli/json_number.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#define EXACT_MAX 9007199254740992.0 /* 2^53: every whole number up to this one is exact as a double */

/* JSON has no NaN and no infinities. Writes such a number as a string and returns 1. Returns 0 for any other
 * number. Uses no function of libm. */
static int put_odd(slp_buf *b, double x) {
  if (x - x == 0) return 0;
  slp_buf_add_z(b, x != x ? "\"NaN\"" : x > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  return 1;
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static int is_minus_zero(double x) { return bits_of(x) == UINT64_C(1) << 63; }

/* If x is a whole number from -max to max, except -0, writes it and returns 1. Otherwise returns 0. Most
 * numbers are whole, and this function is faster than the general way. */
static int put_whole(slp_buf *b, double x, double max) {
  if (!(x >= -max && x <= max) || is_minus_zero(x)) return 0;
  int64_t whole = (int64_t)x;
  if ((double)whole < x || (double)whole > x) return 0;
  slp_buf_add_i64(b, whole);
  return 1;
}

void slp_json_put_double(slp_buf *b, double x) {
  char text[40];
  if (put_odd(b, x) || put_whole(b, x, EXACT_MAX)) return;
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, x);
    if (bits_of(strtod(text, NULL)) == bits_of(x)) break;
  }
  slp_buf_add_z(b, text);
}

void slp_json_put_float(slp_buf *b, float x) {
  char text[40];
  if (put_odd(b, (double)x) || put_whole(b, (double)x, 16777216.0)) return;
  for (int digits = 6; digits <= 9; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, (double)x);
    if (bits_of((double)strtof(text, NULL)) == bits_of((double)x)) break;
  }
  slp_buf_add_z(b, text);
}

/* ---- decimals ---- */

enum { WORDS = SLP_DECIMAL_BYTES_MAX / 4 + 1, DIGITS = SLP_DECIMAL_BYTES_MAX * 5 / 2 + 12 };

/* Reads the absolute value of a number in two's complement into words, the lowest word first. Returns 1 if
 * the number is negative. */
static int read_words(slp_str bytes, uint32_t words[WORDS]) {
  int negative = bytes.n && (bytes.p[0] & 0x80);
  memset(words, 0, WORDS * sizeof *words);
  for (size_t i = 0; i < bytes.n; i++) {
    uint8_t byte = (uint8_t)bytes.p[bytes.n - 1 - i];
    words[i / 4] |= (uint32_t)(negative ? (uint8_t)~byte : byte) << (i % 4 * 8);
  }
  for (size_t i = 0; negative && i < WORDS; i++)
    if (++words[i]) break;
  return negative;
}

/* Divides the number in `words` by 10^9 and returns the remainder. */
static uint32_t divide_by_billion(uint32_t words[WORDS]) {
  uint64_t rest = 0;
  for (size_t i = WORDS; i-- > 0;) {
    rest = rest << 32 | words[i];
    words[i] = (uint32_t)(rest / 1000000000u);
    rest %= 1000000000u;
  }
  return (uint32_t)rest;
}

static int is_zero(const uint32_t words[WORDS]) {
  for (size_t i = 0; i < WORDS; i++)
    if (words[i]) return 0;
  return 1;
}

void slp_json_put_decimal(slp_buf *b, slp_str bytes, unsigned scale) {
  uint32_t words[WORDS];
  char digits[DIGITS + 12];
  size_t n = 0; /* number of digits found so far; digits are found from the lowest to the highest */
  SLP_CHECK(bytes.n <= SLP_DECIMAL_BYTES_MAX);
  int negative = read_words(bytes, words);
  while (!is_zero(words)) {
    uint32_t nine = divide_by_billion(words);
    for (int i = 0; i < 9; i++, nine /= 10) digits[n++] = (char)('0' + nine % 10);
  }
  while (n && digits[n - 1] == '0') n--;
  if (negative && n) slp_buf_add_char(b, '-');
  size_t whole = n > scale ? n - scale : 0;
  if (!whole) slp_buf_add_char(b, '0');
  for (size_t i = 0; i < whole; i++) slp_buf_add_char(b, digits[n - 1 - i]);
  if (!scale) return;
  slp_buf_add_char(b, '.');
  for (size_t i = scale; i-- > 0;) slp_buf_add_char(b, i < n ? digits[i] : '0');
}
