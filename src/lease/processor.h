/* processor.h - the seam between a fleet and the shard processor, which reads the shards of the fleet's
 * leases. The fleet says which shard may be read, from where and in which epoch. The processor reads, hands
 * records out, and reports what became of the shard.
 *
 * The fleet calls the processor from events of its own, never from inside a function that the processor
 * called. */
#ifndef SLP_LEASE_PROCESSOR_H
#define SLP_LEASE_PROCESSOR_H

#include "codec/page.h"
#include "lease/schema.h"

typedef enum slp_shutdown_reason {
  SLP_SHUTDOWN_LOST, /* another worker has the lease: the user is told, later acknowledgements are ignored */
  SLP_SHUTDOWN_HANDED_OVER, /* drained, and given to another worker */
  /* time ran out for the handover while records were out; the next owner repeats them */
  SLP_SHUTDOWN_EXPIRED,
  SLP_SHUTDOWN_LEFT, /* given back: the worker ends, or it made no progress, or the shard is parked */
  SLP_SHUTDOWN_ENDED /* read to its end, and everything is acknowledged */
} slp_shutdown_reason;

typedef struct slp_processor slp_processor;
typedef struct slp_processor_ops {
  /* Begins to read a shard that is not open, at `from`. Its records carry `epoch`. SLP_ENOMEM: the fleet will
   * ask again. */
  int (*open)(slp_processor *t, slp_str shard, uint64_t epoch, const slp_position *from);
  /* Stops fetching and handing out. The processor calls slp_fleet_drained once the user has given everything
   * back. */
  void (*drain)(slp_processor *t, slp_str shard);
  /* Ends the shard at once: nothing of it is handed out or counted any more. */
  void (*revoke)(slp_processor *t, slp_str shard, slp_shutdown_reason why);
  /* on 1: the worker can't prove its life, so nothing is fetched or handed out; acknowledgements still
   * count. */
  void (*suspend)(slp_processor *t, int on);
  /* Reports how far everything is acknowledged without a gap; if nothing is yet, the position that `open` was
   * given. Kind END: the shard is read to its end and all of it is acknowledged; the position's mark is then
   * the last record, if there was one. */
  void (*mark)(slp_processor *t, slp_str shard, slp_position *ret);
  /* Lists all shards of the stream, one listing at a time. slp_fleet_listed brings the answer. */
  void (*list)(slp_processor *t);
  /* Returns how far an open shard was behind its tip when last heard of; -1: not known. May be NULL. */
  int64_t (*behind_ms)(slp_processor *t, slp_str shard);
  /* Reports the load for a heartbeat: how far the worst shard is behind, and bytes a second since the last
   * call; -1: not known. May be NULL. */
  void (*load)(slp_processor *t, int64_t *ret_behind_ms, int64_t *ret_rate_bytes);
  /* Returns the time by the service's clock, never ahead of it, in Unix ms; INT64_MIN: not known. May be
   * NULL. */
  int64_t (*service_ms)(slp_processor *t);
  /* Returns how many bytes of an open shard were handed out since it was opened. May be NULL. */
  uint64_t (*bytes)(slp_processor *t, slp_str shard);
} slp_processor_ops;

struct slp_processor {
  const slp_processor_ops *ops;
};

typedef struct slp_fleet slp_fleet;
/* The processor calls these. Strings are copied. A shard that is not open is ignored. */
void slp_fleet_progressed(slp_fleet *f, slp_str shard); /* what `mark` reports has changed */
void slp_fleet_drained(slp_fleet *f, slp_str shard);
/* The last record was handed out. `children` are the shard's children; none: the stream names none. */
void slp_fleet_ended(slp_fleet *f, slp_str shard, const slp_shard_desc *children, size_t n);
/* no progress though the user did not pause it: another worker should try */
void slp_fleet_stalled(slp_fleet *f, slp_str shard);
void slp_fleet_refused(slp_fleet *f,
                       slp_str shard); /* the service refuses its position: nobody should try for a while */
void slp_fleet_park(slp_fleet *f, slp_str shard); /* nobody should read it until an operator says so */
/* The answer to `list`. If fail is SLP_FINE, `shards` has all of them. */
void slp_fleet_listed(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n);
/* Before that, may be called with the shards of each page that another page follows. */
void slp_fleet_listed_part(slp_fleet *f, const slp_shard_desc *shards, size_t n);

#endif
