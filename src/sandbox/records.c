/* records.c - stores the records of Kinesis' streams, finds them by time, and removes expired ones. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/u128.h"
#include "codec/digest.h"
#include "sandbox/model.h"

#define SECOND_MS 1000

/* ---- reading records ------------------------------------------------------------------------------- */
uint64_t slp_box_end(const slp_box_shard *sh, int64_t now_ms) {
  if (!sh->stream->synthetic || !slp_box_shard_open(sh)) return sh->next;
  return slp_max_u64(slp_synthetic_there(sh, now_ms) + 1, sh->first);
}

static slp_box_record *get_stored_record(const slp_box_shard *sh, uint64_t counter) {
  SLP_CHECK(counter >= sh->first && counter < sh->next);
  return &sh->recs[sh->head + (size_t)(counter - sh->first)];
}

int64_t slp_box_arrived_ms(const slp_box_shard *sh, uint64_t counter) {
  return sh->stream->synthetic ? slp_synthetic_arrived_ms(sh, counter)
                               : get_stored_record(sh, counter)->arrived_ms;
}

int slp_box_view_get(slp_box *box, slp_box_shard *sh, uint64_t counter, slp_box_view *ret) {
  ret->arrived_ms = slp_box_arrived_ms(sh, counter);
  ret->seq = (slp_box_seq){.create_s = sh->create_s,
                           .shard = sh->index,
                           .counter = counter,
                           .arrive_s = (uint64_t)slp_max_i64(ret->arrived_ms / 1000, 0)};
  if (sh->stream->synthetic) {
    size_t n = sh->stream->record_bytes;
    slp_buf_clear(&box->scratch);
    int r = slp_buf_reserve(&box->scratch, n);
    if (r) return r;
    slp_synthetic_payload(sh, counter, box->scratch.p, n);
    ret->key = slp_str_of(sh->synthetic_key);
    ret->data = (slp_str){box->scratch.p, n};
    return 0;
  }
  const slp_box_record *rec = get_stored_record(sh, counter);
  ret->key = (slp_str){rec->keyless ? NULL : rec->bytes, rec->key_n};
  ret->data = (slp_str){rec->bytes + rec->key_n, rec->data_n};
  return 0;
}

/* A binary search, because arrival times never decrease within a shard. */
uint64_t slp_box_first_at(const slp_box_shard *sh, int64_t now_ms, int64_t at_ms) {
  uint64_t low = sh->first, high = slp_box_end(sh, now_ms);
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (slp_box_arrived_ms(sh, middle) < at_ms)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- retention ------------------------------------------------------------------------------------- */
int64_t slp_box_horizon_ms(const slp_stream *s, int64_t now_ms) {
  return slp_max_i64(slp_max_i64(s->created_ms, s->trimmed_ms), now_ms - s->retention_ms);
}

void slp_box_records_free(slp_box *box, slp_box_shard *sh) {
  for (size_t i = sh->head; i < sh->recs_n; i++) slp_free(box->mem, sh->recs[i].bytes);
  slp_free(box->mem, sh->recs);
  sh->recs = NULL;
  sh->head = sh->recs_n = sh->recs_cap = 0;
}

static void drop_before(slp_box *box, slp_box_shard *sh, uint64_t first) {
  if (!sh->stream->synthetic) {
    for (uint64_t i = sh->first; i < first; i++) slp_free(box->mem, sh->recs[sh->head++].bytes);
    if (sh->head > 64 && sh->head > sh->recs_n / 2) {
      memmove(sh->recs, sh->recs + sh->head, (sh->recs_n - sh->head) * sizeof *sh->recs);
      sh->recs_n -= sh->head;
      sh->head = 0;
    }
  }
  sh->first = first;
}

void slp_box_sweep(slp_box *box, slp_stream *s, int64_t now_ms) {
  if (s->swept_ms != INT64_MIN && now_ms / SECOND_MS <= s->swept_ms / SECOND_MS) return;
  int64_t horizon_ms = slp_box_horizon_ms(s, now_ms);
  s->swept_ms = now_ms;
  if (horizon_ms == s->created_ms) return; /* no record can be older than the stream */
  for (uint32_t i = 0; i < s->shards_n; i++) {
    slp_box_shard *sh = s->shards[i];
    if (sh->gone) continue;
    uint64_t end = slp_box_end(sh, now_ms), first = sh->first;
    if (first < end && slp_box_arrived_ms(sh, first) < horizon_ms) {
      first = slp_box_first_at(sh, now_ms, horizon_ms);
      drop_before(box, sh, first);
    }
    if (!slp_box_shard_open(sh) && first == end && sh->closed_ms <= horizon_ms) {
      sh->gone = 1;
      slp_box_records_free(box, sh);
    }
  }
}

/* ---- storing records -------------------------------------------------------------------------------- */
static int room_for_one(slp_box *box, slp_box_shard *sh) {
  if (sh->recs_n < sh->recs_cap) return 0;
  slp_box_record *recs = slp_doubled(box->mem, sh->recs, &sh->recs_cap, 64, sizeof *recs);
  if (!recs) return SLP_ENOMEM;
  sh->recs = recs;
  return 0;
}

int slp_box_store(slp_box *box, slp_box_shard *sh, int64_t now_ms, slp_str key, slp_str data,
                  slp_box_seq *ret_seq) {
  int r = room_for_one(box, sh);
  if (r) return r;
  /* + 1: a record with neither key nor data needs an address too */
  char *bytes = slp_alloc(box->mem, key.n + data.n + 1);
  if (!bytes) return SLP_ENOMEM;
  if (key.n) memcpy(bytes, key.p, key.n);
  if (data.n) memcpy(bytes + key.n, data.p, data.n);
  int64_t arrived_ms = slp_max_i64(now_ms, sh->last_arrived_ms);
  sh->recs[sh->recs_n++] = (slp_box_record){.arrived_ms = arrived_ms,
                                            .bytes = bytes,
                                            .key_n = (uint32_t)key.n,
                                            .data_n = (uint32_t)data.n,
                                            .keyless = !key.p};
  sh->last_arrived_ms = arrived_ms;
  *ret_seq = (slp_box_seq){.create_s = sh->create_s,
                           .shard = sh->index,
                           .counter = sh->next++,
                           .arrive_s = (uint64_t)slp_max_i64(arrived_ms / 1000, 0)};
  box->stats.records_in++;
  slp_push_news(box, sh);
  return 0;
}

int slp_box_hash_of(slp_box *box, slp_str key, slp_u128 *ret) {
  uint8_t md5[16];
  int r = slp_md5(box->digest, key, md5);
  *ret = SLP_U128(0);
  for (int i = 0; !r && i < 8; i++) {
    ret->hi = ret->hi << 8 | md5[i];
    ret->lo = ret->lo << 8 | md5[8 + i];
  }
  return r;
}
