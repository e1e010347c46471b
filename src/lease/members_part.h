/* members_part.h - the members of a worker as another worker sees it; members.c owns them. */
#ifndef SLP_LEASE_MEMBERS_PART_H
#define SLP_LEASE_MEMBERS_PART_H

#include "base/map.h"
#include "lease/lease_types.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/silence.h"
#include "lease/write.h"

typedef struct slp_eviction {
  slp_write op; /* its owner is the member */
  /* the incarnation that `op` evicts; by now another incarnation may have joined under this id */
  char incarnation[SLP_INCARNATION_N];
} slp_eviction;

typedef struct slp_member {
  slp_fleet *fleet;
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
  /* for the leader: the member's incarnation when slp_leader_watch last looked at the member */
  char incarnation_took[SLP_INCARNATION_N];
  /* for the leader, 1: when slp_leader_watch last looked, leases could be assigned to this member */
  uint8_t takes;
  uint8_t in_list; /* 1: the last read of the rows of all workers showed this member */
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
  /* Owned; made when this worker evicts the member for the first time; NULL before. A worker may remember
   * thousands of members, and evicts few. So this memory is not taken for each member. */
  slp_eviction *eviction;
} slp_member;

typedef struct slp_members {
  slp_map all; /* slp_member by id */
  /* Reads the rows of all workers. Used by the leader, to see who lives; by a follower whose leader is
   * silent; and by a worker that leaves, to find new owners for its leases. */
  slp_read list;
  /* called when the read `list` has succeeded or failed; may be NULL */
  void (*listed)(slp_fleet *f);
} slp_members;

#endif
