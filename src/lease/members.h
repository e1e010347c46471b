/* members.h - the workers of the fleet as their rows show them: alive, silent, or evicted. This worker's
 * own row is among them. */
#ifndef SLP_LEASE_MEMBERS_H
#define SLP_LEASE_MEMBERS_H

#include "base/map.h"
#include "lease/read.h"
#include "lease/silence.h"
#include "lease/write.h"

typedef struct slp_member {
  char id[SLP_WORKER_ID_MAX + 1];
  uint8_t id_n;
  char incarnation[SLP_INCARNATION_N];
  uint8_t incarnation_n;
  /* gone: this incarnation is evicted or has left. leaving: its row says that it leaves */
  uint8_t gone, leaving;
  uint8_t older;  /* the member's program is too old to find the leases that it would be given */
  uint8_t wanted; /* the member's row should be read */
  /* the member's row exists but can't be read, so nobody can tell whether the member lives */
  uint8_t strange;
  /* the incarnation that the leader saw in its last watch */
  char incarnation_took[SLP_INCARNATION_N];
  uint8_t takes;       /* in the leader's last watch this member took leases */
  uint8_t in_list;     /* the last list of all workers had this member */
  uint8_t last_ok;     /* the last read of the member's row succeeded */
  slp_silence silence; /* silence of this incarnation; its `missing` is set by consistent reads only */
  /* the change counter in the member's row */
  uint64_t changes;
  uint32_t lease_ms, held, weight;
  uint32_t given; /* leases that this worker, which leaves, proposes to the member */
  /* when `gone` was first seen */
  uint64_t gone_since_us;
  uint64_t exact_us; /* when the last consistent read of the member's row was sent; 0: never */
  uint64_t used_us;  /* when slp_member_make was last called for the member */
  slp_write op;      /* the write that evicts the member */
  /* the incarnation that `op` evicts; meanwhile a new incarnation may have joined under this id */
  char evicting_incarnation[SLP_INCARNATION_N];
} slp_member;

typedef enum slp_verdict { SLP_MEMBER_UNKNOWN, SLP_MEMBER_ALIVE, SLP_MEMBER_EVICTED } slp_verdict;

typedef struct slp_members {
  slp_map all; /* of slp_member, by id */
  /* reads the rows of all workers: for the leader's watch, for a follower whose leader is silent, or for
   * proposals */
  slp_read list;
  /* called when the list has come or failed */
  void (*listed)(slp_fleet *f);
} slp_members;

void slp_members_init(slp_fleet *f);
void slp_members_stop(slp_fleet *f);
void slp_members_free(slp_fleet *f);

slp_member *slp_member_get(slp_fleet *f, slp_str id); /* NULL: this worker does not know the member */
/* returns the member, creating it if needed. NULL: no memory, or `id` is not a valid id */
slp_member *slp_member_make(slp_fleet *f, slp_str id);
slp_member *slp_member_each(slp_fleet *f, size_t *at);
slp_str slp_member_id(const slp_member *p);
/* returns 1 if the last consistent read found no row of the member */
int slp_member_is_missing(const slp_member *p);
int slp_member_is_me(const slp_fleet *f, const slp_member *p);
/* sets *ret to "id.incarnation"; empty if no row was read yet */
void slp_member_instance(const slp_member *p, slp_instance *ret);
/* Forgets members that were not looked up for 10 minutes, except this worker itself and the member `keep`. */
void slp_members_forget(slp_fleet *f, slp_str keep);

/* Takes a read of the member's row; w is NULL if there is no row. exact: the read was consistent. */
void slp_member_saw(slp_member *p, const slp_worker_row *w, int exact, const slp_store_req *rq);
/* takes the row that the answer to a write on the member's row showed */
void slp_member_saw_write(slp_member *p, const slp_write *op);
/* Notes that the member's row is damaged or of a newer version, and tells the user once. Such a member is
 * neither missing nor ever evicted. */
void slp_member_saw_bad(slp_member *p, const slp_parsed_row *row);
void slp_member_unread(slp_member *p); /* notes that a read of the member's row failed */

/* Returns whether an instance may still renew its leases. named_us: when the read was answered that first
 * showed this instance as an owner or claimant. */
slp_verdict slp_member_verdict(slp_fleet *f, slp_str instance, uint64_t named_us);
/* Returns 1 if p was silent for a whole lease plus more_us, while this worker's own access to the table
 * worked. See PROTOCOL.md, "Eviction". */
int slp_member_may_evict(slp_fleet *f, const slp_member *p, uint64_t more_us);
/* Returns when slp_member_may_evict can become 1 if p stays silent; SLP_NEVER: not by waiting. */
uint64_t slp_member_quiet_us(slp_fleet *f, const slp_member *p, uint64_t more_us);
/* sends the write that evicts p */
void slp_member_evict(slp_fleet *f, slp_member *p);

/* Reads the rows of all workers, then calls done, even if the read failed. Returns 1, or 0 if such a read
 * is under way or there is no memory. */
int slp_members_list(slp_fleet *f, int exact, void (*done)(slp_fleet *f));
/* Takes over the read that is under way: `done` is called instead of the function that the read was
 * started with. Returns 1, or 0 if no read is under way. */
int slp_members_list_joined(slp_fleet *f, void (*done)(slp_fleet *f));
size_t slp_members_n(const slp_fleet *f);      /* members that this worker knows */
int slp_members_list_came(const slp_fleet *f); /* returns 1 if the last list came, 0 if it failed */

#endif
