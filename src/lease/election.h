/* election.h - the role of a worker: which worker leads, what a follower polls, and how the leader is
 * notified of changes.
 *
 *             joined, resumed        the row of leadership names another worker, which lives
 *   NONE -------------------------> SEEKS -------------------------------> FOLLOWS
 *    ^                              |  ^ ^                                    |
 *    |     elected, or the row      |  | +------------------------------------+
 *    |     names this worker        |  |    the leader is evicted, or the row is to be read again
 *    |                              v  | the row names another leader
 *    +---------------------------- LEADS
 *
 * A worker that is suspended, evicted or leaves goes to NONE from every state. */
#ifndef SLP_LEASE_ELECTION_H
#define SLP_LEASE_ELECTION_H

#include "base/repeat.h"
#include "lease/read.h"
#include "lease/write.h"

typedef enum slp_role { SLP_ROLE_NONE, SLP_ROLE_SEEKS, SLP_ROLE_FOLLOWS, SLP_ROLE_LEADS } slp_role;

typedef struct slp_notify { /* a write that raises the change counter of the leader's row */
  slp_write write;
  uint8_t again; /* send it once more when the write under way is answered */
  char id[SLP_WORKER_ID_MAX];
  uint8_t id_n;
  void (*done)(slp_fleet *f);
} slp_notify;

typedef struct slp_election {
  slp_role role;
  slp_instance leader; /* who was last followed or elected; in LEADS: this worker */
  slp_instance named;  /* the owner that the row of leadership named when it was last read */
  uint64_t named_us;   /* when the row first named that owner */
  uint64_t epoch;      /* of this worker's own leadership */
  uint64_t read_us;    /* when the row of leadership was last read */
  uint64_t alert_us;   /* the leader's row is read often until then */
  uint64_t list_us;    /* the list of all workers is not read again before */
  /* how much longer than a lease this worker waits before it evicts the leader, so that not all try at
   * once */
  uint64_t turn_us;
  uint64_t changes;      /* the leader's change counter up to which this worker has acted */
  uint8_t changes_known; /* `changes` was read from the present leader */
  uint8_t made;          /* this worker's last write of the row of leadership created it */
  uint8_t exact_next;    /* the next read of the leader's row must be consistent */
  uint8_t unlisted;      /* this worker leads, but the list of all rows lacked the row of leadership */
  uint32_t unlisted_n;   /* how often in a row that list lacked it while a read of the row itself found it */
  slp_position start;    /* the fleet's start position, from the row of leadership */
  slp_timer timer;
  slp_paced paced; /* bounds how often seeking begins again, for a table that forgets what is written */
  slp_read read;   /* reads the row of leadership, or the leader's own row */
  slp_write write;
  slp_notify notify;
  void (*leads)(slp_fleet *f, int on);
  void (*news)(slp_fleet *f);
} slp_election;

/* leads: called when this worker begins to lead, and when it ends. news: called when another worker has
 * notified this leader of a change. */
void slp_election_init(slp_fleet *f, void (*leads)(slp_fleet *f, int on), void (*news)(slp_fleet *f));
void slp_election_stop(slp_fleet *f);
void slp_election_free(slp_fleet *f);

void slp_election_begin(slp_fleet *f);
/* Called when the leader has read all rows. `there`: the row of leadership was among them. */
void slp_election_listed(slp_fleet *f, int there);
void slp_election_seek(slp_fleet *f, uint64_t in_us);
void slp_election_drop(slp_fleet *f); /* gives up leading or following */
int slp_role_is(const slp_fleet *f, slp_role role);
uint64_t slp_election_epoch(const slp_fleet *f);
int slp_election_made(const slp_fleet *f); /* this worker created the row of leadership: nobody led before */
slp_str slp_election_leader_id(const slp_fleet *f);
/* sets the fleet's start position from the row of leadership */
void slp_election_set_start(slp_fleet *f, const slp_position *start);
/* The last write of a leader that leaves: afterwards nobody leads. */
void slp_election_resign(slp_fleet *f, void (*done)(slp_write *op));

/* A change is expected: reads the leader's row often for a while. */
void slp_election_alert(slp_fleet *f, uint64_t for_us);
void slp_election_alert_soon(slp_fleet *f); /* for a few seconds */
/* A change was announced: this worker's assignment may have changed, and what it holds. */
void slp_election_changed(slp_fleet *f);
/* LEADS: takes the change counter of this worker's own row. Returns 1 if another worker has raised it. */
int slp_election_heard(slp_fleet *f, uint64_t changes);
/* the counter differs from the one acted on */
int slp_election_differs(const slp_fleet *f, uint64_t changes);

void slp_notify_leader(slp_fleet *f); /* raises the counter of the leader, or of the last one known */
/* calls done when the write is answered */
void slp_notify_leader_then(slp_fleet *f, void (*done)(slp_fleet *f));

#endif
