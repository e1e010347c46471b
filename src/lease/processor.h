/* processor.h - the interface between a fleet and the shard processor, which reads the shards of the fleet's
 * leases. The fleet says which shard to read, from which position and in which epoch. The processor reads it,
 * hands records out, and reports what happens. The fleet calls the processor only from its own events, never
 * from inside a function that the processor called. */
#ifndef SLP_LEASE_PROCESSOR_H
#define SLP_LEASE_PROCESSOR_H

#include "core/position.h"

/* why the fleet ends the reading of a shard, for slp_processor_ops.revoke */
typedef enum slp_shutdown_reason {
  /* another worker has the lease; the user is told, and later acknowledgements have no effect */
  SLP_SHUTDOWN_LOST,
  SLP_SHUTDOWN_HANDED_OVER, /* the shard is drained, and its lease was given to another worker */
  /* The time for giving the lease up ended while the user still held records. The next owner hands these
   * records out again. */
  SLP_SHUTDOWN_EXPIRED,
  /* the lease was given up: the worker leaves, the shard made no progress, or the shard is parked */
  SLP_SHUTDOWN_LEFT,
  SLP_SHUTDOWN_ENDED /* the shard was read to its end, and every record is acknowledged */
} slp_shutdown_reason;

typedef struct slp_processor slp_processor;
typedef struct slp_processor_ops {
  /* Begins to read a shard that is not open, at `from`. Each record that is handed out carries `epoch`.
   * Returns 0; or SLP_ENOMEM, and the fleet tries again later. */
  int (*open)(slp_processor *t, slp_str shard, uint64_t epoch, const slp_position *from);
  /* Stops fetching and handing out records of the shard. When the user has given all of them back, the
   * processor calls slp_fleet_drained. */
  void (*drain)(slp_processor *t, slp_str shard);
  /* Ends the reading of the shard at once. No more records are handed out, and acknowledgements have no
   * effect. */
  void (*revoke)(slp_processor *t, slp_str shard, slp_shutdown_reason why);
  /* With `on` 1, stops fetching and handing out records, because the worker can't prove that it lives;
   * acknowledgements are still accepted. With `on` 0, continues. */
  void (*suspend)(slp_processor *t, int on);
  /* Sets *ret to the position up to which every record is acknowledged. Before the first acknowledgement,
   * that is the position that `open` was given. Kind END: the shard was read to its end and every record is
   * acknowledged; the mark is then the last record, if there was one. */
  void (*mark)(slp_processor *t, slp_str shard, slp_position *ret);
  /* Begins to list all shards of the stream. The answer is a call of slp_fleet_listed. One listing at a
   * time. */
  void (*list)(slp_processor *t);
  /* Returns how far an open shard was behind its tip at its last answer, in ms; -1: not known. May be
   * NULL. */
  int64_t (*behind_ms)(slp_processor *t, slp_str shard);
  /* Sets the load of this worker, which heartbeats report: the greatest lag of a shard in ms, and the bytes a
   * second since the last call. -1: not known. May be NULL. */
  void (*load)(slp_processor *t, int64_t *ret_behind_ms, int64_t *ret_rate_bytes);
  /* Returns a time that is not later than the service's clock, in Unix ms; INT64_MIN: not known. May be
   * NULL. */
  int64_t (*service_ms)(slp_processor *t);
  /* Returns how many bytes of an open shard were handed out since it was opened. May be NULL. */
  uint64_t (*bytes)(slp_processor *t, slp_str shard);
} slp_processor_ops;

struct slp_processor {
  const slp_processor_ops *ops;
};

#endif
