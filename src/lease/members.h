/* members.h - the workers of the fleet, called members, as their rows show them: alive, silent, or evicted.
 * This worker's own row is among them. */
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
  /* gone, 1: this incarnation is evicted or has left. leaving, 1: its row says that it is leaving. */
  uint8_t gone, leaving;
  uint8_t older;  /* 1: the member's program is too old to find the leases that it would be given */
  uint8_t wanted; /* 1: the member's row must be read soon */
  /* 1: the member's row exists but can't be read, so nobody can tell whether the member lives */
  uint8_t strange;
  /* the member's incarnation in the leader's last watch */
  char incarnation_took[SLP_INCARNATION_N];
  uint8_t takes;   /* 1: in the leader's last watch (slp_leader_watch) this member took leases */
  uint8_t in_list; /* 1: the last list of all workers had this member */
  uint8_t last_ok; /* 1: the last read of the member's row succeeded */
  /* how long this incarnation has been silent; only consistent reads set its `missing` */
  slp_silence silence;
  /* the change counter in the member's row */
  uint64_t changes;
  uint32_t lease_ms, held, weight;
  uint32_t given; /* how many leases this worker, which leaves, proposes to the member */
  /* when this worker first saw that `gone` is 1 */
  uint64_t gone_since_us;
  uint64_t exact_us; /* when the last consistent read of the member's row was sent; 0: never */
  uint64_t used_us;  /* when slp_member_make was last called for the member */
  slp_write op;      /* the write that evicts the member */
  /* the incarnation that `op` evicts; by now another incarnation may have joined under this id */
  char evicting_incarnation[SLP_INCARNATION_N];
} slp_member;

typedef enum slp_verdict { SLP_MEMBER_UNKNOWN, SLP_MEMBER_ALIVE, SLP_MEMBER_EVICTED } slp_verdict;

typedef struct slp_members {
  slp_map all; /* slp_member by id */
  /* Reads the rows of all workers: for the leader's watch, for a follower whose leader is silent, or to find
   * successors. */
  slp_read list;
  /* called when `list` has come or failed */
  void (*listed)(slp_fleet *f);
} slp_members;

void slp_members_init(slp_fleet *f);
void slp_members_stop(slp_fleet *f);
void slp_members_free(slp_fleet *f);

/* returns NULL if this worker does not know the member */
slp_member *slp_member_get(slp_fleet *f, slp_str id);
/* Returns the member, and creates it if needed. NULL: no memory, or `id` is not a valid id. */
slp_member *slp_member_make(slp_fleet *f, slp_str id);
slp_member *slp_member_each(slp_fleet *f, size_t *at);
slp_str slp_member_id(const slp_member *p);
/* returns 1 if the last consistent read found no row of the member */
int slp_member_is_missing(const slp_member *p);
int slp_member_is_me(const slp_fleet *f, const slp_member *p);
/* sets *ret to "id.incarnation"; empty if no row was read yet */
void slp_member_instance(const slp_member *p, slp_instance *ret);
/* Forgets members that were not looked up for 10 minutes. Keeps this worker itself, and the member with the
 * id `keep`. */
void slp_members_forget(slp_fleet *f, slp_str keep);

/* To be called when the member's row was read. w NULL: there is no such row. exact, 1: the read was
 * consistent. */
void slp_member_saw(slp_member *p, const slp_worker_row *w, int exact, const slp_store_req *rq);
/* to be called when a write on the member's row was answered, with the row in the answer */
void slp_member_saw_write(slp_member *p, const slp_write *op);
/* To be called when the member's row is damaged or of a newer version: tells the user once. Such a member is
 * neither missing nor ever evicted. */
void slp_member_saw_bad(slp_member *p, const slp_parsed_row *row);
void slp_member_unread(slp_member *p); /* to be called when a read of the member's row failed */

/* Returns whether an instance may still renew its leases. named_us: when the read was answered that first
 * showed the instance as an owner or claimant of a lease. */
slp_verdict slp_member_verdict(slp_fleet *f, slp_str instance, uint64_t named_us);
/* Returns 1 if p was silent for a whole lease plus more_us, while this worker's own requests to the table
 * succeeded. See PROTOCOL.md, "Eviction". */
int slp_member_may_evict(slp_fleet *f, const slp_member *p, uint64_t more_us);
/* Returns when slp_member_may_evict becomes 1 if p stays silent; SLP_NEVER: not by waiting alone. */
uint64_t slp_member_quiet_us(slp_fleet *f, const slp_member *p, uint64_t more_us);
/* sends the write that evicts p */
void slp_member_evict(slp_fleet *f, slp_member *p);

/* Reads the rows of all workers, then calls done, even if the read failed. exact, 1: by a consistent read.
 * Returns 1; or 0 if such a read is under way already, or there is no memory. */
int slp_members_list(slp_fleet *f, int exact, void (*done)(slp_fleet *f));
/* If the rows of all workers are being read: `done` will be called instead of the function that was given
 * when the read began. Returns 1, or 0 if no such read is under way. */
int slp_members_list_joined(slp_fleet *f, void (*done)(slp_fleet *f));
size_t slp_members_n(const slp_fleet *f); /* how many members this worker knows */
/* returns 1 if the last list of all workers came, 0 if it failed */
int slp_members_list_came(const slp_fleet *f);

#endif
