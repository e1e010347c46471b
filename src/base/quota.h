/* quota.h - tells when a call may be sent of a kind that a service counts for a whole account: at most
 * a_second of them in any SLP_QUOTA_WINDOW_US. Every consumer of a process asks one slp_quotas (host.h:
 * slp_host_quota_take), so that together they stay below the limit. Pure: times come from the caller, and
 * nothing is allocated.
 *
 * Turns are given in the order of asking. A turn is used up even if its call is given up. */
#ifndef SLP_BASE_QUOTA_H
#define SLP_BASE_QUOTA_H

#include "base/base.h"

/* A turn is good for this time. A caller that comes later, for example after a freeze, asks for another. */
#define SLP_QUOTA_LATE_US 50000u
#define SLP_QUOTA_WINDOW_US (1000000u + SLP_QUOTA_LATE_US)
#define SLP_QUOTA_CALLS_MAX 20u /* the largest limit there is */
/* How many kinds of calls have a limit of their own at one time. A kind is an operation of one account at one
 * endpoint. If there are more kinds in a window, some share a limit. */
#define SLP_QUOTA_KINDS_MAX 32u
/* Other processes use the account too. So a refusal halves the calls a second, down to an eighth; each time
 * this long passes without another refusal they are doubled. */
#define SLP_QUOTA_SLOWED_US 10000000u

typedef struct slp_quota {               /* one per kind of call */
  uint64_t kind;                         /* hash of its name */
  uint64_t sent_us[SLP_QUOTA_CALLS_MAX]; /* times of the last turns given, as a ring; 0: none yet */
  uint32_t next;                         /* index of the oldest turn in the ring */
  uint32_t slowed;                       /* the window is 1 << slowed times as long */
  uint64_t refused_us;                   /* when `slowed` last changed */
} slp_quota;

typedef struct slp_quotas { /* zeroed: no call was made */
  slp_quota all[SLP_QUOTA_KINDS_MAX];
} slp_quotas;

/* Returns when the call that is asked for at now_us may be sent: now_us or later. a_second: 1 to
 * SLP_QUOTA_CALLS_MAX, and always the same for a kind. */
uint64_t slp_quota_take(slp_quotas *q, slp_str kind, uint32_t a_second, uint64_t now_us);
/* The service has refused such a call, as one too many. */
void slp_quota_refused(slp_quotas *q, slp_str kind, uint64_t now_us);

#endif
