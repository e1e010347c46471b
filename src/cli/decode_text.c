/* decode_text.c - turns base64 and hex into bytes, and any bytes into valid UTF-8. */
#include "cli/decode_text.h"

#include "base/buf.h"
#include "cli/decoder_table.h"
#include "codec/base64.h"
#include "codec/utf8.h"

static int decode_base64(slp_buf *ret, slp_str in) {
  while (in.n && (in.p[in.n - 1] == '\n' || in.p[in.n - 1] == '\r'))
    in.n--; /* leaves out line ends, because command-line tools add them */
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

static int decode_hex(slp_buf *ret, slp_str in) {
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

static int decode_utf8(slp_buf *ret, slp_str in) {
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

const slp_decoder slp_decoder_base64 = {
    .name = "base64", .does = "text to bytes", .damaged = "it is not base64", .run = decode_base64};
const slp_decoder slp_decoder_hex = {
    .name = "hex", .does = "text to bytes", .damaged = "it is not hex", .run = decode_hex};
const slp_decoder slp_decoder_utf8 = {.name = "utf8",
                                      .does = "what is not UTF-8 becomes U+FFFD",
                                      .damaged = "it can't be decoded",
                                      .run = decode_utf8};
