/* expiry.c - computes the wall-clock times at which leases run out. */
#include "guest/expiry.h"

#include "guest/guest_operations.h"
#include "lease/schema.h"

#define NS_PER_MS UINT64_C(1000000)
/* if the time in a row is further ahead than this, it is wrong, and may be replaced by an earlier time */
#define AHEAD_NS (3600 * 1000 * NS_PER_MS)
/* A claim of a Go program is respected until this long after the time in the lease's row. The value is the
 * default of LeaseStealingClaimTimeoutMillis in vmware-go-kcl-v2. */
#define PEER_CLAIM_MS 120000

static int proves_life(slp_operation_kind kind) {
  return kind == SLP_OPERATION_TAKE || kind == SLP_OPERATION_RETAKE || kind == SLP_GUEST_RENEW ||
         kind == SLP_OPERATION_CHECKPOINT;
}

uint64_t slp_expiry_after(const slp_operation *i, int64_t wall_ms, uint32_t lease_ms, uint64_t serial) {
  if (!proves_life(i->kind)) return i->epoch;
  uint64_t ms = (wall_ms > 0 ? (uint64_t)wall_ms : 0) + lease_ms;
  uint64_t after = ms * NS_PER_MS + serial % NS_PER_MS;
  return i->epoch >= after && i->epoch - after < AHEAD_NS ? i->epoch + 1 : after;
}

uint64_t slp_expiry_past_us(uint64_t epoch, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms) {
  int64_t left_ms = (int64_t)(epoch / NS_PER_MS) + lease_ms / 5 - wall_ms;
  return left_ms < 0 ? now_us : slp_after_us(now_us, (uint64_t)(left_ms + 1) * 1000);
}

uint64_t slp_expiry_reserved_us(const slp_lease_row *row, slp_str me, int64_t wall_ms, uint64_t now_us,
                                uint32_t lease_ms) {
  slp_str id, incarnation;
  if (!row->claim.n || slp_str_eq(row->claim, me)) return 0;
  if (slp_instance_split(row->claim, &id, &incarnation))
    return slp_expiry_past_us(row->epoch, wall_ms, now_us, lease_ms);
  int64_t left_ms = (int64_t)(row->epoch / NS_PER_MS) + PEER_CLAIM_MS - wall_ms;
  return left_ms < 0 ? now_us : slp_after_us(now_us, (uint64_t)(left_ms + 1) * 1000);
}
