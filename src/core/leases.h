/* leases.h - all that core/ knows of leases: the functions that it calls for a consumer with leases.
 * lease/leased_consumer.c fills the table of functions. A consumer without an application has no leases and
 * reads every shard. */
#ifndef SLP_CORE_LEASES_H
#define SLP_CORE_LEASES_H

#include "base/fail.h"
#include "codec/page.h"
#include "core/position.h"

#include <sloop.h>

struct slp_shard;
struct slp_counts;

/* The steps in which a worker gives a shard up. Only lease/processor.c moves a shard from one step to the
 * next. */
typedef enum slp_drain {
  SLP_DRAIN_NO,      /* the worker keeps the lease */
  SLP_DRAIN_STOPPED, /* no more records of the shard are fetched or handed out */
  /* no more records are fetched or handed out, and the user was told; the user lets the shard go with
   * sloop_handover() */
  SLP_DRAIN_OFFERED,
  SLP_DRAIN_ASKED /* the lease is given up as soon as the user holds no record of the shard */
} slp_drain;

/* The steps in which reading of a shard ends if the user decides which checkpoints are written (the option
 * SLOOP_CHECKPOINTS_ASKED). */
typedef enum slp_shard_end {
  SLP_END_NO,       /* the shard was not read to its end */
  SLP_END_READ_OUT, /* every record of the shard was read and handed out, and lease/ was notified */
  /* every record of the shard is acknowledged, and the user was told that the shard is read to its end */
  SLP_END_TOLD,
  SLP_END_NAMED /* the user asked for the end to be written as the checkpoint, so it may be written */
} slp_shard_end;

/* What lease/ remembers about a shard; each shard has one. lease/leased_consumer.c, processor.c and
 * requests.c write all fields except `bytes`, which batch.c counts. */
typedef struct slp_shard_lease {
  slp_position from;        /* the position that the lease had when this worker took it */
  slp_shard_desc *children; /* owned, one block: the children that the shard's last answer named */
  size_t children_n;
  /* the last time at which the shard made progress: a record was acknowledged, or no record waited for the
   * user */
  uint64_t progress_us;
  /* Set when the user has made this worker read the shard again (slp_leased_rewind): since when records of
   * the shard had waited for the user before that. 0: none had waited. */
  uint64_t held_us;
  uint64_t bytes; /* payload bytes of all records of the shard that were handed out */
  /* 1: slp_leased_rewind was called, and the shard is opened anew in the next turn. Until then none of its
   * records is handed out. */
  uint8_t rewinds;
  slp_drain drain;
  slp_shard_end end;
  slp_position named; /* the checkpoint that the user asked for last; kind 0: the user has asked for none */
} slp_shard_lease;

/* Why this worker stops reading a shard, and who may read it next. */
typedef enum slp_hopeless {
  SLP_HOPELESS_HERE, /* the failure may be only this worker's, so another worker may try at once */
  /* the service refuses the position to every worker, so no worker reads the shard for some time */
  SLP_HOPELESS_REFUSED,
  SLP_HOPELESS_PARK /* the shard is parked: no worker reads it until an operator releases it */
} slp_hopeless;

/* a lease whose shard no worker reads at present */
typedef struct slp_shut_lease {
  const char *shard; /* its id */
  /* SLOOP_SHARD_IS_PARKED, SLOOP_SHARD_IS_REFUSED or SLOOP_SHARD_WAITS_FOR_PARENT */
  sloop_shard_state_t state;
  int64_t ms;         /* for how long the shard has been in that state; -1: not known */
  const char *parent; /* the parent's id with SLOOP_SHARD_WAITS_FOR_PARENT; else "" */
} slp_shut_lease;
typedef void (*slp_shut_tell)(const slp_shut_lease *lease, void *arg);
typedef struct slp_shut_sum {
  uint64_t parked_n, refused_n; /* parked leases; leases whose position the service refuses */
  int64_t longest_ms;           /* the longest slp_shut_lease.ms; -1: no such lease */
  /* time since this worker last read all rows of the lease table; -1: this worker does not read them all */
  int64_t rows_age_ms;
} slp_shut_sum;

typedef struct slp_leases slp_leases;
typedef struct slp_leases_ops {
  /* The stream was described (slp_listing_stream). From now on lease/ may work. */
  void (*described)(slp_leases *l);
  /* A listing has ended. f->class SLP_FINE: slp_listing_rows returns its rows; otherwise f says why it
   * failed. */
  void (*listed)(slp_leases *l, const slp_fail *f);
  /* One page of the listing in flight has come; slp_listing_next_rows returns its rows. */
  void (*listed_part)(slp_leases *l);
  /* To be called before records are handed out. Sends a heartbeat if one is due, and suspends the consumer if
   * this worker's lease deadline has passed. */
  void (*gate)(slp_leases *l);
  /* Records of the shard s were acknowledged or given back, in a batch or one by one. acked: 1 if at least
   * one was acknowledged. */
  void (*settled)(slp_leases *l, struct slp_shard *s, int acked);
  /* The shard was read to its end, and every record of it was handed out to the user. */
  void (*read_out)(slp_leases *l, struct slp_shard *s);
  /* A page or a listing named these children of s, which is being read. */
  void (*children)(slp_leases *l, struct slp_shard *s, const slp_shard_desc *children, size_t n);
  /* This worker can't read the shard any further: a record came back too often, or reading failed for good.
   * how: who may read the shard next. */
  void (*hopeless)(slp_leases *l, struct slp_shard *s, slp_hopeless how);
  /* Gives every lease to other workers, within limit_ms. When that is done, left() returns 1, and
   * slp_consumer_check() is called. */
  void (*leave)(slp_leases *l, uint64_t limit_ms);
  int (*left)(const slp_leases *l);
  /* returns 1 if leaving is over, but some rows of the lease table could not be written */
  int (*undone)(const slp_leases *l);
  /* Stops the consumer with the fatal error f. Nothing is written to the lease table any more. */
  void (*end)(slp_leases *l, const slp_fail *f);
  void (*stats)(slp_leases *l, struct slp_counts *out);
  /* Calls tell() for each lease whose shard no worker reads, if this worker is the one that reports such
   * leases. Sets *ret to their sum. tell may be NULL. */
  void (*shut)(slp_leases *l, slp_shut_sum *ret, slp_shut_tell tell, void *arg);
  void (*free)(slp_leases *l); /* frees l at once; nothing is written to the lease table any more */
} slp_leases_ops;

struct slp_leases {
  const slp_leases_ops *ops;
};

#endif
