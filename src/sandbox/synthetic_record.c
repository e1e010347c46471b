/* synthetic_record.c - synthetic records: they are computed when they are read, for loads that would not fit
 * into memory.
 *
 * Record `number` (0, 1, ...) of a shard has the counter number + 1. Its payload begins with `number` and the
 * index of the shard, each as 8 bytes little-endian. One word of 8 bytes follows, repeated up to the size of
 * the record. */
#include "sandbox/model.h"

#include "base/u128.h"

#define AT_ONCE_PER_MS 64 /* how many records arrive in each millisecond of a stream without a rate */
#define HEADER 16

uint64_t slp_synthetic_mix(uint64_t v) {
  v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
  return v ^ v >> 31;
}

uint64_t slp_synthetic_there(const slp_box_shard *sh, int64_t now_ms) {
  uint64_t rate = sh->stream->records_per_second,
           all = slp_min_u64(sh->synthetic_records, SLP_BOX_SEQ_END - 1);
  if (rate == 0) return all;
  if (now_ms <= sh->synthetic_from_ms) return 0;
  uint64_t rest, ms = (uint64_t)(now_ms - sh->synthetic_from_ms);
  slp_u128 there = slp_u128_div(slp_u128_product(ms, rate), 1000, &rest);
  return there.hi == 0 && there.lo < all ? there.lo : all;
}

int64_t slp_synthetic_arrived_ms(const slp_box_shard *sh, uint64_t counter) {
  uint64_t rate = sh->stream->records_per_second;
  if (rate == 0) {
    uint64_t after = (counter - 1) / AT_ONCE_PER_MS;
    uint64_t spread = (uint64_t)(sh->synthetic_cap_ms - sh->synthetic_from_ms);
    return sh->synthetic_from_ms + (int64_t)slp_min_u64(after, spread);
  }
  uint64_t rest;
  slp_u128 after = slp_u128_add(slp_u128_product(counter, 1000), SLP_U128(rate - 1));
  after = slp_u128_div(after, rate, &rest);
  return sh->synthetic_from_ms + (after.hi || after.lo > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)after.lo);
}

static void put_le(char *to, uint64_t v) {
  for (int i = 0; i < 8; i++) to[i] = (char)(v >> (8 * i));
}

void slp_synthetic_repeat(char *to, size_t period, size_t n) {
  while (n > 0) {
    size_t part = n < period ? n : period;
    memcpy(to, to - period, part);
    to += part;
    n -= part;
    period *= 2; /* the copied bytes belong to the repetition, so the next copy can be twice as long */
  }
}

void slp_synthetic_payload(const slp_box_shard *sh, uint64_t counter, char *to, size_t n) {
  char head[HEADER + 8];
  put_le(head, counter - 1);
  put_le(head + 8, sh->index);
  put_le(head + HEADER, slp_synthetic_mix(sh->synthetic_word + counter));
  memcpy(to, head, n < sizeof head ? n : sizeof head);
  if (n > sizeof head) slp_synthetic_repeat(to + sizeof head, 8, n - sizeof head);
}
