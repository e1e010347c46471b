/* election.h - the role of a worker: whether it leads or follows, what a follower reads regularly, and how
 * the leader is notified of changes. "The row of leadership" says which worker leads, "the leader's row" is
 * that worker's own row. Each worker's row has a change counter, which other workers raise to notify the
 * leader.
 *
 *             joined, resumed        the row of leadership has another owner, which lives
 *   NONE -------------------------> SEEKS -------------------------------> FOLLOWS
 *    ^                              |  ^ ^                                    |
 *    |     elected, or this worker  |  | +------------------------------------+
 *    |     owns the row             |  |    the leader is evicted, or the row must be read again
 *    |                              v  | the row has another owner
 *    +---------------------------- LEADS
 *
 * From every state a worker goes to NONE when it is suspended, is evicted or leaves. */
#ifndef SLP_LEASE_ELECTION_H
#define SLP_LEASE_ELECTION_H

#include "base/repeat.h"
#include "lease/read.h"
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
  uint64_t named_us;  /* when a read first showed that owner */
  uint64_t epoch;     /* the epoch of leadership, while this worker leads */
  uint64_t read_us;   /* when the row of leadership was last read */
  uint64_t alert_us;  /* until this time the leader's row is read often */
  uint64_t list_us;   /* the rows of all workers are not read again before this time */
  /* how much longer than a lease this worker waits before it evicts a silent leader; drawn at random, so that
   * not all workers do it at the same moment */
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
  /* least time between two attempts to lead, for a table that forgets what was written to it */
  slp_paced paced;
  slp_read read; /* reads the row of leadership, or the leader's row */
  /* writes the row of leadership */
  slp_write write;
  slp_notify notify;
  void (*leads)(slp_fleet *f, int on);
  void (*news)(slp_fleet *f);
} slp_election;

/* leads: called with 1 when this worker begins to lead, with 0 when it ends to lead. news: called when this
 * worker leads and another worker has notified it of a change. */
void slp_election_init(slp_fleet *f, void (*leads)(slp_fleet *f, int on), void (*news)(slp_fleet *f));
void slp_election_stop(slp_fleet *f);
void slp_election_free(slp_fleet *f);

/* NONE -> SEEKS: to be called when the worker has joined, or is resumed */
void slp_election_begin(slp_fleet *f);
/* To be called when the leader has read all rows. there: 1 if the row of leadership was among them. */
void slp_election_listed(slp_fleet *f, int there);
/* reads the row of leadership after in_us, and acts on it */
void slp_election_seek(slp_fleet *f, uint64_t in_us);
void slp_election_drop(slp_fleet *f); /* gives up leading or following: the role becomes NONE */
int slp_role_is(const slp_fleet *f, slp_role role);
uint64_t slp_election_epoch(const slp_fleet *f);
/* returns 1 if this worker created the row of leadership, so that no worker led before it */
int slp_election_made(const slp_fleet *f);
/* returns the id of slp_election.leader; empty if there is none */
slp_str slp_election_leader_id(const slp_fleet *f);
/* sets the fleet's start position, as read from the row of leadership */
void slp_election_set_start(slp_fleet *f, const slp_position *start);
/* Writes that no worker leads any more. To be called by a leader that leaves; done is called with the
 * outcome. */
void slp_election_resign(slp_fleet *f, void (*done)(slp_write *op));

/* To be called when a change is expected: the leader's row is read often for the next for_us. */
void slp_election_alert(slp_fleet *f, uint64_t for_us);
void slp_election_alert_soon(slp_fleet *f); /* reads the leader's row often for a few seconds */
/* To be called when the leader's change counter has changed: reads this worker's assignment, and the rows of
 * its leases that may have changed. */
void slp_election_changed(slp_fleet *f);
/* In LEADS: takes in the change counter of this worker's own row. Returns 1 if another worker has raised
 * it. */
int slp_election_heard(slp_fleet *f, uint64_t changes);
/* returns 1 if `changes` is not the counter up to which this worker has acted */
int slp_election_differs(const slp_fleet *f, uint64_t changes);

/* raises the change counter in the row of the leader, or of the last leader that is known */
void slp_notify_leader(slp_fleet *f);
/* does the same, and calls done when the write is answered */
void slp_notify_leader_then(slp_fleet *f, void (*done)(slp_fleet *f));

#endif
