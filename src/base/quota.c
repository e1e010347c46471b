/* quota.c - delays calls so that a service's limit is kept. quota.h explains "kind" (of call) and "permit"
 * (permission to send one call). */
#include "base/quota.h"

#include "base/hash.h"

/* After refusals the window is at most SLP_QUOTA_WINDOW_US << SLOWED_MAX. */
#define SLOWED_MAX 3u

/* Hashes the name of a kind of call. If two kinds had the same hash, they would share a limit, and their
 * calls would only be slower. Never returns 0, which marks a quota that is not in use. */
static uint64_t hash_of(slp_str s) {
  static const slp_hash_key key = {{0x71756f7461, 0x6b696e6473}};
  uint64_t h = slp_hash(&key, s);
  return h ? h : 1;
}

static uint64_t newest_us(const slp_quota *k) {
  uint64_t newest = 0;
  for (size_t i = 0; i < SLP_QUOTA_CALLS_MAX; i++) newest = slp_max_u64(newest, k->sent_us[i]);
  return newest;
}

/* Returns the quota of `kind`. A new kind gets a quota that is not in use, or else the one whose last permit
 * is the oldest. If all permits of that quota are past, its former kind loses the quota; otherwise both kinds
 * share it. */
static slp_quota *quota_of(slp_quotas *q, uint64_t kind, uint64_t now_us) {
  slp_quota *oldest = &q->all[0];
  for (size_t i = 0; i < SLP_QUOTA_KINDS_MAX; i++) {
    slp_quota *k = &q->all[i];
    if (k->kind == kind) return k;
    if (newest_us(k) < newest_us(oldest)) oldest = k;
  }
  if (newest_us(oldest) + ((uint64_t)SLP_QUOTA_WINDOW_US << SLOWED_MAX) < now_us || !oldest->kind)
    *oldest = (slp_quota){.kind = kind};
  return oldest;
}

static void speed_up(slp_quota *k, uint64_t now_us) {
  while (k->slowed && now_us - k->refused_us >= SLP_QUOTA_SLOWED_US) {
    k->slowed--;
    k->refused_us += SLP_QUOTA_SLOWED_US;
  }
}

uint64_t slp_quota_take(slp_quotas *q, slp_str kind, uint32_t a_second, uint64_t now_us) {
  SLP_CHECK(a_second && a_second <= SLP_QUOTA_CALLS_MAX);
  slp_quota *k = quota_of(q, hash_of(kind), now_us);
  speed_up(k, now_us);
  uint64_t *oldest = &k->sent_us[k->next % a_second];
  uint64_t window = (uint64_t)SLP_QUOTA_WINDOW_US << k->slowed;
  *oldest = *oldest ? slp_max_u64(now_us, *oldest + window) : now_us;
  k->next = (k->next + 1) % a_second;
  return *oldest;
}

void slp_quota_refused(slp_quotas *q, slp_str kind, uint64_t now_us) {
  slp_quota *k = quota_of(q, hash_of(kind), now_us);
  speed_up(k, now_us);
  /* Calls in flight at the same time are refused at the same time, so their refusals count as one. */
  if (k->slowed && now_us - k->refused_us < (uint64_t)SLP_QUOTA_WINDOW_US << k->slowed) return;
  if (k->slowed < SLOWED_MAX) k->slowed++;
  k->refused_us = now_us;
}
