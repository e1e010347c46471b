/* lease_over.c - writes the line of --lag-over. It also lists shards whose lag is not known, because for a
 * cron job no output means that no shard is behind. */
#include "cli/lease_over.h"

#include "base/buf.h"
#include "cli/lease_words.h"
#include "cli/record_formats.h"

#include <sloop_admin.h>

#define NAMES_MAX 10u /* the most shards that the line lists */

typedef struct over {
  slp_buf *b;
  size_t n;
} over;

static void add_name_with_reason(over *o, const char *name, const char *why) {
  if (o->n < NAMES_MAX) slp_buf_addf(o->b, "%s%.128s (%s)", o->n ? ", " : "", name, why);
  o->n++;
}

static void add_shard(over *o, const sloop_lease_t *l, const sloop_leases_t *all, int64_t now_ms,
                      int64_t limit_ms) {
  slp_lease_lag lag = slp_lease_lag_of(l, all, now_ms);
  const char *lost = slp_lease_lost_word(l);
  char text[24];
  if (!lost && lag.ms >= 0 && lag.ms <= limit_ms) return;
  slp_lease_lag_text(lag, text);
  add_name_with_reason(o, slp_shard_short(l->shard), lost ? lost : lag.ms < 0 ? "unknown" : text);
}

size_t slp_lease_over(slp_buf *b, const sloop_leases_t *l, int64_t now_ms, int64_t limit_ms,
                      const char *given) {
  over o = {b, 0};
  size_t before = b->n;
  slp_buf_addf(b, "lag above %.40s, or unknown: ", given);
  for (size_t i = 0; i < l->leases_n; i++) add_shard(&o, l->leases[i], l, now_ms, limit_ms);
  for (size_t i = 0; i < l->unleased_n; i++) add_shard(&o, l->unleased[i], l, now_ms, limit_ms);
  for (size_t i = 0; i < l->bad_rows_n; i++) add_name_with_reason(&o, "an invalid row", "unknown");
  if (l->unlisted && *l->unlisted) add_name_with_reason(&o, "shards without a lease", "unknown");
  if (l->leases_n + l->unleased_n + l->bad_rows_n == 0) add_name_with_reason(&o, "every shard", "no lease");
  if (o.n > NAMES_MAX) slp_buf_addf(b, " and %zu more", o.n - NAMES_MAX);
  if (!o.n) slp_buf_cut(b, before);
  return o.n;
}
