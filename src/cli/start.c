/* start.c - parses start positions. */
#include "cli/start.h"

#include <stdio.h>

#include "base/num.h"
#include "codec/date.h"

/* As a count of seconds this is the year 5138, as milliseconds it is March 1973: nobody means either. */
#define FIRST_MS_VALUE 100000000000

static int all_digits(slp_str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] < '0' || s.p[i] > '9') return 0;
  return s.n > 0;
}

static int64_t unit_ms(char unit) {
  switch (unit) {
    case 's': return 1000;
    case 'm': return 60 * 1000;
    case 'h': return 60 * 60 * 1000;
    case 'd': return 24 * 60 * 60 * 1000;
    case 'w': return 7 * 24 * 60 * 60 * (int64_t)1000;
    default: return 0;
  }
}

/* 2h30m: numbers, each with a unit smaller than the one before. */
static int parse_ago(slp_str text, int64_t *ret_ms) {
  int64_t sum_ms = 0, last_unit_ms = INT64_MAX;
  while (text.n > 0) {
    size_t digits = 0;
    while (digits < text.n && text.p[digits] >= '0' && text.p[digits] <= '9') digits++;
    uint64_t count;
    if (digits == text.n || slp_parse_u64((slp_str){text.p, digits}, &count) != 0) return SLP_EBADDATA;
    int64_t each_ms = unit_ms(text.p[digits]);
    if (each_ms == 0 || each_ms >= last_unit_ms) return SLP_EBADDATA;
    if (count > (uint64_t)(INT64_MAX / 4 / each_ms)) return SLP_EBADDATA;
    sum_ms += (int64_t)count * each_ms;
    if (sum_ms > INT64_MAX / 2) return SLP_EBADDATA;
    last_unit_ms = each_ms;
    text.p += digits + 1;
    text.n -= digits + 1;
  }
  *ret_ms = sum_ms;
  return 0;
}

int slp_time_parse(slp_str text, int64_t now_ms, int64_t *ret_ms) {
  if (text.n == 0) return SLP_EBADDATA;
  if (all_digits(text)) {
    int64_t v;
    if (slp_parse_i64(text, &v) != 0) return SLP_EBADDATA;
    *ret_ms = v < FIRST_MS_VALUE ? v * 1000 : v;
    return 0;
  }
  int64_t ago_ms;
  if (parse_ago(text, &ago_ms) == 0) {
    *ret_ms = ago_ms < now_ms ? now_ms - ago_ms : 0;
    return 0;
  }
  int64_t at_ms;
  if (slp_date_parse_iso(text, &at_ms) != 0 || at_ms < 0) return SLP_EBADDATA;
  *ret_ms = at_ms;
  return 0;
}

static int is_shard_id(slp_str s) { /* the service's pattern: [a-zA-Z0-9_.-]+, 1 to 128 */
  if (s.n == 0 || s.n > 128) return 0;
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    int ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '.' || c == '-';
    if (!ok) return 0;
  }
  return 1;
}

static int parse_shard_seq(slp_str text, slp_start *ret, char why[200]) {
  const char *colon = memchr(text.p, ':', text.n);
  slp_str shard = {text.p, (size_t)(colon - text.p)};
  slp_str seq = {colon + 1, text.n - shard.n - 1};
  if (!is_shard_id(shard)) {
    snprintf(why, 200, "-o: the part before the colon is not a shard id; use SHARD:SEQUENCE");
    return SLP_EINVAL;
  }
  if (!slp_num_valid(seq) || seq.n >= sizeof ret->seq) {
    snprintf(why, 200, "-o: the part after the colon is not a sequence number (digits only)");
    return SLP_EINVAL;
  }
  ret->kind = SLOOP_AT_SEQ;
  if (all_digits(shard) && shard.n <= 12)
    snprintf(ret->shard, sizeof ret->shard, "shardId-%.*s%.*s", (int)(12 - shard.n), "000000000000",
             (int)shard.n, shard.p);
  else
    snprintf(ret->shard, sizeof ret->shard, "%.*s", (int)shard.n, shard.p);
  snprintf(ret->seq, sizeof ret->seq, "%.*s", (int)seq.n, seq.p);
  return 0;
}

int slp_start_parse(slp_str text, int64_t now_ms, slp_start *ret, char why[200]) {
  slp_start start = {0};
  if (slp_str_is(text, "oldest") || slp_str_is(text, "beginning")) {
    start.kind = SLOOP_OLDEST;
  } else if (slp_str_is(text, "latest") || slp_str_is(text, "end")) {
    start.kind = SLOOP_LATEST;
  } else if (text.n >= 2 && memcmp(text.p, "s@", 2) == 0) {
    start.kind = SLOOP_AT_TIME;
    if (slp_time_parse((slp_str){text.p + 2, text.n - 2}, now_ms, &start.at_ms) != 0) {
      snprintf(why, 200,
               "-o: \"%.*s\" is not a time; use s@1767225600, s@2026-01-01T00:00:00Z or s@2h30m (ago)",
               (int)(text.n - 2 < 40 ? text.n - 2 : 40), text.p + 2);
      return SLP_EINVAL;
    }
  } else if (text.n > 0 && memchr(text.p, ':', text.n)) {
    int r = parse_shard_seq(text, &start, why);
    if (r) return r;
  } else {
    snprintf(why, 200, "-o: \"%.*s\" is not a position; use oldest, latest, s@TIME or SHARD:SEQUENCE",
             (int)(text.n < 40 ? text.n : 40), text.p);
    return SLP_EINVAL;
  }
  *ret = start;
  return 0;
}
