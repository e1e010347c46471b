/* decode.c - chains of decoders, and those of them that are a few lines. */
#include "cli/decode.h"

#include <stdio.h>

#include "cli/decode_json.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/utf8.h"

static const char *const names[] = {"base64", "hex", "utf8", "gzip", "cwlogs", "ddb-json", "plain-json"};

int slp_decode_parse(const char *text, slp_decode_chain *ret, char why[200]) {
  slp_decode_chain c = {{0}, 0};
  const char *at = text;
  for (;;) {
    size_t n = strcspn(at, ","), i = 0;
    while (i < SLP_COUNT(names) && !(strlen(names[i]) == n && memcmp(names[i], at, n) == 0)) i++;
    if (i == SLP_COUNT(names)) {
      snprintf(why, 200,
               "-s: \"%.*s\" is no decoder; there are base64, hex, utf8, gzip, cwlogs, ddb-json, plain-json",
               (int)(n < 60 ? n : 60), at);
      return SLP_EINVAL;
    }
    if (c.n == SLP_DECODE_STEPS_MAX) {
      snprintf(why, 200, "-s: more than %d steps", SLP_DECODE_STEPS_MAX);
      return SLP_EINVAL;
    }
    c.step[c.n++] = (uint8_t)i;
    if (!at[n]) break;
    if (i == SLP_DECODE_CWLOGS) {
      snprintf(why, 200, "-s: cwlogs makes several lines of a record, so it is the last step");
      return SLP_EINVAL;
    }
    at += n + 1;
  }
  *ret = c;
  return 0;
}

int slp_decode_ends_with(const slp_decode_chain *c, slp_decoder step) {
  return c->n > 0 && c->step[c->n - 1] == step;
}

int slp_decode_makes_json(const slp_decode_chain *c) {
  return slp_decode_ends_with(c, SLP_DECODE_DDB_JSON) || slp_decode_ends_with(c, SLP_DECODE_PLAIN_JSON);
}

int slp_decode_base64(slp_buf *ret, slp_str in) {
  while (in.n && (in.p[in.n - 1] == '\n' || in.p[in.n - 1] == '\r'))
    in.n--; /* as command-line tools add it */
  if (slp_buf_reserve(ret, in.n / 4 * 3 + 4) != 0) return SLP_ENOMEM;
  int64_t n = slp_base64_decode(ret->p + ret->n, in.p, in.n);
  if (n < 0) return (int)n;
  ret->n += (size_t)n;
  return 0;
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

int slp_decode_hex(slp_buf *ret, slp_str in) {
  while (in.n && (in.p[in.n - 1] == '\n' || in.p[in.n - 1] == '\r')) in.n--;
  if (in.n % 2) return SLP_EBADDATA;
  if (slp_buf_reserve(ret, in.n / 2 + 1) != 0) return SLP_ENOMEM;
  for (size_t i = 0; i < in.n; i += 2) {
    int high = hex_value(in.p[i]), low = hex_value(in.p[i + 1]);
    if (high < 0 || low < 0) return SLP_EBADDATA;
    ret->p[ret->n++] = (char)(unsigned char)(high * 16 + low);
  }
  return 0;
}

int slp_decode_utf8(slp_buf *ret, slp_str in) {
  for (size_t at = 0, from = 0; at < in.n || from < at;) {
    size_t n = at < in.n ? slp_utf8_length(in.p + at, in.n - at) : 0;
    if (n) {
      at += n;
      continue;
    }
    slp_buf_add(ret, in.p + from, at - from);
    if (at < in.n) slp_buf_add_z(ret, "\xef\xbf\xbd");
    from = at += at < in.n;
  }
  return slp_buf_failed(ret);
}

static int run_step(slp_decoder step, slp_buf *ret, slp_str in) {
  switch (step) {
    case SLP_DECODE_BASE64: return slp_decode_base64(ret, in);
    case SLP_DECODE_HEX: return slp_decode_hex(ret, in);
    case SLP_DECODE_UTF8: return slp_decode_utf8(ret, in);
    case SLP_DECODE_DDB_JSON: return slp_decode_ddb_json(ret, in);
    case SLP_DECODE_PLAIN_JSON: return slp_decode_plain_json(ret, in);
    case SLP_DECODE_GZIP:
    case SLP_DECODE_CWLOGS: break;
  }
  return 0;
}

static const char *what_it_is_not(slp_decoder step) {
  switch (step) {
    case SLP_DECODE_BASE64: return "it is not base64";
    case SLP_DECODE_HEX: return "it is not hex";
    case SLP_DECODE_GZIP: return "it is neither gzip nor zlib, or it is damaged";
    case SLP_DECODE_DDB_JSON: return "it is not DynamoDB's JSON";
    case SLP_DECODE_PLAIN_JSON: return "it is not JSON";
    case SLP_DECODE_UTF8:
    case SLP_DECODE_CWLOGS: break;
  }
  return "it can't be decoded";
}

/* ---- a chain, step by step ---------------------------------------------------------------------- */

void slp_decoding_init(slp_decoding *d, slp_mem *mem) {
  *d = (slp_decoding){.mem = mem};
  slp_buf_init(&d->room, mem, 0);
  slp_buf_init(&d->next, mem, 0);
}

void slp_decoding_free(slp_decoding *d) {
  slp_gunzip_end(d->gunzip);
  d->gunzip = NULL;
  slp_buf_free(&d->room);
  slp_buf_free(&d->next);
}

void slp_decoding_begin(slp_decoding *d, const slp_decode_chain *c, slp_str in, uint64_t limit) {
  slp_decoding_free(d);
  d->chain = c;
  d->at = 0;
  d->in = in;
  d->limit = d->left = limit;
}

static int is_over(const slp_decoding *d) {
  return d->at == d->chain->n || d->chain->step[d->at] == SLP_DECODE_CWLOGS;
}

/* 1: the step goes on. */
static int run_some(slp_decoding *d, slp_decoder step) {
  if (step != SLP_DECODE_GZIP) {
    int r = run_step(step, &d->next, d->in);
    return slp_buf_failed(&d->next) ? slp_buf_failed(&d->next) : r; /* it has no word for "too much" */
  }
  if (!d->gunzip && !(d->gunzip = slp_gunzip_begin(d->mem, d->in))) return SLP_ENOMEM;
  int r = slp_gunzip_step(d->gunzip, &d->next);
  if (r == 1) return r;
  slp_gunzip_end(d->gunzip);
  d->gunzip = NULL;
  return r;
}

void slp_decode_too_much(char why[100], const char *step, uint64_t limit) {
  snprintf(why, 100, "%s: more than %llu bytes; see -X decoded_bytes_max", step, (unsigned long long)limit);
}

int slp_decoding_step(slp_decoding *d, char why[100]) {
  if (is_over(d)) return 0;
  slp_decoder step = (slp_decoder)d->chain->step[d->at];
  if (!d->next.p) slp_buf_init(&d->next, d->mem, d->left);
  int r = run_some(d, step);
  if (r == 1 || r == SLP_ENOMEM) return r;
  if (r == SLP_ELIMIT)
    slp_decode_too_much(why, names[step], d->limit);
  else if (r)
    snprintf(why, 100, "%s: %s", names[step], what_it_is_not(step));
  if (r) return r;
  d->left -= d->next.n;
  slp_buf_free(&d->room);
  slp_buf_move(&d->room, &d->next);
  d->in = slp_buf_str(&d->room);
  d->at++;
  return !is_over(d);
}
