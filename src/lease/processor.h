/* processor.h - the seam between a fleet and the shard processor, which reads the shards of its leases.
 * The fleet says which shard may be read, from where and in which epoch; the processor reads, hands out,
 * and tells what became of it.
 *
 * The fleet calls the processor from events of its own, never from inside a function that the processor
 * called. */
#ifndef SLP_LEASE_PROCESSOR_H
#define SLP_LEASE_PROCESSOR_H

#include "codec/page.h"
#include "lease/schema.h"

typedef enum slp_shutdown_reason {
  SLP_SHUTDOWN_LOST, /* the lease belongs to somebody else: the user is told, acknowledgements are ignored */
  SLP_SHUTDOWN_HANDED_OVER, /* drained and given to another worker */
  SLP_SHUTDOWN_EXPIRED,     /* the hand-over's deadline passed with records out: others repeat them */
  SLP_SHUTDOWN_LEFT,        /* given back: at the end of the worker's life, for lack of progress, parked */
  SLP_SHUTDOWN_ENDED        /* read to its end, everything acknowledged */
} slp_shutdown_reason;

typedef struct slp_processor slp_processor;
typedef struct slp_processor_ops {
  /* Read this shard from here; its records carry the epoch. Nothing of it was open. SLP_ENOMEM: asked again.
   */
  int (*open)(slp_processor *t, slp_str shard, uint64_t epoch, const slp_position *from);
  /* No fetch and no hand-out from now on; slp_fleet_drained once the user has given everything back. */
  void (*drain)(slp_processor *t, slp_str shard);
  /* Over, at once: nothing of it is handed out or counted any more. */
  void (*revoke)(slp_processor *t, slp_str shard, slp_shutdown_reason why);
  /* 1: the worker can't prove that it lives: nothing is handed out or fetched; acknowledgements count. */
  void (*suspend)(slp_processor *t, int on);
  /* How far everything is acknowledged, without a gap; what open was given when nothing is yet; END: the
   * shard is read to its end and all of it acknowledged; mark is then its last record, where there was one.
   */
  void (*mark)(slp_processor *t, slp_str shard, slp_position *ret);
  /* List the stream's shards, all of them: slp_fleet_listed answers. One at a time. */
  void (*list)(slp_processor *t);
  /* How far a shard that is open was behind its tip when last heard of; -1: not known. May be NULL. */
  int64_t (*behind_ms)(slp_processor *t, slp_str shard);
  /* Told with a heartbeat: how far the worst shard lags, and bytes handed out a second since it was asked
   * last; -1: not known. NULL is fine. */
  void (*load)(slp_processor *t, int64_t *ret_behind_ms, int64_t *ret_rate_bytes);
  /* The time by the service's clock, never ahead of it, in Unix ms; INT64_MIN: not known. NULL is fine. */
  int64_t (*service_ms)(slp_processor *t);
  /* Bytes of a shard that is open handed out since it was opened. NULL is fine. */
  uint64_t (*bytes)(slp_processor *t, slp_str shard);
} slp_processor_ops;

struct slp_processor {
  const slp_processor_ops *ops;
};

typedef struct slp_fleet slp_fleet;
/* A processor calls these. Strings are copied. Shards that are not open are ignored. */
void slp_fleet_progressed(slp_fleet *f, slp_str shard); /* mark has moved */
void slp_fleet_drained(slp_fleet *f, slp_str shard);
/* The last record was handed out; these are its children (none: the stream tells of none). */
void slp_fleet_ended(slp_fleet *f, slp_str shard, const slp_shard_desc *children, size_t n);
void slp_fleet_stalled(slp_fleet *f, slp_str shard); /* no progress though nobody paused it: try elsewhere */
void slp_fleet_refused(slp_fleet *f,
                       slp_str shard);            /* the service refuses it: nobody is to try for a while */
void slp_fleet_park(slp_fleet *f, slp_str shard); /* nobody is to read it until an operator says so */
/* The answer to list. fail of class SLP_FINE: that is all of them. */
void slp_fleet_listed(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n);

#endif
