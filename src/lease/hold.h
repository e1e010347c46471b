/* hold.h - whether an operator holds the application (`--drain`). While the hold is on, no worker reads: each
 * gives up its leases when the user has returned the records that are out, and takes none.
 *
 * The hold is stored in the row of leadership (election.h): whether it is on, and a version that grows with
 * each change. The leader reads that row in its rounds, and copies the hold into the assignment row of every
 * worker. While the hold is on, each worker writes into its own row the version that it obeys. (hold.c)
 *
 *              registered              the row of leadership was read after that
 *   any state ------------> UNKNOWN ----------------------------------------------> OFF <---> ON
 *
 * A worker in UNKNOWN takes no lease: the hold may have been switched on before the worker registered, and
 * then the operator's command did not wait for this worker. Fleets whose layout has no place for a hold are
 * always in OFF. */
#ifndef SLP_LEASE_HOLD_H
#define SLP_LEASE_HOLD_H

#include "lease/lease_types.h"
#include "lease/schema.h"

typedef enum slp_hold_state { SLP_HOLD_OFF, SLP_HOLD_UNKNOWN, SLP_HOLD_ON } slp_hold_state;

typedef struct slp_fleet_hold {
  slp_hold_state state;
  /* the hold (on or off, and its version) that counts, as rows have shown it since this worker registered */
  slp_hold known;
  uint64_t known_us;             /* when `known` was last set */
  void (*changed)(slp_fleet *f); /* called when `state` has changed to OFF or ON */
  uint64_t asked_version;        /* slp_hold_is_to_be_told has returned 1 for this version of the hold */
} slp_fleet_hold;

/* changed: a function of a higher floor that looks at every lease again */
void slp_hold_init(slp_fleet *f, void (*changed)(slp_fleet *f));
/* To be called when this worker has registered. */
void slp_hold_begin(slp_fleet *f);
int slp_hold_is(const slp_fleet *f, slp_hold_state state); /* returns 1 if the state is `state` */
/* Returns the hold as this worker knows it, to be put into a row. Version 0: no hold was ever switched on. */
slp_hold slp_hold_known(const slp_fleet *f);
/* To be called with the hold in the row of leadership. The row must have been read, or written, after this
 * worker registered. by: the operator whom that row names. sent_us: when the read or write was sent. If this
 * worker had learned a newer version before sent_us, an operator has deleted the row since; then the older
 * version in the row counts. */
void slp_hold_saw(slp_fleet *f, const slp_hold *hold, slp_str by, uint64_t sent_us);
/* To be called by the leader with the newest hold in all assignment rows; these were read before the row of
 * leadership. If that hold is newer than the one in the row of leadership, an operator has deleted that row.
 * Then the leader ends the hold: it sets the hold to off, with the next version. */
void slp_hold_outlived(slp_fleet *f, const slp_hold *hold);
/* To be called with the hold in this worker's assignment row. The row may have been written before this
 * worker registered, so the hold in it does not end UNKNOWN. */
void slp_hold_heard(slp_fleet *f, const slp_hold *hold);
/* Returns 1 if this worker obeys a hold that is on and has no lease left: then a heartbeat should be sent at
 * once, so that the operator's command learns it. Returns 1 only once for each version of the hold. held: the
 * number of leases of this worker. */
int slp_hold_is_to_be_told(slp_fleet *f, uint32_t held);

#endif
