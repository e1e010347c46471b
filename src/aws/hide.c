/* hide.c - finds parts of secrets in a text. */
#include "aws/hide.h"

#include "base/fail.h"

static unsigned hash_of(const char *run) {
  uint64_t v;
  memcpy(&v, run, sizeof v);
  return (unsigned)(v * UINT64_C(0x9E3779B97F4A7C15) >> 48);
}

void slp_hiding_begin(slp_hiding *h, const slp_secrets *secrets) {
  _Static_assert(SLP_SECRET_RUN == sizeof(uint64_t), "a run is read at once");
  *h = (slp_hiding){.secrets = secrets};
  for (size_t k = 0; k < SLP_SECRETS_MAX; k++) {
    slp_str s = secrets->of[k];
    for (size_t i = 0; i + SLP_SECRET_RUN <= s.n; i++) {
      unsigned at = hash_of(s.p + i);
      h->maybe[at / 64] |= UINT64_C(1) << at % 64;
    }
  }
}

static int hex_of(char c) {
  return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Returns the value of n hexadecimal digits, or -1 if the text does not begin with n such digits. */
static int hex_value(slp_str text, size_t n) {
  int v = 0;
  if (text.n < n) return -1;
  for (size_t i = 0; i < n; i++) {
    int digit = hex_of(text.p[i]);
    if (digit < 0) return -1;
    v = v * 16 + digit;
  }
  return v;
}

static slp_str rest_of(slp_str s, size_t at) { return (slp_str){s.p + at, s.n - at}; }

/* Decodes one character, which may be plain, escaped as in JSON, or encoded as in a URL. Returns how many
 * bytes it takes. */
static size_t read_one(slp_str text, char *ret) {
  int json = text.p[0] == '\\' && text.n >= 2, url = text.p[0] == '%';
  int unicode = json && text.p[1] == 'u' ? hex_value(rest_of(text, 2), 4) : -1;
  int v = url ? hex_value(rest_of(text, 1), 2) : unicode <= 0xff ? unicode : -1;
  *ret = v >= 0 ? (char)v : text.p[json];
  return v < 0 ? 1 + (size_t)json : url ? 3 : 6;
}

/* Decodes the next n characters, plain or escaped, into `out`. Returns how many bytes of the text they take,
 * or 0 if the text has fewer than n characters. */
static size_t read_plain(slp_str text, size_t n, char *out) {
  size_t at = 0;
  for (size_t i = 0; i < n; i++) {
    if (at == text.n) return 0;
    at += read_one(rest_of(text, at), &out[i]);
  }
  return at;
}

static int is_part(const slp_hiding *h, slp_str secret, const char *p, size_t n) {
  if (n < SLP_SECRET_RUN) return memcmp(secret.p, p, n) == 0;
  unsigned at = hash_of(p);
  return h->maybe[at / 64] >> at % 64 & 1 && memmem(secret.p, secret.n, p, n) != NULL;
}

size_t slp_hiding_at(const slp_hiding *h, slp_str text, size_t least) {
  size_t most = 0;
  for (size_t k = 0; k < SLP_SECRETS_MAX; k++) {
    slp_str secret = h->secrets->of[k];
    char plain[SLP_SECRET_RUN];
    if (!secret.n || secret.n < least) continue;
    size_t n = slp_min_u64(secret.n, SLP_SECRET_RUN), taken = read_plain(text, n, plain);
    if (text.n >= n && is_part(h, secret, text.p, n)) most = slp_max_u64(most, n);
    if (taken > n && is_part(h, secret, plain, n)) most = slp_max_u64(most, taken);
  }
  return most;
}

void slp_hiding_put(const slp_hiding *h, char *p, size_t n, size_t least) {
  for (size_t i = 0, until = 0; i < n; i++) {
    until = slp_max_u64(until, i + slp_hiding_at(h, (slp_str){p + i, n - i}, least));
    if (i < until) p[i] = '*';
  }
}

int slp_secret_in(const slp_secrets *secrets, slp_str text) {
  slp_hiding h;
  slp_hiding_begin(&h, secrets);
  for (size_t i = 0; i < text.n; i++) {
    if (slp_hiding_at(&h, rest_of(text, i), SLP_SECRET_RUN)) return 1;
  }
  return 0;
}

void slp_hide_text(const slp_secrets *secrets, char *p, size_t n) {
  slp_hiding h;
  slp_hiding_begin(&h, secrets);
  slp_hiding_put(&h, p, n, SLP_SECRET_RUN);
}

void slp_hide(const slp_secrets *secrets, char *z) {
  slp_hiding h;
  slp_hiding_begin(&h, secrets);
  size_t n = strlen(z);
  for (size_t i = 0, from = 0, until = 0; i <= n; i++) {
    size_t part = i < n ? slp_hiding_at(&h, (slp_str){z + i, n - i}, SLP_SECRET_RUN) : 0;
    /* the bytes from..until-1 are parts of secrets, and the byte i is not: hide them if there are enough */
    if (i >= until) {
      if (until - from >= SLP_SECRET_IN_WORDS_MIN) memset(z + from, '*', until - from);
      from = until = i;
    }
    until = slp_max_u64(until, i + part);
  }
}

void slp_hide_fail(const slp_secrets *secrets, slp_fail *f) {
  slp_hiding h;
  slp_hiding_begin(&h, secrets);
  slp_hiding_put(&h, f->message, strlen(f->message), SLP_SECRET_RUN);
  slp_hiding_put(&h, f->request_id, strlen(f->request_id), SLP_SECRET_RUN);
  slp_hiding_put(&h, f->aws_code, strlen(f->aws_code), SLP_SECRET_IN_NAMES_MIN);
}
