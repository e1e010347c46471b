/* election_part.h - the role of a worker; election.c owns it, and election.h draws the roles. */
#ifndef SLP_LEASE_ELECTION_PART_H
#define SLP_LEASE_ELECTION_PART_H

#include "base/repeat.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/instance.h"
#include "lease/lease_types.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/write.h"

typedef enum slp_role { SLP_ROLE_NONE, SLP_ROLE_SEEKS, SLP_ROLE_FOLLOWS, SLP_ROLE_LEADS } slp_role;

typedef struct slp_notify { /* a write that adds one to the change counter in the leader's row */
  slp_write write;
  uint8_t again; /* 1: when the write under way is answered, send the write once more */
  /* id of the leader that is notified */
  char id[SLP_WORKER_ID_MAX];
  uint8_t id_n;
  /* called when the write is answered; NULL: no part of the worker waits for that */
  void (*done)(slp_fleet *f);
} slp_notify;

typedef struct slp_election {
  slp_role role;
  /* the leader that this worker follows or followed last; in SEEKS also the owner that this worker tries to
   * replace; in LEADS this worker */
  slp_instance leader;
  slp_instance named; /* the owner of the row of leadership when that row was last read */
  uint64_t named_us;  /* when this worker first read that `named` is the owner */
  uint64_t epoch;     /* the epoch of leadership, while this worker leads */
  uint64_t read_us;   /* when the row of leadership was last read */
  uint64_t alert_us;  /* until this time the leader's row is read often */
  uint64_t list_us;   /* the rows of all workers are not read again before this time */
  /* how much longer than the lease time this worker waits before it evicts a silent leader; drawn at random,
   * so that not all workers do it at the same moment */
  uint64_t turn_us;
  uint64_t changes;      /* the value of the leader's change counter up to which this worker has acted */
  uint8_t changes_known; /* 1: `changes` was read from the row of the present leader */
  uint8_t made;          /* 1: this worker's last write of the row of leadership was to create the row */
  uint8_t exact_next;    /* 1: the next read of the leader's row must be consistent */
  uint8_t unlisted;      /* 1: this worker leads, but its list of all rows lacked the row of leadership */
  /* how many times in a row the list lacked the row of leadership although a read of that row found it */
  uint32_t unlisted_n;
  slp_position start; /* where the fleet began to read, as the row of leadership says */
  /* in FOLLOWS: runs when the leader's row is read next; in SEEKS: when the row of leadership is read next */
  slp_timer timer;
  /* Keeps a least time between two attempts to lead. If a table forgets what was written to it, a worker
   * would otherwise try to lead again without a pause. */
  slp_paced paced;
  slp_read read; /* reads the row of leadership, or the leader's row */
  /* writes the row of leadership */
  slp_write write;
  slp_notify notify;
  /* the functions that were given to slp_election_init */
  void (*leads)(slp_fleet *f, int on);
  void (*news)(slp_fleet *f);
} slp_election;

#endif
