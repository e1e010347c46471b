/* members.h - the other workers, as far as their rows show: alive, silent, or evicted. */
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
  uint8_t gone, leaving;
  uint8_t older;   /* its program is too old to find the leases that it would be given */
  uint8_t wanted;  /* its row should be read */
  uint8_t strange; /* it has a row that can't be read, so nobody can tell whether it lives */
  char incarnation_took[SLP_INCARNATION_N];
  uint8_t takes;       /* the leader last saw that it takes leases */
  uint8_t in_list;     /* the last list of all workers had it */
  uint8_t last_ok;     /* the last read of its row succeeded */
  slp_silence silence; /* of this incarnation; `missing` is set by consistent reads only */
  uint64_t changes;
  uint32_t lease_ms, held, weight;
  uint32_t given; /* leases of a leaving worker that it was given */
  uint64_t gone_since_us;
  uint64_t exact_us; /* when the last consistent read of its row was sent; 0: never */
  uint64_t used_us;  /* when it was last asked for or heard of */
  slp_write op;      /* the write that evicts it */
  /* the incarnation that op evicts; a new one may have joined under this id meanwhile */
  char evicting_incarnation[SLP_INCARNATION_N];
} slp_member;

typedef enum slp_verdict { SLP_MEMBER_UNKNOWN, SLP_MEMBER_ALIVE, SLP_MEMBER_EVICTED } slp_verdict;

typedef struct slp_members {
  slp_map all;   /* slp_member */
  slp_read list; /* reads all workers' rows: for the leader's watch, an alert follower, or proposals */
  void (*listed)(slp_fleet *f);
} slp_members;

void slp_members_init(slp_fleet *f);
void slp_members_stop(slp_fleet *f);
void slp_members_free(slp_fleet *f);

slp_member *slp_member_get(slp_fleet *f, slp_str id);  /* NULL: not known */
slp_member *slp_member_make(slp_fleet *f, slp_str id); /* NULL: no memory, or not a valid id */
slp_member *slp_member_each(slp_fleet *f, size_t *at);
slp_str slp_member_id(const slp_member *p);
int slp_member_is_missing(const slp_member *p); /* the last consistent read found no row of it */
int slp_member_is_me(const slp_fleet *f, const slp_member *p);
void slp_member_instance(const slp_member *p, slp_instance *ret);
/* Forgets members that nothing has named for long, except this worker's own row and the member `keep`. */
void slp_members_forget(slp_fleet *f, slp_str keep);

/* Takes a read of its row; w is NULL if there is none. */
void slp_member_saw(slp_member *p, const slp_worker_row *w, int exact, const slp_store_req *rq);
/* takes what a write of this worker showed of its row */
void slp_member_saw_write(slp_member *p, const slp_write *op);
/* Notes that the member's row is damaged or of a newer version. The user is told once. The member does not
 * count as missing, and is never evicted. */
void slp_member_saw_bad(slp_member *p, const slp_parsed_row *row);
void slp_member_unread(slp_member *p); /* a read of its row failed */

/* Returns whether that instance may still renew its leases. named_us: when the read that named the instance
 * was answered. */
slp_verdict slp_member_verdict(slp_fleet *f, slp_str instance, uint64_t named_us);
/* Returns 1 if p was silent for a whole lease plus more_us, while this worker's own access to the table
 * worked: PROTOCOL.md, "Eviction". */
int slp_member_may_evict(slp_fleet *f, const slp_member *p, uint64_t more_us);
/* Returns when that will be the case if p stays silent; SLP_NEVER: not by waiting. */
uint64_t slp_member_quiet_us(slp_fleet *f, const slp_member *p, uint64_t more_us);
void slp_member_evict(slp_fleet *f, slp_member *p);

/* Reads every worker's row at once, then calls done, even if the read failed. Returns 0 if such a read is
 * under way or there is no memory. */
int slp_members_list(slp_fleet *f, int exact, void (*done)(slp_fleet *f));
/* Takes over the read that is under way: done is called instead of what it was started with. Returns 0 if no
 * read is under way. */
int slp_members_list_joined(slp_fleet *f, void (*done)(slp_fleet *f));
size_t slp_members_n(const slp_fleet *f);      /* members whose row was ever read */
int slp_members_list_came(const slp_fleet *f); /* the last list did not fail */

#endif
