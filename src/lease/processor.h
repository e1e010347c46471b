/* processor.h - the interface between a fleet and the shard processor, which reads the shards of the fleet's
 * leases. The fleet says which shard may be read, from which position and in which epoch. The processor reads
 * the shard, hands records out, and reports what happens to the shard.
 *
 * The fleet calls the processor from events of its own, never from inside a function that the processor
 * called. */
#ifndef SLP_LEASE_PROCESSOR_H
#define SLP_LEASE_PROCESSOR_H

#include "codec/page.h"
#include "lease/schema.h"

/* why the fleet ends the reading of a shard */
typedef enum slp_shutdown_reason {
  /* another worker has the lease: the user is told, and later acknowledgements are ignored */
  SLP_SHUTDOWN_LOST,
  SLP_SHUTDOWN_HANDED_OVER, /* the shard is drained, and its lease is given to another worker */
  /* The time for giving the lease up was over while the user still had records. The next owner hands these
   * records out again. */
  SLP_SHUTDOWN_EXPIRED,
  /* the lease is given up: the worker leaves, the shard made no progress, or the shard is parked */
  SLP_SHUTDOWN_LEFT,
  SLP_SHUTDOWN_ENDED /* the shard is read to its end, and everything is acknowledged */
} slp_shutdown_reason;

typedef struct slp_processor slp_processor;
typedef struct slp_processor_ops {
  /* Begins to read a shard that is not open, at `from`. The records carry `epoch`. Returns 0, or
   * SLP_ENOMEM; the fleet then tries again. */
  int (*open)(slp_processor *t, slp_str shard, uint64_t epoch, const slp_position *from);
  /* Stops fetching and handing out records of the shard. The processor calls slp_fleet_drained when the
   * user has given all of them back. */
  void (*drain)(slp_processor *t, slp_str shard);
  /* Ends the reading of the shard at once: no more records are handed out, and acknowledgements are
   * ignored. */
  void (*revoke)(slp_processor *t, slp_str shard, slp_shutdown_reason why);
  /* on 1: the worker can't prove its life, so no records are fetched or handed out; acknowledgements are
   * still accepted. on 0: reading continues. */
  void (*suspend)(slp_processor *t, int on);
  /* Returns the position up to which everything is acknowledged. Before the first acknowledgement: the
   * position that `open` was given. Kind END: the shard is read to its end and all of it is acknowledged;
   * the mark is then the last record, if there was one. */
  void (*mark)(slp_processor *t, slp_str shard, slp_position *ret);
  /* Lists all shards of the stream, one listing at a time. The answer is a call of slp_fleet_listed. */
  void (*list)(slp_processor *t);
  /* Returns how far an open shard was behind its tip when that was last known; -1: not known. May be NULL. */
  int64_t (*behind_ms)(slp_processor *t, slp_str shard);
  /* Returns the load, for a heartbeat: the greatest distance of a shard from its tip in ms, and bytes a
   * second since the last call. -1: not known. May be NULL. */
  void (*load)(slp_processor *t, int64_t *ret_behind_ms, int64_t *ret_rate_bytes);
  /* Returns the time by the service's clock, in Unix ms, never later than that clock; INT64_MIN: not
   * known. May be NULL. */
  int64_t (*service_ms)(slp_processor *t);
  /* Returns how many bytes of an open shard were handed out since it was opened. May be NULL. */
  uint64_t (*bytes)(slp_processor *t, slp_str shard);
} slp_processor_ops;

struct slp_processor {
  const slp_processor_ops *ops;
};

typedef struct slp_fleet slp_fleet;
/* The processor calls the functions below. Strings are copied. A call for a shard that is not open is
 * ignored. */
void slp_fleet_progressed(slp_fleet *f, slp_str shard); /* `mark` now returns another position */
/* the user has given back all records of a shard that drains */
void slp_fleet_drained(slp_fleet *f, slp_str shard);
/* The last record of the shard was handed out. `children` are its child shards; none: the stream lists no
 * children. */
void slp_fleet_ended(slp_fleet *f, slp_str shard, const slp_shard_desc *children, size_t n);
/* the shard made no progress although the user did not pause it: another worker should try */
void slp_fleet_stalled(slp_fleet *f, slp_str shard);
/* the service refuses the shard's position: no worker should try for a while */
void slp_fleet_refused(slp_fleet *f,
                       slp_str shard); /* the service refuses its position: nobody should try for a while */
/* no worker should read the shard until an operator releases it */
void slp_fleet_park(slp_fleet *f, slp_str shard);
/* The answer to `list`. If fail->class is SLP_FINE, `shards` has all shards of the stream. */
void slp_fleet_listed(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n);
/* May be called before slp_fleet_listed, with the shards of each page of the listing except the last page. */
void slp_fleet_listed_part(slp_fleet *f, const slp_shard_desc *shards, size_t n);

#endif
