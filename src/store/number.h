/* number.h - exact decimal numbers as DynamoDB has them: 38 digits, from 1E-130 to 9.99E+125. Pure. */
#ifndef SLP_STORE_NUMBER_H
#define SLP_STORE_NUMBER_H

#include "base/base.h"

#define SLP_DECIMAL_DIGITS 38
#define SLP_DECIMAL_TEXT_MAX 176 /* a sign, "0.", 129 zeros and 38 digits, without a NUL */

/* 0.d1d2d3... * 10^point, where d1 and the last digit are not 0. For zero n is 0 */
typedef struct slp_decimal {
  int negative, point;
  size_t n;
  char digits[SLP_DECIMAL_DIGITS]; /* '0'..'9' */
} slp_decimal;

/* Returns 0, SLP_EBADDATA if s is not a number, or SLP_ELIMIT if it has too many digits, is too large or too
 * near to 0. */
int slp_decimal_parse(slp_str s, slp_decimal *ret);
int slp_decimal_cmp(const slp_decimal *a, const slp_decimal *b); /* returns -1, 0 or 1 */
/* returns 0 or SLP_ELIMIT */
int slp_decimal_add(const slp_decimal *a, const slp_decimal *b, slp_decimal *ret);
slp_str slp_decimal_text(const slp_decimal *d, char room[SLP_DECIMAL_TEXT_MAX]);

#endif
