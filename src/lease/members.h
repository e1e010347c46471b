/* members.h - the other workers, as far as reading their rows shows: alive, silent, or evicted. */
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
  uint8_t older;   /* it would not find the leases that it is given */
  uint8_t wanted;  /* its row is to be read */
  uint8_t strange; /* there is a row that can't be read: nobody here can tell whether it lives */
  char incarnation_took[SLP_INCARNATION_N];
  uint8_t takes;       /* as the leader last saw it */
  uint8_t in_list;     /* the last list of all workers had it */
  uint8_t last_ok;     /* the last read of its row succeeded */
  slp_silence silence; /* of this incarnation; missing: by consistent reads */
  uint64_t changes;
  uint32_t lease_ms, held, weight;
  uint32_t given; /* of a leaver's leases */
  uint64_t gone_since_us;
  uint64_t exact_us;                            /* the last consistent read was sent then; 0: none */
  uint64_t used_us;                             /* it was last asked for, or heard of */
  slp_write op;                                 /* evicting it */
  char evicting_incarnation[SLP_INCARNATION_N]; /* another may have come under this id meanwhile */
} slp_member;

typedef enum slp_verdict { SLP_MEMBER_UNKNOWN, SLP_MEMBER_ALIVE, SLP_MEMBER_EVICTED } slp_verdict;

typedef struct slp_members {
  slp_map all;   /* slp_member */
  slp_read list; /* of all workers: for the leader's watch, for an alert follower, for proposals */
  void (*listed)(slp_fleet *f);
} slp_members;

void slp_members_init(slp_fleet *f);
void slp_members_stop(slp_fleet *f);
void slp_members_free(slp_fleet *f);

slp_member *slp_member_get(slp_fleet *f, slp_str id);  /* NULL: not known */
slp_member *slp_member_make(slp_fleet *f, slp_str id); /* known from here on; NULL: no memory, or no id */
slp_member *slp_member_each(slp_fleet *f, size_t *at);
slp_str slp_member_id(const slp_member *p);
int slp_member_is_missing(const slp_member *p); /* there was no row of it in the last consistent read */
int slp_member_is_me(const slp_fleet *f, const slp_member *p);
void slp_member_instance(const slp_member *p, slp_instance *ret);
/* Forgets those that nothing has named for long, but for my own row and the one of that id. */
void slp_members_forget(slp_fleet *f, slp_str keep);

/* Its row was read; w NULL: there is none. */
void slp_member_saw(slp_member *p, const slp_worker_row *w, int exact, const slp_store_req *rq);
void slp_member_saw_write(slp_member *p, const slp_write *op); /* what a write of mine showed of it */
/* Its row is damaged, or of a newer version: named once; it is neither missing nor ever evicted. */
void slp_member_saw_bad(slp_member *p, const slp_parsed_row *row);
void slp_member_unread(slp_member *p); /* a read that failed */

/* Whether that instance may still renew. named_us: when the read that named it was answered. */
slp_verdict slp_member_verdict(slp_fleet *f, slp_str instance, uint64_t named_us);
/* It was silent for a whole lease and more_us, while my own way to the table was fine: PROTOCOL.md,
 * "Eviction". */
int slp_member_may_evict(slp_fleet *f, const slp_member *p, uint64_t more_us);
/* When that will be, if nothing is heard until then; SLP_NEVER: not to come. */
uint64_t slp_member_quiet_us(slp_fleet *f, const slp_member *p, uint64_t more_us);
void slp_member_evict(slp_fleet *f, slp_member *p);

/* Every worker's row in one read; then done, also when it failed. 0: one is under way, or no memory. */
int slp_members_list(slp_fleet *f, int exact, void (*done)(slp_fleet *f));
/* The read that is under way is as good: done is called instead of what it was asked for. 0: there is
 * none. */
int slp_members_list_joined(slp_fleet *f, void (*done)(slp_fleet *f));
size_t slp_members_n(const slp_fleet *f);      /* that were ever read */
int slp_members_list_came(const slp_fleet *f); /* the last one did not fail */

#endif
