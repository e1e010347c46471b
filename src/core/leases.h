/* leases.h - the functions that core/ calls for a consumer with leases, and all that it knows of them.
 * lease/consumer.c fills the table. A consumer without an application has no leases and reads every shard. */
#ifndef SLP_CORE_LEASES_H
#define SLP_CORE_LEASES_H

#include "core/source.h"

struct slp_shard;
struct slp_counts;

/* The steps in which a worker lets a shard go; lease/consumer.c moves it. */
typedef enum slp_drain {
  SLP_DRAIN_NO,      /* the lease stays */
  SLP_DRAIN_STOPPED, /* nothing of the shard is fetched or handed out any more */
  SLP_DRAIN_OFFERED, /* the user was also told, and lets the shard go (sloop_hand_over) */
  SLP_DRAIN_ASKED    /* the fleet will be told when no record is out */
} slp_drain;

/* The steps in which a shard ends, if the user names the positions to write. */
typedef enum slp_shard_end {
  SLP_END_NO,       /* the end was not reached */
  SLP_END_READ_OUT, /* read to its end and handed out, and the fleet was told */
  SLP_END_TOLD,     /* all of it is acknowledged, and the user was told */
  SLP_END_NAMED     /* the user named the end as position, so it may be written */
} slp_shard_end;

typedef struct slp_shard_lease { /* one per shard; lease/consumer.c writes it, except bytes (batch.c) */
  slp_position from;             /* where the lease said to begin */
  slp_shard_desc *children;      /* owned, one block: the children that the shard's last answer named */
  size_t children_n;
  uint64_t progress_us; /* when a record was last acknowledged, or none waited for an acknowledgement */
  uint64_t held_us;     /* since when records waited for the user before they were fetched again; 0: none */
  uint64_t bytes;       /* payload of records that were handed out */
  slp_drain drain;
  slp_shard_end end;
  slp_position named; /* the position to write that the user named; kind 0: none yet */
} slp_shard_lease;

/* Why this worker stops reading a shard, and who may try next. */
typedef enum slp_hopeless {
  SLP_HOPELESS_HERE,    /* another worker may try */
  SLP_HOPELESS_REFUSED, /* the service refuses the position to every worker, so nobody tries for a while */
  SLP_HOPELESS_PARK     /* nobody reads it until an operator says so */
} slp_hopeless;

/* A lease whose shard nobody reads. */
typedef struct slp_shut_lease {
  const char *shard;         /* its id */
  sloop_shard_state_t state; /* IS_PARKED, IS_REFUSED or WAITS_FOR_PARENT */
  int64_t ms;                /* for how long; -1: not told */
  const char *parent;        /* WAITS_FOR_PARENT: the parent's id; else "" */
} slp_shut_lease;
typedef void (*slp_shut_tell)(const slp_shut_lease *lease, void *arg);
typedef struct slp_shut_sum {
  uint64_t parked_n, refused_n; /* leases parked, and leases whose position the service refuses */
  int64_t longest_ms;           /* the longest slp_shut_lease.ms; -1: there is none */
  int64_t rows_age_ms;          /* time since this worker read all rows; -1: it does not read them */
} slp_shut_sum;

typedef struct slp_leases slp_leases;
typedef struct slp_leases_ops {
  /* The stream is described, see slp_listing_stream. The leases begin now. */
  void (*described)(slp_leases *l);
  /* A listing has come, see slp_listing_rows, or has failed (f). */
  void (*listed)(slp_leases *l, const slp_fail *f);
  /* More of the listing in flight has come, see slp_listing_next_row. */
  void (*listed_part)(slp_leases *l);
  /* Called before anything is handed out. Sends a heartbeat if one is due, and suspends the consumer if the
   * lease deadline has passed. */
  void (*gate)(slp_leases *l);
  /* A record of the shard was acknowledged, or a batch was given back. acked: some of its records were
   * acknowledged. */
  void (*settled)(slp_leases *l, struct slp_shard *s, int acked);
  /* The shard was read to its end, and all of it was handed out. */
  void (*read_out)(slp_leases *l, struct slp_shard *s);
  /* The shard is being read, and its last answer or a listing names these children. */
  void (*children)(slp_leases *l, struct slp_shard *s, const slp_shard_desc *children, size_t n);
  /* This worker can't read the shard any further: a record came back too often, or reading failed for
   * good. */
  void (*hopeless)(slp_leases *l, struct slp_shard *s, slp_hopeless how);
  /* Gives every lease to other workers. When that is done, slp_consumer_check finds left() true. */
  void (*leave)(slp_leases *l, uint64_t limit_ms);
  int (*left)(const slp_leases *l);
  int (*undone)(const slp_leases *l); /* left() is true, but not everything was written */
  /* Fails the consumer with a fatal error. Nothing more is written to the table. */
  void (*end)(slp_leases *l, const slp_fail *f);
  void (*stats)(slp_leases *l, struct slp_counts *out);
  /* Tells each lease whose shard nobody reads, as far as it is this worker's part to tell. tell may be
   * NULL. */
  void (*shut)(slp_leases *l, slp_shut_sum *ret, slp_shut_tell tell, void *arg);
  void (*free)(slp_leases *l); /* frees at once, and writes nothing more */
} slp_leases_ops;

struct slp_leases {
  const slp_leases_ops *ops;
};

#endif
