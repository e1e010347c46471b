/* feed.c - makes records up, from their numbers. */
#include "cli/feed.h"

#include "base/buf.h"
#include "codec/date.h"
#include "codec/json_write.h"

#include <stdio.h>

#define USERS 200u

static uint64_t mix(uint64_t v) { /* the output function of splitmix64 */
  v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
  return v ^ v >> 31;
}

int slp_feed_record(uint64_t number, int64_t now_ms, slp_buf *b, char key[SLP_FEED_KEY]) {
  static const char *const events[] = {"placed", "placed", "placed", "paid", "paid", "shipped", "cancelled"};
  static const char *const goods[] = {"tea", "bread", "lamp", "book", "bicycle", "soap", "chair", "ink"};
  uint64_t dice = mix(number * UINT64_C(0x9e3779b97f4a7c15) + 1);
  char at[25];
  snprintf(key, SLP_FEED_KEY, "user-%u", (unsigned)(dice % USERS));
  slp_date_iso(now_ms, at);
  slp_jw w = slp_jw_begin(b);
  slp_jw_u64(&w, "order", number + 1);
  slp_jw_z(&w, "event", events[(dice >> 16) % SLP_COUNT(events)]);
  slp_jw_z(&w, "user", key);
  slp_jw_z(&w, "item", goods[(dice >> 24) % SLP_COUNT(goods)]);
  slp_jw_u64(&w, "count", 1 + (dice >> 32) % 5);
  slp_jw_scaled(&w, "price", 99 + (dice >> 40) % 20000, 2);
  slp_jw_z(&w, "at", at);
  return slp_jw_object_end(&w);
}

uint64_t slp_feed_due(uint64_t us, uint64_t rate) {
  return us / 1000000u * rate + us % 1000000u * rate / 1000000u;
}
