/* iterators.c - shard iterators and listing tokens. Both are signed texts that say where reading or listing
 * goes on. They expire, and clients can't read them. */
#include "base/buf.h"
#include "codec/base64.h"
#include "codec/date.h"
#include "codec/digest.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

/* A mark consists of the 8 bytes 0...01, the fields, and 16 bytes of signature. The service's own iterators
 * also begin with AAAAAAAAAAE, which is 0...01 in base64. A filler makes the text 224 characters long, as the
 * service's iterators are, so that an idle poll transfers as many bytes as with the service. */
#define MARK_FIELDS 32
#define MARK_SIGNED (8 + MARK_FIELDS)
#define MARK_TAG 16
#define MARK_BYTES 168
#define MARK_TEXT_MAX 512

static void put_be(uint8_t *to, uint64_t v, int n) {
  for (int i = 0; i < n; i++) to[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

static uint64_t get_be(const uint8_t *from, int n) {
  uint64_t v = 0;
  for (int i = 0; i < n; i++) v = v << 8 | from[i];
  return v;
}

static int encode_signed_mark(slp_box *box, const slp_box_mark *m, uint8_t raw[MARK_BYTES]) {
  uint8_t tag[32];
  memset(raw, 0, MARK_SIGNED);
  raw[7] = 1;
  raw[8] = m->kind;
  raw[9] = m->filter;
  put_be(raw + 10, m->reader, 2);
  put_be(raw + 12, m->shard, 4);
  put_be(raw + 16, m->stream_uid, 8);
  put_be(raw + 24, m->counter, 8);
  put_be(raw + 32, (uint64_t)m->issued_ms, 8);
  int r = slp_hmac_keyed(box->marker, (slp_str){(const char *)raw, MARK_SIGNED}, tag);
  memcpy(raw + MARK_SIGNED, tag, MARK_TAG);
  for (size_t i = MARK_SIGNED + MARK_TAG; i < MARK_BYTES; i++) raw[i] = (uint8_t)(tag[i & 31] + i);
  return r;
}

int slp_box_mark_write(slp_box *box, const slp_box_mark *m, slp_buf *to) {
  uint8_t raw[MARK_BYTES];
  int r = encode_signed_mark(box, m, raw);
  return r ? r : slp_base64_encode(to, (slp_str){(const char *)raw, MARK_BYTES});
}

int slp_box_put_mark(slp_box_call *c, const char *member, const slp_box_mark *m) {
  slp_buf_clear(&c->box->scratch);
  if (slp_box_mark_write(c->box, m, &c->box->scratch)) return slp_box_no_memory(c);
  slp_out_key(&c->out, member);
  slp_out_text(&c->out, slp_buf_str(&c->box->scratch));
  return 0;
}

int slp_box_mark_read(slp_box *box, slp_str text, uint8_t kind, slp_box_mark *ret) {
  char raw_text[MARK_TEXT_MAX];
  uint8_t again[MARK_BYTES];
  if (text.n != MARK_BYTES / 3 * 4) return SLP_EBADDATA;
  if (slp_base64_decode(raw_text, text.p, text.n) != MARK_BYTES) return SLP_EBADDATA;
  const uint8_t *raw = (const uint8_t *)raw_text;
  *ret = (slp_box_mark){.kind = kind,
                        .filter = raw[9],
                        .reader = (uint16_t)get_be(raw + 10, 2),
                        .shard = (uint32_t)get_be(raw + 12, 4),
                        .stream_uid = get_be(raw + 16, 8),
                        .counter = get_be(raw + 24, 8),
                        .issued_ms = (int64_t)get_be(raw + 32, 8)};
  if (encode_signed_mark(box, ret, again)) return SLP_ENOMEM;
  /* `again` is the text that this box would write for these fields and this kind; any other text is
   * refused */
  return memcmp(raw, again, MARK_BYTES) == 0 ? 0 : SLP_EBADDATA;
}

void slp_box_when(int64_t ms, char out[64]) {
  char http[30]; /* the form is "Fri, 02 Jan 2026 03:04:05 GMT" */
  slp_date_http(ms, http);
  snprintf(out, 64, "%.3s %.3s %.2s %.8s UTC %.4s", http, http + 8, http + 5, http + 17, http + 12);
}

/* ---- GetShardIterator --------------------------------------------------------------------------- */
static int from_sequence(slp_box_call *c, slp_box_shard *sh, slp_str text, int after, uint64_t *ret) {
  slp_box_seq seq;
  slp_stream *s = sh->stream;
  if (slp_box_seq_parse(text, &seq) || seq.shard != sh->index || seq.create_s != sh->create_s) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "StartingSequenceNumber %.*s used in GetShardIterator on shard %s in stream %s under "
                        "account " SLP_BOX_ACCOUNT " is invalid because it did not come from this stream.",
                        (int)text.n, text.p, sh->id, s->name);
  }
  uint64_t end = slp_box_end(sh, c->now_ms);
  uint64_t at = seq.counter == 0 ? sh->first : seq.counter;
  if (after && seq.counter > 0 && at < UINT64_MAX) at++;
  if (seq.counter >= end && !(seq.counter == SLP_BOX_SEQ_END && !slp_box_shard_open(sh))) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "StartingSequenceNumber %.*s used in GetShardIterator on shard %s in stream %s under "
                        "account " SLP_BOX_ACCOUNT " is invalid because it is beyond the end of the shard.",
                        (int)text.n, text.p, sh->id, s->name);
  }
  /* If the position is trimmed, the service begins with the oldest record that it still has, and reports no
   * error. */
  *ret = slp_max_u64(slp_min_u64(at, end), sh->first);
  return 0;
}

static int from_time(slp_box_call *c, slp_box_shard *sh, slp_value *v, uint64_t *ret) {
  int64_t at_ms = 0;
  if (!v)
    return slp_box_fail(c, "InvalidArgumentException",
                        "Must specify timestampInMillis for iterator type "
                        "AT_TIMESTAMP.");
  if (slp_box_tree_time_ms(c->in, v, &at_ms))
    return slp_box_fail(c, "SerializationException", "Bad Timestamp");
  if (at_ms > c->now_ms) {
    return slp_box_fail(
        c, "InvalidArgumentException",
        "The timestampInMillis parameter cannot be greater than the currentTimestampInMillis. "
        "timestampInMillis: %lld, currentTimestampInMillis: %lld",
        (long long)at_ms, (long long)c->now_ms);
  }
  *ret = slp_box_first_at(sh, c->now_ms, at_ms);
  return 0;
}

int slp_box_position(slp_box_call *c, slp_box_shard *sh, slp_str type, slp_str seq, slp_value *when,
                     uint64_t *ret) {
  int at = slp_str_is(type, "AT_SEQUENCE_NUMBER"), after = slp_str_is(type, "AFTER_SEQUENCE_NUMBER");
  int time = slp_str_is(type, "AT_TIMESTAMP");
  if ((at || after) && !seq.p) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "Must either specify (1) %s and StartingSequenceNumber or "
                        "(2) TRIM_HORIZON or LATEST and no StartingSequenceNumber.",
                        at ? "AT_SEQUENCE_NUMBER" : "AFTER_SEQUENCE_NUMBER");
  }
  if (!at && !after && seq.p) {
    return slp_box_fail(
        c, "InvalidArgumentException",
        "Must either specify (1) AT_SEQUENCE_NUMBER or "
        "AFTER_SEQUENCE_NUMBER and StartingSequenceNumber or (2) TRIM_HORIZON or LATEST and no "
        "StartingSequenceNumber. Request specified %.*s and also a StartingSequenceNumber.",
        (int)type.n, type.p);
  }
  if (at || after) return from_sequence(c, sh, seq, after, ret);
  if (time) return from_time(c, sh, when, ret);
  if (when) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "A Timestamp can only be given with iterator type AT_TIMESTAMP.");
  }
  *ret = slp_str_is(type, "LATEST") ? slp_box_end(sh, c->now_ms) : sh->first;
  return 0;
}

int slp_box_op_iterator(slp_box_call *c) {
  slp_stream *s = slp_box_stream_of(c);
  if (!s) return -1;
  slp_str id = slp_box_text(c, "ShardId");
  slp_box_shard *sh = slp_box_shard_by_id(s, id);
  if (!sh) {
    return slp_box_fail(c, "ResourceNotFoundException",
                        "Shard %.*s in stream %s under account " SLP_BOX_ACCOUNT " does not exist", (int)id.n,
                        id.p, s->name);
  }
  slp_box_mark m = {.kind = 'i', .stream_uid = s->uid, .shard = sh->index, .issued_ms = c->now_ms};
  if (slp_box_position(c, sh, slp_box_text(c, "ShardIteratorType"), slp_box_text(c, "StartingSequenceNumber"),
                       slp_box_tree_get(c->in, 0, "Timestamp"), &m.counter))
    return -1;
  if (slp_box_dry_run(c)) return -1;
  slp_out_map(&c->out);
  int r = slp_box_put_mark(c, "ShardIterator", &m);
  slp_out_end(&c->out);
  return r;
}
