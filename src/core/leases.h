/* leases.h - what a consumer with leases asks of its leases. core/ calls this table and nothing else of them;
 * a consumer without an application has none and reads every shard. lease/consumer.c fills the table in. */
#ifndef SLP_CORE_LEASES_H
#define SLP_CORE_LEASES_H

#include "core/source.h"

struct slp_shard;
struct slp_counts;

/* A shard whose lease is to go; lease/consumer.c moves it. */
typedef enum slp_drain {
  SLP_DRAIN_NO,
  SLP_DRAIN_STOPPED, /* nothing is fetched or handed out any more */
  SLP_DRAIN_OFFERED, /* and the user was told, who lets it go */
  SLP_DRAIN_ASKED    /* and the fleet is to be told when nothing is out */
} slp_drain;

/* A shard's end, where positions are written that the user names. */
typedef enum slp_shard_end {
  SLP_END_NO,
  SLP_END_READ_OUT, /* read to its end, handed out, and the fleet was told */
  SLP_END_TOLD,     /* all of it is acknowledged, and the user was told */
  SLP_END_NAMED     /* by the user: the end may be written */
} slp_shard_end;

typedef struct slp_shard_lease { /* of a shard; lease/consumer.c writes it, but for bytes (batch.c) */
  slp_position from;             /* where its lease said to begin */
  slp_shard_desc *children;      /* owned, one block: as its last answer named them */
  size_t children_n;
  uint64_t progress_us; /* the last time that something was acknowledged, or that nothing waited to be */
  uint64_t held_us; /* read again: since when records of it had waited for the user by then; 0: none had */
  uint64_t bytes;   /* of records that were handed out */
  slp_drain drain;
  slp_shard_end end;
  slp_position named; /* by the user, who names what is written; kind 0: nothing yet */
} slp_shard_lease;

/* Why a shard is not read here any further, and so who may try next. */
typedef enum slp_hopeless {
  SLP_HOPELESS_HERE,    /* another worker is to try */
  SLP_HOPELESS_REFUSED, /* the service refuses it to every worker: nobody is to try for a while */
  SLP_HOPELESS_PARK     /* nobody is to read it until an operator says so */
} slp_hopeless;

/* A lease whose shard is not read. */
typedef struct slp_shut_lease {
  const char *shard;
  sloop_shard_state_t state; /* IS_PARKED, IS_REFUSED, WAITS_FOR_PARENT */
  int64_t ms;                /* for how long; -1: not told */
  const char *parent;        /* WAITS_FOR_PARENT; else "" */
} slp_shut_lease;
typedef void (*slp_shut_tell)(const slp_shut_lease *lease, void *arg);
typedef struct slp_shut_sum {
  uint64_t parked_n, refused_n;
  int64_t longest_ms;  /* of those that have a name; -1: there is none */
  int64_t rows_age_ms; /* since this worker read all rows; -1: it does not */
} slp_shut_sum;

typedef struct slp_leases slp_leases;
typedef struct slp_leases_ops {
  /* The stream is described, in slp_listing_stream: the leases begin now. */
  void (*described)(slp_leases *l);
  /* A listing has come, in slp_listing_rows unless it failed. */
  void (*listed)(slp_leases *l, const slp_fail *f);
  /* Before anything is handed out: sends a heartbeat that is due, and suspends the consumer when the lease
   * deadline has passed. */
  void (*gate)(slp_leases *l);
  /* A record of the shard was acknowledged, or a batch given back with some acknowledged or none. */
  void (*settled)(slp_leases *l, struct slp_shard *s, int acked);
  /* The shard is read to its end, and all of it was handed out. */
  void (*read_out)(slp_leases *l, struct slp_shard *s);
  /* The children of a shard that is being read, as its last answer or a listing names them. */
  void (*children)(slp_leases *l, struct slp_shard *s, const slp_shard_desc *children, size_t n);
  /* A record of the shard came back too often, or the shard can't be read. park: nobody is to try again. */
  void (*hopeless)(slp_leases *l, struct slp_shard *s, slp_hopeless how);
  /* Everything goes to the other workers; slp_consumer_check finds left true in the end. */
  void (*leave)(slp_leases *l, uint64_t limit_ms);
  int (*left)(const slp_leases *l);
  int (*undone)(const slp_leases *l); /* left, and not all of it was written */
  /* The consumer can't go on: told as a fatal error, and nothing more is written to the table. */
  void (*end)(slp_leases *l, const slp_fail *f);
  void (*stats)(slp_leases *l, struct slp_counts *out);
  /* The leases that are shut, as far as this worker tells of them. tell may be NULL. */
  void (*shut)(slp_leases *l, slp_shut_sum *ret, slp_shut_tell tell, void *arg);
  void (*free)(slp_leases *l); /* at once: nothing is written any more */
} slp_leases_ops;

struct slp_leases {
  const slp_leases_ops *ops;
};

#endif
