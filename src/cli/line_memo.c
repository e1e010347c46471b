/* line_memo.c - keeps what JSON lines of a shard or of a second have in common.
 *
 * The head of a shard is found by the address of the shard's name. It is used only if both names in it are
 * those of the record, because an address may come again with another name. */
#include "cli/line_memo.h"

#include "base/buf.h"
#include "codec/json_write.h"

#include <sloop.h>

static const char before_stream[] = "{\"stream\":\"", before_shard[] = "\",\"shard\":\"";
#define STREAM_AT (sizeof before_stream - 1)
#define FIXED (sizeof before_stream - 1 + sizeof before_shard - 1 + 1) /* what a head has besides the names */

/* Only seconds of ten digits are kept, from 2001 to 2286. */
#define FIRST_SECOND INT64_C(1000000000)
#define LAST_SECOND INT64_C(9999999999)

static int head_is_of(const slp_memo_head *h, slp_str stream, slp_str shard) {
  return h->n && h->stream_n == stream.n && h->shard_n == shard.n &&
         memcmp(h->text + STREAM_AT, stream.p, stream.n) == 0 &&
         memcmp(h->text + h->n - 1 - shard.n, shard.p, shard.n) == 0;
}

/* Keeps the head, unless it has escapes or is too long. */
static void keep_head(slp_memo_head *h, slp_str text, slp_str stream, slp_str shard) {
  h->n = 0;
  if (text.n > sizeof h->text || text.n != FIXED + stream.n + shard.n) return;
  memcpy(h->text, text.p, text.n);
  h->n = (uint8_t)text.n;
  h->stream_n = (uint8_t)stream.n;
  h->shard_n = (uint8_t)shard.n;
}

void slp_line_memo_add_head(slp_line_memo *m, slp_buf *b, const sloop_record_t *r) {
  slp_str stream = slp_str_of(r->stream), shard = slp_str_of(r->shard);
  /* the high bits of the product depend on all bits of the address */
  uint64_t hash = (uint64_t)(uintptr_t)r->shard * UINT64_C(0x9E3779B97F4A7C15);
  slp_memo_head *h = &m->heads[hash >> 32 & (SLP_MEMO_HEADS - 1)];
  if (head_is_of(h, stream, shard)) {
    slp_buf_add(b, h->text, h->n);
    return;
  }
  size_t from = b->n;
  slp_buf_add(b, before_stream, STREAM_AT - 1);
  slp_json_put_line_string(b, stream);
  slp_buf_add(b, before_shard + 1, sizeof before_shard - 3);
  slp_json_put_line_string(b, shard);
  if (!slp_buf_failed(b)) keep_head(h, (slp_str){b->p + from, b->n - from}, stream, shard);
}

void slp_line_memo_add_ms(slp_line_memo *m, slp_buf *b, int64_t at_ms) {
  int64_t second = at_ms / 1000;
  unsigned ms = (unsigned)(at_ms - second * 1000);
  size_t from = b->n;
  if (second < FIRST_SECOND || second > LAST_SECOND || second != m->second || slp_buf_reserve(b, 13)) {
    slp_buf_add_i64(b, at_ms);
    if (slp_buf_failed(b) || second < FIRST_SECOND || second > LAST_SECOND) return;
    memcpy(m->digits, b->p + from, sizeof m->digits);
    m->second = second;
    return;
  }
  char *to = b->p + from;
  memcpy(to, m->digits, sizeof m->digits);
  to[10] = (char)('0' + ms / 100);
  to[11] = (char)('0' + ms / 10 % 10);
  to[12] = (char)('0' + ms % 10);
  b->n += 13;
}
