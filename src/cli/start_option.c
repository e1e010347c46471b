/* start_option.c - parses the positions of -o. */
#include "cli/start_option.h"

#include "base/clean.h"
#include "base/num.h"
#include "cli/point_in_time.h"

#include <sloop.h>
#include <stdio.h>

static int all_digits(slp_str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] < '0' || s.p[i] > '9') return 0;
  return s.n > 0;
}

void slp_start_full_shard(slp_str shard, char out[129]) {
  *out = 0;
  if (all_digits(shard) && shard.n <= 12)
    snprintf(out, 129, "shardId-%.*s%.*s", (int)(12 - shard.n), "000000000000", (int)shard.n, shard.p);
  else if (shard.n <= 128)
    snprintf(out, 129, "%.*s", (int)shard.n, shard.p);
}

static int parse_shard_seq(slp_str text, slp_start *ret, char why[200]) {
  const char *colon = memchr(text.p, ':', text.n);
  slp_str shard = {text.p, (size_t)(colon - text.p)};
  slp_str seq = {colon + 1, text.n - shard.n - 1};
  if (!slp_is_shard_id(shard)) {
    snprintf(why, 200, "-o: the part before the colon is not a shard id; use SHARD:SEQUENCE");
    return SLP_EINVAL;
  }
  const char *dot = seq.n ? memchr(seq.p, '.', seq.n) : NULL;
  if (dot) {
    slp_str sub = {dot + 1, (size_t)(seq.p + seq.n - dot - 1)};
    seq.n = (size_t)(dot - seq.p);
    if (slp_parse_u64(sub, &ret->sub) != 0) {
      snprintf(why, 200, "-o: \"%.40s\" is not a sub-sequence number (digits only)", dot + 1);
      return SLP_EINVAL;
    }
  }
  seq = slp_num_fit(seq, sizeof ret->seq - 1);
  if (!seq.n) {
    snprintf(why, 200, "-o: the part after the colon is not a sequence number (digits only, 129 at most)");
    return SLP_EINVAL;
  }
  if (ret->sub > UINT32_MAX) {
    snprintf(why, 200, "-o: \"%.40s\" is not a sub-sequence number: 4294967295 is the greatest", dot + 1);
    return SLP_EINVAL;
  }
  ret->kind = SLOOP_AT_SEQ;
  slp_start_full_shard(shard, ret->shard);
  snprintf(ret->seq, sizeof ret->seq, "%.*s", (int)seq.n, seq.p);
  return 0;
}

int slp_start_parse_seq(slp_str text, slp_start *ret) {
  const char *dot = memchr(text.p, '.', text.n);
  slp_str seq = {text.p, dot ? (size_t)(dot - text.p) : text.n};
  slp_start start = {.kind = SLOOP_AT_SEQ};
  if (dot && slp_parse_u64((slp_str){dot + 1, text.n - seq.n - 1}, &start.sub) != 0) return SLP_EINVAL;
  seq = slp_num_fit(seq, sizeof start.seq - 1);
  if (!seq.n || start.sub > UINT32_MAX) return SLP_EINVAL;
  snprintf(start.seq, sizeof start.seq, "%.*s", (int)seq.n, seq.p);
  *ret = start;
  return 0;
}

/* Returns 1 for a word that means the oldest record here, in kcat, in Kafka, or in the API of Kinesis. */
static int is_oldest(const char *z) {
  return strcmp(z, "oldest") == 0 || strcmp(z, "beginning") == 0 || strcmp(z, "earliest") == 0 ||
         strcmp(z, "TRIM_HORIZON") == 0;
}

/* Returns 1 for a time without "s@", such as 10m or 2026-01-31, so that the message can suggest s@TIME.
 * Returns 0 for digits alone and 13:10: a number may be meant as a position, as in another tool, and 13:10 as
 * a record in shard 13. */
static int is_time(slp_str text, const slp_clock *clock) {
  int64_t at_ms;
  for (size_t i = 0; i < text.n; i++)
    if (text.p[i] != ':' && (text.p[i] < '0' || text.p[i] > '9'))
      return slp_when_parse(text, clock, &at_ms) == 0;
  return 0;
}

int slp_start_parse(const char *z, const slp_clock *clock, slp_start *ret, char why[200]) {
  slp_start start = {0};
  slp_str text = slp_str_of(z);
  if (is_oldest(z)) {
    start.kind = SLOOP_OLDEST;
  } else if (strcmp(z, "latest") == 0 || strcmp(z, "end") == 0) {
    start.kind = SLOOP_LATEST;
  } else if (z[0] == '-') {
    if (slp_parse_u64((slp_str){z + 1, text.n - 1}, &start.last) != 0 || !start.last ||
        start.last > SLP_START_LAST_MAX) {
      snprintf(why, 200, "-o: \"%.40s\" is not -N, the last N records, from -1 to -%u", z,
               SLP_START_LAST_MAX);
      return SLP_EINVAL;
    }
  } else if (z[0] == '@' && z[1]) {
    start.kind = SLOOP_AT_TOKEN;
    start.file = z + 1;
  } else if (strncmp(z, "s@", 2) == 0 || strncmp(z, "e@", 2) == 0) {
    start.is_end = z[0] == 'e';
    start.kind = SLOOP_AT_TIME;
    slp_str at = {z + 2, text.n - 2};
    if (slp_when_parse(at, clock, &start.at_ms) != 0) {
      const char *remedy = slp_when_number_remedy(at);
      if (remedy)
        snprintf(why, 200, "-o: \"%.40s\" is not %s", at.p, remedy);
      else
        snprintf(
            why, 200,
            "-o: \"%.40s\" is not a time; use %c@1767225600, %c@2026-01-01T00:00:00Z, %c@13:10 or %c@2h30m "
            "(ago)",
            at.p, z[0], z[0], z[0], z[0]);
      return SLP_EINVAL;
    }
  } else if (is_time(text, clock)) {
    snprintf(why, 200, "-o: \"%.40s\" is a time, so say s@%.40s to begin there, or e@%.40s to end", z, z, z);
    return SLP_EINVAL;
  } else if (strchr(z, ':')) {
    int r = parse_shard_seq(text, &start, why);
    if (r) return r;
  } else {
    snprintf(why, 200,
             "-o: \"%.40s\" is not a position; use oldest, latest, -N, s@TIME, @FILE or SHARD:SEQUENCE", z);
    return SLP_EINVAL;
  }
  *ret = start;
  return 0;
}
