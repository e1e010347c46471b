/* number.h - exact decimal numbers with DynamoDB's range: 38 digits, from 1E-130 to 9.99E+125. The
 * functions do no I/O. */
#ifndef SLP_STORE_NUMBER_H
#define SLP_STORE_NUMBER_H

#include "base/base.h"

#define SLP_DECIMAL_DIGITS 38
/* most characters of a number as text: a sign, "0.", 129 zeros and 38 digits; without a NUL */
#define SLP_DECIMAL_TEXT_MAX 176

/* The number 0.d1d2d3... * 10^point, where neither d1 nor the last digit is 0. For zero, n is 0. */
typedef struct slp_decimal {
  int negative, point;
  size_t n;
  char digits[SLP_DECIMAL_DIGITS]; /* each is '0'..'9' */
} slp_decimal;

/* Reads a number. Returns 0; SLP_EBADDATA if s is no number; SLP_ELIMIT if it has too many digits, is too
 * large, or too close to 0. */
int slp_decimal_parse(slp_str s, slp_decimal *ret);
int slp_decimal_cmp(const slp_decimal *a, const slp_decimal *b); /* returns -1, 0 or 1 */
/* Adds two numbers. Returns 0, or SLP_ELIMIT if the sum has too many digits or is out of range. */
int slp_decimal_add(const slp_decimal *a, const slp_decimal *b, slp_decimal *ret);
/* Writes the number without an exponent into `room`. Returns the text. */
slp_str slp_decimal_text(const slp_decimal *d, char room[SLP_DECIMAL_TEXT_MAX]);

#endif
