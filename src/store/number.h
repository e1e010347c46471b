/* number.h - decimal numbers as DynamoDB has them: 38 digits, from 1E-130 to 9.99E+125, exact. Pure. */
#ifndef SLP_STORE_NUMBER_H
#define SLP_STORE_NUMBER_H

#include "base/base.h"

#define SLP_DECIMAL_DIGITS 38
#define SLP_DECIMAL_TEXT_MAX 176 /* a sign, "0.", 129 zeros, 38 digits; no NUL */

typedef struct slp_decimal { /* 0.d1d2d3... times 10^point; d1 and the last digit are not 0. Zero: n 0 */
  int negative, point;
  size_t n;
  char digits[SLP_DECIMAL_DIGITS]; /* '0'..'9' */
} slp_decimal;

/* SLP_EBADDATA: no number; SLP_ELIMIT: too many digits, too large, too near to 0. */
int slp_decimal_parse(slp_str s, slp_decimal *ret);
int slp_decimal_cmp(const slp_decimal *a, const slp_decimal *b);                   /* -1, 0, 1 */
int slp_decimal_add(const slp_decimal *a, const slp_decimal *b, slp_decimal *ret); /* SLP_ELIMIT */
slp_str slp_decimal_text(const slp_decimal *d, char room[SLP_DECIMAL_TEXT_MAX]);

#endif
