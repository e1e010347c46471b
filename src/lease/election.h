/* election.h - the role of a worker: who leads, what a follower polls, and how the leader is notified of
 * changes.
 *
 *            joined, resumed             the row names another, who lives
 *   NONE -------------------------> SEEKS -------------------------------> FOLLOWS
 *    ^                              |  ^ ^                                    |
 *    |     elected, or the row      |  | +------------------------------------+
 *    |     names me                 |  |     that one is evicted, or the row is to be read again
 *    |                              v  | another worker leads, by the row
 *    +---------------------------- LEADS
 *
 * A worker that is suspended, evicted or leaves goes to NONE from everywhere. */
#ifndef SLP_LEASE_ELECTION_H
#define SLP_LEASE_ELECTION_H

#include "base/repeat.h"
#include "lease/read.h"
#include "lease/write.h"

typedef enum slp_role { SLP_ROLE_NONE, SLP_ROLE_SEEKS, SLP_ROLE_FOLLOWS, SLP_ROLE_LEADS } slp_role;

typedef struct slp_notify { /* one more on the leader's change counter */
  slp_write write;
  uint8_t again; /* once more when the write under way is answered */
  char id[SLP_WORKER_ID_MAX];
  uint8_t id_n;
  void (*done)(slp_fleet *f);
} slp_notify;

typedef struct slp_election {
  slp_role role;
  slp_instance leader;   /* who was followed or elected last; LEADS: me */
  slp_instance named;    /* the owner of leadership that was read last, */
  uint64_t named_us;     /* and when it was first read */
  uint64_t epoch;        /* of my leadership */
  uint64_t read_us;      /* the row of leadership was last read then */
  uint64_t alert_us;     /* until then the leader's row is read often */
  uint64_t list_us;      /* all workers are not listed again before */
  uint64_t turn_us;      /* how much longer than a lease I wait before I evict the leader */
  uint64_t changes;      /* the leader's change counter, as I have acted on it */
  uint8_t changes_known; /* it is this leader's */
  uint8_t made;          /* this worker's last write to lead made the row */
  uint8_t exact_next;    /* the leader's row is to be read consistently */
  uint8_t unlisted;      /* the list of all rows lacked the row of leadership, which was mine; */
  uint32_t unlisted_n;   /* so often in a row the row itself showed then that it is there */
  slp_position start;    /* of the fleet, as the row of leadership has it */
  slp_timer timer;
  slp_paced paced; /* of the seeking: a table that forgets what is written makes it begin again and again */
  slp_read read;   /* of the row of leadership, or of the leader's own */
  slp_write write;
  slp_notify notify;
  void (*leads)(slp_fleet *f, int on);
  void (*news)(slp_fleet *f);
} slp_election;

/* leads: called when this worker begins to lead, and when it does not any more. news: others have
 * notified it. */
void slp_election_init(slp_fleet *f, void (*leads)(slp_fleet *f, int on), void (*news)(slp_fleet *f));
void slp_election_stop(slp_fleet *f);
void slp_election_free(slp_fleet *f);

void slp_election_begin(slp_fleet *f);
/* The leader has read all rows: was the row of leadership among them? */
void slp_election_listed(slp_fleet *f, int there);
void slp_election_seek(slp_fleet *f, uint64_t in_us);
void slp_election_drop(slp_fleet *f); /* leads and follows no more */
int slp_role_is(const slp_fleet *f, slp_role role);
uint64_t slp_election_epoch(const slp_fleet *f);
int slp_election_made(const slp_fleet *f); /* this worker made the row of leadership: nobody led before */
slp_str slp_election_leader_id(const slp_fleet *f);
void slp_election_set_start(slp_fleet *f, const slp_position *start); /* as the row of leadership has it */
/* The last write of one that led and leaves: nobody leads. */
void slp_election_resign(slp_fleet *f, void (*done)(slp_write *op));

/* Something is to come: the leader's row is read often for a while. */
void slp_election_alert(slp_fleet *f, uint64_t for_us);
void slp_election_alert_soon(slp_fleet *f); /* for a few seconds */
/* Something has changed: my assignment may have, and so may what I hold. */
void slp_election_changed(slp_fleet *f);
/* LEADS: the change counter of my own row, as it was read. 1: others have notified me, and I know it now. */
int slp_election_heard(slp_fleet *f, uint64_t changes);
int slp_election_differs(const slp_fleet *f, uint64_t changes); /* it is not what I know */

void slp_notify_leader(slp_fleet *f); /* or who led when this worker gave up its role */
void slp_notify_leader_then(slp_fleet *f, void (*done)(slp_fleet *f)); /* done when it is answered */

#endif
