/* ddb_number.c - decimal numbers of 38 digits, as in DynamoDB. They are exact, because they are never
 * converted to binary floating point. */
#include "sandbox/ddb.h"

#define TOP_MAX 125    /* the largest power of ten that the first digit may have */
#define TOP_MIN (-130) /* the smallest power of ten that the first digit may have */
#define LOWEST (TOP_MIN - SLP_N38_DIGITS)
#define WIDTH (TOP_MAX + 3 - LOWEST) /* number of decimal places that any two numbers and their sum need */
#define EXPONENT_MAX 1000000

static int is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

/* Parses an exponent. An exponent that is too large becomes a value that is out of range too. */
static int read_exponent(slp_str text, size_t at, int64_t *ret) {
  int negative = 0;
  int64_t e = 0;
  if (at < text.n && (text.p[at] == '-' || text.p[at] == '+')) negative = text.p[at++] == '-';
  if (at == text.n) return SLP_EBADDATA;
  for (; at < text.n; at++) {
    if (!is_decimal_digit(text.p[at])) return SLP_EBADDATA;
    if (e < EXPONENT_MAX) e = e * 10 + (text.p[at] - '0');
  }
  *ret = negative ? -e : e;
  return 0;
}

/* Checks the range of a number. The power of ten of its first digit must be TOP_MIN to TOP_MAX. */
static slp_n38_fault in_range(const slp_n38 *n, int64_t exponent) {
  int64_t top = exponent + n->digits_n - 1;
  if (n->digits_n == 0) return SLP_N38_FINE;
  if (top > TOP_MAX) return SLP_N38_OVERFLOW;
  return top < TOP_MIN ? SLP_N38_UNDERFLOW : SLP_N38_FINE;
}

slp_n38_fault slp_n38_parse(slp_str text, slp_n38 *ret) {
  size_t at = 0, digits = 0, zeros = 0;
  int64_t exponent = 0, after_point = 0;
  int point = 0, negative = 0, too_many = 0;
  *ret = (slp_n38){0};
  if (at < text.n && (text.p[at] == '-' || text.p[at] == '+')) negative = text.p[at++] == '-';
  for (; at < text.n && text.p[at] != 'e' && text.p[at] != 'E'; at++) {
    if (text.p[at] == '.') {
      if (point++) return SLP_N38_TEXT;
      continue;
    }
    if (!is_decimal_digit(text.p[at])) return SLP_N38_TEXT;
    digits++;
    after_point += point;
    uint8_t d = (uint8_t)(text.p[at] - '0');
    if (d == 0) {
      zeros++; /* zeros at the end are not among the number's significant digits */
      continue;
    }
    while (zeros > 0 && ret->digits_n > 0 && !too_many) {
      too_many = ret->digits_n == SLP_N38_DIGITS;
      if (!too_many) ret->digits[ret->digits_n++] = 0;
      zeros--;
    }
    if (ret->digits_n == SLP_N38_DIGITS) too_many = 1;
    if (!too_many) ret->digits[ret->digits_n++] = d;
    zeros = 0;
  }
  if (digits == 0) return SLP_N38_TEXT;
  if (at < text.n && read_exponent(text, at + 1, &exponent)) return SLP_N38_TEXT;
  if (too_many) return SLP_N38_PRECISION;
  if (ret->digits_n == 0) return SLP_N38_FINE;
  exponent += (int64_t)zeros - after_point;
  slp_n38_fault fault = in_range(ret, exponent);
  ret->negative = (uint8_t)negative;
  ret->exponent = fault ? 0 : (int16_t)exponent;
  return fault;
}

size_t slp_n38_text(const slp_n38 *n, char out[SLP_N38_TEXT_MAX]) {
  size_t to = 0;
  int top = n->exponent + n->digits_n - 1, last = n->exponent < 0 ? n->exponent : 0;
  if (n->digits_n == 0) {
    out[0] = '0';
    return 1;
  }
  if (n->negative) out[to++] = '-';
  for (int power = top > 0 ? top : 0; power >= last; power--) {
    int place = top - power;
    if (power == -1) out[to++] = '.';
    out[to++] = (char)('0' + (place >= 0 && place < n->digits_n ? n->digits[place] : 0));
  }
  return to;
}

/* Compares the absolute values. */
static int cmp_amount(const slp_n38 *a, const slp_n38 *b) {
  if (a->digits_n == 0 || b->digits_n == 0) return (a->digits_n > 0) - (b->digits_n > 0);
  int top_a = a->exponent + a->digits_n, top_b = b->exponent + b->digits_n;
  if (top_a != top_b) return top_a < top_b ? -1 : 1;
  int common = a->digits_n < b->digits_n ? a->digits_n : b->digits_n;
  int c = memcmp(a->digits, b->digits, (size_t)common);
  if (c) return c < 0 ? -1 : 1;
  return (a->digits_n > b->digits_n) - (a->digits_n < b->digits_n);
}

int slp_n38_cmp(const slp_n38 *a, const slp_n38 *b) {
  if (a->negative != b->negative) return a->negative ? -1 : 1; /* zero never has `negative` set */
  int c = cmp_amount(a, b);
  return a->negative ? -c : c;
}

/* Writes the digits of n into `wide`, one for each power of ten. wide[0] is the digit of 10^LOWEST. */
static void spread_digits(const slp_n38 *n, int8_t wide[WIDTH]) {
  memset(wide, 0, WIDTH);
  for (int i = 0; i < n->digits_n; i++)
    wide[n->exponent + n->digits_n - 1 - i - LOWEST] = (int8_t)n->digits[i];
}

slp_n38_fault slp_n38_add(const slp_n38 *a, const slp_n38 *b, int subtract, slp_n38 *ret) {
  int8_t x[WIDTH], y[WIDTH];
  int b_negative = b->digits_n > 0 && (b->negative != 0) != (subtract != 0),
      opposed = a->negative != b_negative;
  int swap = cmp_amount(a, b) < 0, carry = 0, first = WIDTH - 1, last = 0;
  spread_digits(swap ? b : a, x); /* x gets the number with the larger absolute value */
  spread_digits(swap ? a : b, y);
  int negative = swap ? b_negative : a->negative;
  for (int i = 0; i < WIDTH; i++) {
    int d = opposed && a->digits_n && b->digits_n ? x[i] - y[i] - carry : x[i] + y[i] + carry;
    carry = d < 0 || d > 9;
    x[i] = (int8_t)(d < 0 ? d + 10 : d > 9 ? d - 10 : d);
  }
  *ret = (slp_n38){0};
  while (first >= 0 && x[first] == 0) first--;
  if (first < 0) return SLP_N38_FINE;
  while (x[last] == 0) last++;
  if (first - last >= SLP_N38_DIGITS) return SLP_N38_PRECISION;
  for (int i = first; i >= last; i--) ret->digits[ret->digits_n++] = (uint8_t)x[i];
  ret->negative = (uint8_t)negative;
  ret->exponent = (int16_t)(last + LOWEST);
  return in_range(ret, ret->exponent);
}

const char *slp_n38_why(slp_n38_fault fault) {
  switch (fault) {
    case SLP_N38_FINE: return "";
    case SLP_N38_TEXT: return "The parameter cannot be converted to a numeric value";
    case SLP_N38_PRECISION: return "Attempting to store more than 38 significant digits in a Number";
    case SLP_N38_OVERFLOW:
      return "Number overflow. Attempting to store a number with magnitude larger than supported range";
    case SLP_N38_UNDERFLOW:
      return "Number underflow. Attempting to store a number with magnitude smaller than supported range";
  }
  return "";
}

/* Returns the size of a number in an item: one byte for each pair of digits, one for the exponent, and one
 * for a minus. The pairs are counted from the decimal point. */
size_t slp_n38_size(const slp_n38 *n) {
  if (n->digits_n == 0) return 1;
  int odd_low = n->exponent & 1, digits = n->digits_n + (odd_low ? 1 : 0);
  return (size_t)(digits + 1) / 2 + 1 + n->negative;
}
