/* hold.h - whether an operator holds the application (`--drain`). While the hold is on, no worker reads: each
 * gives up its leases when the user has returned the records that are out, and takes none.
 *
 * The hold is in the row of leadership, with a version that grows with each change. The leader sees it in the
 * rounds that read all rows anyway, and copies it into every worker's assignment. A worker tells in its own
 * row which version it obeys. (hold.c)
 *
 *              registered              the row of leadership was read after that
 *   any state ------------> UNKNOWN ----------------------------------------------> OFF <---> ON
 *
 * A worker in UNKNOWN takes no lease: the hold may have been switched on before it registered, when nobody
 * could count on it. Fleets whose layout has no place for a hold are always in OFF. */
#ifndef SLP_LEASE_HOLD_H
#define SLP_LEASE_HOLD_H

#include "lease/lease_types.h"
#include "lease/schema.h"

typedef enum slp_hold_state { SLP_HOLD_OFF, SLP_HOLD_UNKNOWN, SLP_HOLD_ON } slp_hold_state;

typedef struct slp_fleet_hold {
  slp_hold_state state;
  slp_hold known;                /* the newest hold that a row has shown since this worker registered */
  uint64_t known_us;             /* when that was seen */
  void (*changed)(slp_fleet *f); /* called when `state` has changed to OFF or ON */
  uint64_t asked_version;        /* a heartbeat was made due at once, to tell that this version is obeyed */
} slp_fleet_hold;

/* changed: looks at every lease again; in a file on a higher floor */
void slp_hold_init(slp_fleet *f, void (*changed)(slp_fleet *f));
/* To be called when this worker has registered. */
void slp_hold_begin(slp_fleet *f);
int slp_hold_is(const slp_fleet *f, slp_hold_state state);
/* Returns the hold for a write: version 0 if no hold was ever switched on. */
slp_hold slp_hold_known(const slp_fleet *f);
/* To be called with the hold in the row of leadership. The row must have been read, or written, after this
 * worker registered. by: the operator in that row. sent_us: when that request was sent; if the row has an
 * older version than one that was known by then, an operator has deleted the row, and with it the hold. */
void slp_hold_saw(slp_fleet *f, const slp_hold *hold, slp_str by, uint64_t sent_us);
/* To be called by the leader with the newest hold in all assignments, which it has read before the row of
 * leadership. A version that this row does not have is of a row that was deleted: the leader ends that hold,
 * by a version of its own. */
void slp_hold_outlived(slp_fleet *f, const slp_hold *hold);
/* To be called with the hold in this worker's assignment. It may be older than this worker's life, so it does
 * not end UNKNOWN. */
void slp_hold_heard(slp_fleet *f, const slp_hold *hold);
/* Returns 1, once for each version, if this worker obeys a hold that is on and has no lease left, so that a
 * heartbeat should tell the operator so. held: the number of its leases. */
int slp_hold_is_to_be_told(slp_fleet *f, uint32_t held);

#endif
