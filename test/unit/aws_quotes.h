/* aws_quotes.h - secrets as an answer may quote them: escaped, cut at either end, behind other text, and what
 * may be left of them in a message. */
#ifndef SLP_TEST_AWS_QUOTES_H
#define SLP_TEST_AWS_QUOTES_H

#include "check.h"

enum { AS_IT_IS, AS_JSON, AS_UNICODE, AS_URL, AS_NAME, BEGINNING, END, MIDDLE, QUOTES };
#define QUOTE_ROOM 1000
#define QUOTED_RUN 8 /* so many characters of a secret in a row are told by nothing */

/* What secrets have to escape: the characters that names have not. */
static inline size_t quote_one(char *out, char c, int as) {
  const char *escape = as == AS_JSON ? "\\%c" : as == AS_UNICODE ? "\\u%04x" : as == AS_URL ? "%%%02X" : "%c";
  int plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
              c == '_' || c == '-';
  if (!plain && as == AS_NAME) return 0;
  if (plain || (as == AS_JSON && c != '/')) escape = "%c";
  return (size_t)snprintf(out, 8, escape, c); /* NOLINT */
}

/* The secret behind `pad` characters. */
static inline void quote(char out[QUOTE_ROOM], const char *secret, int as, size_t pad) {
  size_t n = strlen(secret), from = as == END || as == MIDDLE ? n / 3 : 0, to = n;
  if (as == BEGINNING || as == MIDDLE) to = n - n / 3;
  memset(out, 'p', pad);
  for (size_t i = from; i < to; i++) pad += quote_one(out + pad, secret[i], as);
  out[pad] = 0;
}

static inline int quoted_hex(const char *p, int n) {
  int v = 0;
  for (int i = 0; i < n; i++) {
    const char *digits = "0123456789abcdef0123456789ABCDEF", *at = p[i] ? strchr(digits, p[i]) : NULL;
    if (!at) return -1;
    v = v * 16 + (int)(at - digits) % 16;
  }
  return v;
}

/* Fails when the text holds QUOTED_RUN characters of the secret in a row, as they are or escaped. */
static inline void quotes_nothing(const char *text, const char *secret, const char *about) {
  char plain[4096], run[QUOTED_RUN + 1] = "";
  size_t n = 0;
  for (const char *p = text; *p && n < sizeof plain - 1;) {
    int u = p[0] == '\\' && p[1] == 'u' ? quoted_hex(p + 2, 4) : -1,
        x = p[0] == '%' ? quoted_hex(p + 1, 2) : -1;
    int escaped = u < 0 && p[0] == '\\' && p[1];
    plain[n++] = (char)(u >= 0 ? u : x >= 0 ? x : p[escaped]);
    p += u >= 0 ? 6 : x >= 0 ? 3 : 1 + escaped;
  }
  plain[n] = 0;
  for (size_t i = 0; i + QUOTED_RUN <= strlen(secret); i++) {
    memcpy(run, secret + i, QUOTED_RUN);
    if (strstr(text, run) || strstr(plain, run))
      CHECK_FAIL("%s: \"%s\" of %s is told: %s", about, run, secret, text);
  }
}

#endif
