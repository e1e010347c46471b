/* quota.h - decides when a call may be sent whose rate a service limits for a whole account: at most a_second
 * calls of one kind in any SLP_QUOTA_WINDOW_US. All consumers of a process ask the same slp_quotas (host.h:
 * slp_host_quota_take), so that together they stay below the limit. Pure: the caller passes the time, and
 * nothing is allocated.
 *
 * A permit is the permission to send one call at a certain time. Permits are given in the order in which
 * callers ask. A permit is used up even if its call is never sent. */
#ifndef SLP_BASE_QUOTA_H
#define SLP_BASE_QUOTA_H

#include "base/base.h"

/* A permit is valid for this time. A caller that is later, for example because its process was frozen, asks
 * for another permit. */
#define SLP_QUOTA_LATE_US 50000u
#define SLP_QUOTA_WINDOW_US (1000000u + SLP_QUOTA_LATE_US)
#define SLP_QUOTA_CALLS_MAX 20u /* the highest limit of calls a second that a kind may have */
/* At most this many kinds of calls have a limit of their own at the same time. A kind is one operation of one
 * account at one endpoint. If more kinds are called within a window, some of them share a limit. */
#define SLP_QUOTA_KINDS_MAX 32u
/* Other processes use the account's limit too. So each refusal by the service halves the number of calls
 * allowed per second, down to an eighth. After every SLP_QUOTA_SLOWED_US without a refusal that number
 * doubles again. */
#define SLP_QUOTA_SLOWED_US 10000000u

typedef struct slp_quota {               /* the limit of one kind of call */
  uint64_t kind;                         /* hash of the kind's name; 0: not in use */
  uint64_t sent_us[SLP_QUOTA_CALLS_MAX]; /* times of the last permits given, as a ring; 0: none yet */
  uint32_t next;                         /* index of the oldest permit in the ring */
  /* how often refusals have doubled the window: the window is SLP_QUOTA_WINDOW_US << slowed */
  uint32_t slowed;
  uint64_t refused_us; /* when `slowed` last changed */
} slp_quota;

typedef struct slp_quotas { /* all zero: no call was made yet */
  slp_quota all[SLP_QUOTA_KINDS_MAX];
} slp_quotas;

/* Takes a permit for one call. Returns when the call may be sent: now_us or later. a_second is the limit of
 * calls a second, 1 to SLP_QUOTA_CALLS_MAX, and always the same for a kind. */
uint64_t slp_quota_take(slp_quotas *q, slp_str kind, uint32_t a_second, uint64_t now_us);
/* To be called when the service has refused a call of this kind because the limit was exceeded. */
void slp_quota_refused(slp_quotas *q, slp_str kind, uint64_t now_us);

#endif
