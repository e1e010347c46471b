/* synthetic.c - prepares the shards of a stream for synthetic records, and writes pages of these records. */
#include "base/buf.h"
#include "base/u128.h"
#include "codec/base64.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

/* ---- partition keys that hash into their shard ------------------------------------------------------ */
static slp_box_shard *owner_of(slp_stream *s, uint32_t from, slp_u128 hash) {
  if (from == 0) {                        /* the shards of a new stream are sorted by hash key */
    uint32_t low = 0, high = s->shards_n; /* it is one of [low, high) */
    while (high - low > 1) {
      uint32_t middle = low + (high - low) / 2;
      if (slp_u128_cmp(s->shards[middle]->hash_start, hash) <= 0)
        low = middle;
      else
        high = middle;
    }
    return s->shards[low];
  }
  for (uint32_t i = from; i < s->shards_n; i++) {
    if (slp_u128_within(hash, s->shards[i]->hash_start, s->shards[i]->hash_end)) return s->shards[i];
  }
  return NULL;
}

static int choose_keys(slp_box *box, slp_stream *s, uint32_t from) {
  uint32_t missing = s->shards_n - from;
  /* About n * ln n tries find a key for each of n equal shards. If no key is found for a narrow shard, its
   * key stays "k", which may belong to another shard. */
  for (uint32_t i = from; i < s->shards_n; i++) snprintf(s->shards[i]->synthetic_key, 2, "k");
  for (uint32_t i = 0; i < 40u * s->shards_n + 1000 && missing > 0; i++) {
    char key[24];
    slp_u128 hash;
    snprintf(key, sizeof key, "k%u", i);
    int r = slp_box_hash_of(box, slp_str_of(key), &hash);
    if (r) return r;
    slp_box_shard *sh = owner_of(s, from, hash);
    if (!sh || sh->synthetic_key[1]) continue;
    memcpy(sh->synthetic_key, key, sizeof key);
    missing--;
  }
  return 0;
}

int slp_synthetic_setup(slp_box *box, slp_stream *s, uint32_t from) {
  for (uint32_t i = from; i < s->shards_n; i++) {
    slp_box_shard *sh = s->shards[i];
    sh->synthetic_from_ms = sh->synthetic_cap_ms = sh->created_ms;
    if (s->records_per_second == 0 && from == 0) sh->synthetic_cap_ms += SLP_SYNTHETIC_SPREAD_MS;
    sh->synthetic_records = s->synthetic_records;
    sh->synthetic_word = slp_synthetic_mix(s->seed + slp_synthetic_mix(i + 1));
  }
  return choose_keys(box, s, from);
}

/* ---- pages, straight into the answer ------------------------------------------------------------------
 *
 * The records of a page differ only in number, time and payload. So one record is encoded in the usual way,
 * and the places of these three are located in the result. Further records are copies with other values at
 * these places. */
typedef struct pattern {
  slp_buf text; /* one record, encoded */
  size_t seq_at, time_at, time_n, data_at, data_n;
} pattern;

static int make_pattern(slp_box_call *c, slp_box_shard *sh, uint64_t counter, pattern *p) {
  slp_box_out o;
  char seq[SLP_BOX_SEQ_TEXT];
  slp_box_view v;
  int r = slp_box_view_get(c->box, sh, counter, &v);
  if (r) return r;
  slp_out_begin(&o, &p->text, c->out.wire, c->out.definite);
  size_t seq_n = slp_box_seq_text(&v.seq, seq), quote = o.wire == SLP_WIRE_JSON;
  slp_out_map(&o);
  slp_out_put_z(&o, "SequenceNumber", seq);
  p->seq_at = p->text.n - seq_n - quote;
  slp_out_key(&o, "ApproximateArrivalTimestamp");
  size_t from = p->text.n;
  slp_out_time(&o, v.arrived_ms);
  p->time_at = from;
  p->time_n = p->text.n - from;
  slp_out_key(&o, "Data");
  slp_out_blob(&o, v.data);
  p->data_n = quote ? (v.data.n + 2) / 3 * 4 : v.data.n;
  p->data_at = p->text.n - p->data_n - quote;
  slp_out_put_z(&o, "PartitionKey", sh->synthetic_key);
  slp_out_end(&o);
  return slp_out_failed(&o);
}

/* Writes the payload in base64. After its first 18 bytes the payload repeats every 24 bytes, which are 32
 * characters of base64. */
static int write_base64(slp_box_shard *sh, uint64_t counter, slp_buf *to, size_t n) {
  char head[18 + 24 + 24];
  if (n <= sizeof head) {
    slp_synthetic_payload(sh, counter, head, n);
    return slp_base64_encode(to, (slp_str){head, n});
  }
  size_t periods = (n - 18) / 24, rest = (n - 18) % 24;
  slp_synthetic_payload(sh, counter, head, sizeof head);
  if (slp_base64_encode(to, (slp_str){head, 18 + 24})) return slp_buf_failed(to);
  slp_synthetic_repeat(to->p + to->n, 32, (periods - 1) * 32);
  to->n += (periods - 1) * 32;
  return slp_base64_encode(to, (slp_str){head + 18, rest});
}

static int write_one(slp_box_call *c, slp_box_shard *sh, const pattern *p, uint64_t counter,
                     const uint64_t chunk[3], int64_t arrived_ms) {
  slp_buf *b = c->out.b;
  char *at = b->p + b->n;
  int json = c->out.wire == SLP_WIRE_JSON;
  memcpy(at, p->text.p, p->data_at);
  slp_box_chunks_text(chunk, at + p->seq_at);
  if (json) {
    slp_out_seconds(arrived_ms, at + p->time_at);
    b->n += p->data_at;
    int r = write_base64(sh, counter, b, sh->stream->record_bytes);
    if (r) return r;
  } else {
    /* in CBOR, a time is tag 1, the head 0x1b, and 8 bytes; only the 8 bytes are replaced */
    for (int i = 0; i < 8; i++) at[p->time_at + 2 + (size_t)i] = (char)((uint64_t)arrived_ms >> (56 - 8 * i));
    slp_synthetic_payload(sh, counter, at + p->data_at, sh->stream->record_bytes);
    b->n += p->data_at + p->data_n;
  }
  size_t tail_at = p->data_at + p->data_n;
  memcpy(b->p + b->n, p->text.p + tail_at, p->text.n - tail_at);
  b->n += p->text.n - tail_at;
  return 0;
}

int slp_synthetic_alike(const slp_box_shard *sh, uint64_t from, uint64_t n) {
  /* From 2001 to 2286 every time in milliseconds has 13 decimal digits, and 8 bytes in CBOR. */
  return n > 0 && slp_synthetic_arrived_ms(sh, from) >= INT64_C(1000000000000) &&
         slp_synthetic_arrived_ms(sh, from + n - 1) < INT64_C(10000000000000);
}

int slp_synthetic_write(slp_box_call *c, slp_box_shard *sh, uint64_t from, uint64_t n) {
  pattern p = {0};
  slp_box_out *o = &c->out;
  uint64_t chunk[3], second = UINT64_MAX;
  slp_buf_init(&p.text, c->box->mem, SIZE_MAX);
  int r = make_pattern(c, sh, from, &p);
  /* + 1: a comma for each record. + 256: the base64 encoder may need room beyond the end. */
  if (!r) r = slp_buf_reserve(o->b, (size_t)n * (p.text.n + 1) + 256);
  for (uint64_t i = from; !r && i < from + n; i++) {
    int64_t arrived_ms = slp_synthetic_arrived_ms(sh, i);
    if ((uint64_t)(arrived_ms / 1000) != second) {
      second = (uint64_t)(arrived_ms / 1000);
      slp_box_seq seq = {.create_s = sh->create_s, .shard = sh->index, .counter = i, .arrive_s = second};
      slp_box_seq_chunks(&seq, chunk);
    } else {
      slp_box_seq_chunks_next(chunk);
    }
    slp_out_raw(o, (slp_str){"", 0}); /* write the comma before the record */
    r = write_one(c, sh, &p, i, chunk, arrived_ms);
  }
  slp_buf_free(&p.text);
  return r;
}
