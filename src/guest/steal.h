/* steal.h - sharing where nobody leads: every worker reads the whole table in rounds, and takes what it
 * may. (steal.c, steal_kept.c, common_name.c) */
#ifndef SLP_GUEST_STEAL_H
#define SLP_GUEST_STEAL_H

#include "lease/lease.h"
#include "lease/read.h"
#include "lease/snapshot.h"

typedef struct slp_stealing {
  uint8_t first;     /* of the living workers, this one compares the stream with the table */
  uint8_t sync;      /* the round under way compares the stream with the table */
  uint8_t strange;   /* a program that shares with nobody was told of */
  uint8_t made;      /* rows, since the last list that had some */
  uint32_t unlisted; /* so many lists in a row had none, though some were made or are kept */
  uint8_t unheard;   /* claims in a row that nobody listened to */
  uint64_t next_us;  /* nothing is taken from the living before */
  uint64_t table_us; /* the last complete list of its rows was answered then */
  uint64_t sync_at_us;
  uint64_t sync_from_us; /* a shard sync waits for a listing from then on; SLP_NEVER: none waits */
  slp_timer timer;
  slp_read read;
} slp_stealing;

/* As slp_strategy has them. */
void slp_steal_met(slp_lease *l, const slp_lease_row *parsed);
void slp_steal_missed(slp_lease *l);
void slp_steal_begin(slp_fleet *f);
void slp_steal_resumed(slp_fleet *f);
/* It is not this worker's any more. Where the row says that a peer has undone what happened meanwhile, it is
 * wanted back at once. */
void slp_steal_gone(slp_lease *l, int (*undone)(const slp_lease *l, const slp_lease_row *row));
/* A program of another system has written the row as if it were new. */
int slp_steal_is_put_anew(const slp_lease *l, const slp_lease_row *row);
void slp_steal_listed(slp_fleet *f, int ok);
void slp_steal_unknown_children(slp_fleet *f);
int slp_steal_may_make(slp_lease *l, const slp_shard_desc *kid);
void slp_steal_part(slp_fleet *f);
/* The stream's shards against the rows: steal_sync.c. What is to be written is added to the bulk write.
 * ret_made: leases are made; ret_removed: rows are to go, and those of their children may go next.
 * SLP_ENOMEM: the rest of it is found the next time. */
int slp_steal_sync_write(slp_fleet *f, const slp_snapshot *s, int *ret_made, int *ret_removed);
int slp_sync_is_begun(const slp_position *position); /* some of the shard is saved as read */
/* Adds to the bulk write what keeps leases of ended shards from being taken: steal_kept.c. */
void slp_steal_keep_ended(slp_fleet *f, const slp_snapshot *s);
/* A claim was not heard: the next one is made later, and ever later. 0: it was. */
void slp_steal_unheard(slp_fleet *f, int unheard);

void slp_steal_init(slp_fleet *f);
void slp_steal_stop(slp_fleet *f);
void slp_steal_free(slp_fleet *f);

#endif
