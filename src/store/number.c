/* number.c - exact decimal numbers with up to 38 digits. */
#include "store/number.h"

/* DynamoDB's range, from "Data types" of the DynamoDB developer guide: up to 38 digits, magnitude 1E-130
 * to 9.99...E+125. */
#define POINT_MAX 126
#define POINT_MIN (-129)
/* if the exponent in the text is greater than this, the number is out of range, whatever its digits are */
#define EXPONENT_MAX 100000
/* WIDTH: how many columns an addition on paper needs at most: from the first digit of the larger number to
 * the last digit of the smaller one, and a column for the carry. */
#define WIDTH (POINT_MAX - POINT_MIN + SLP_DECIMAL_DIGITS + 1)

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int read_exponent(slp_str s, int *ret) {
  int minus = s.n && s.p[0] == '-', e = 0;
  if (s.n && (s.p[0] == '-' || s.p[0] == '+')) s.p++, s.n--;
  if (!s.n) return SLP_EBADDATA;
  for (size_t i = 0; i < s.n; i++) {
    if (!is_digit(s.p[i])) return SLP_EBADDATA;
    if (e < EXPONENT_MAX) e = e * 10 + (s.p[i] - '0');
  }
  *ret = minus ? -e : e;
  return 0;
}

/* Reads digits with at most one decimal point. Drops zeros at the front and at the end, and keeps those
 * between other digits. */
static int read_digits(slp_str s, slp_decimal *d) {
  /* zeros since the last other digit; they are stored when another digit follows */
  size_t seen = 0, zeros = 0;
  int point = 0;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '.') {
      if (point++) return SLP_EBADDATA;
      continue;
    }
    if (!is_digit(s.p[i])) return SLP_EBADDATA;
    seen++;
    if (s.p[i] == '0' && d->n == 0) {
      d->point -= point; /* 0.00x: there are zeros between the point and the first digit */
      continue;
    }
    if (!point && d->point < 2 * EXPONENT_MAX) d->point++;
    if (s.p[i] == '0') {
      zeros++;
      continue;
    }
    if (zeros >= SLP_DECIMAL_DIGITS || d->n + zeros >= SLP_DECIMAL_DIGITS) return SLP_ELIMIT;
    memset(d->digits + d->n, '0', zeros);
    d->n += zeros;
    d->digits[d->n++] = s.p[i];
    zeros = 0;
  }
  return seen ? 0 : SLP_EBADDATA;
}

static int in_range(slp_decimal *d) {
  if (d->n == 0) {
    *d = (slp_decimal){0};
    return 0;
  }
  return d->point > POINT_MAX || d->point < POINT_MIN ? SLP_ELIMIT : 0;
}

int slp_decimal_parse(slp_str s, slp_decimal *ret) {
  slp_decimal d = {0};
  int e = 0;
  if (s.n > 4096) return SLP_ELIMIT;
  d.negative = s.n && s.p[0] == '-';
  if (s.n && (s.p[0] == '-' || s.p[0] == '+')) s.p++, s.n--;
  size_t digits = 0;
  while (digits < s.n && s.p[digits] != 'e' && s.p[digits] != 'E') digits++;
  int r = read_digits((slp_str){s.p, digits}, &d);
  if (r == SLP_EBADDATA) return r;
  int q = digits < s.n ? read_exponent((slp_str){s.p + digits + 1, s.n - digits - 1}, &e) : 0;
  if (q || r) return q ? q : r;
  d.point += e;
  r = in_range(&d);
  if (!r) *ret = d;
  return r;
}

/* Compares the absolute values of a and b. Returns -1, 0 or 1. */
static int cmp_size(const slp_decimal *a, const slp_decimal *b) {
  if (!a->n || !b->n) return (a->n > 0) - (b->n > 0);
  if (a->point != b->point) return a->point < b->point ? -1 : 1;
  int c = memcmp(a->digits, b->digits, a->n < b->n ? a->n : b->n);
  if (c) return c < 0 ? -1 : 1;
  return (a->n > b->n) - (a->n < b->n);
}

int slp_decimal_cmp(const slp_decimal *a, const slp_decimal *b) {
  if (a->negative != b->negative) return a->negative ? -1 : 1;
  return a->negative ? cmp_size(b, a) : cmp_size(a, b);
}

/* Computes large + sign * small, digit by digit from the right. |large| must be at least |small|. */
static int add_sizes(const slp_decimal *large, const slp_decimal *small, int sign, slp_decimal *ret) {
  signed char sum[WIDTH] = {0}; /* sum[0] is for the carry, sum[1] for the first digit of `large` */
  size_t shift = (size_t)(large->point - small->point),
         width = large->n > shift + small->n ? large->n : shift + small->n;
  for (size_t i = 0; i < large->n; i++) sum[1 + i] = (signed char)(large->digits[i] - '0');
  for (size_t i = 0; i < small->n; i++) sum[1 + shift + i] += (signed char)(sign * (small->digits[i] - '0'));
  for (size_t i = width; i > 0; i--) {
    int carry = sum[i] > 9 ? 1 : sum[i] < 0 ? -1 : 0;
    sum[i] = (signed char)(sum[i] - 10 * carry);
    sum[i - 1] = (signed char)(sum[i - 1] + carry);
  }
  size_t first = 0, end = width + 1;
  while (first < end && sum[first] == 0) first++;
  while (end > first && sum[end - 1] == 0) end--;
  slp_decimal d = {.negative = large->negative, .point = large->point + 1 - (int)first, .n = end - first};
  if (d.n > SLP_DECIMAL_DIGITS) return SLP_ELIMIT;
  for (size_t i = 0; i < d.n; i++) d.digits[i] = (char)('0' + sum[first + i]);
  int r = in_range(&d);
  if (!r) *ret = d;
  return r;
}

int slp_decimal_add(const slp_decimal *a, const slp_decimal *b, slp_decimal *ret) {
  if (!a->n || !b->n) {
    *ret = a->n ? *a : *b;
    return 0;
  }
  int sign = a->negative == b->negative ? 1 : -1;
  return cmp_size(a, b) >= 0 ? add_sizes(a, b, sign, ret) : add_sizes(b, a, sign, ret);
}

slp_str slp_decimal_text(const slp_decimal *d, char room[SLP_DECIMAL_TEXT_MAX]) {
  size_t n = 0;
  if (d->negative) room[n++] = '-';
  if (d->point <= 0) room[n++] = '0';
  if (d->n && d->point <= 0) {
    room[n++] = '.';
    for (int i = d->point; i < 0; i++) room[n++] = '0';
  }
  for (int i = 0; i < (int)d->n || i < d->point; i++) {
    if (i > 0 && i == d->point) room[n++] = '.';
    room[n++] = i < (int)d->n ? d->digits[i] : '0';
  }
  return (slp_str){room, n};
}
