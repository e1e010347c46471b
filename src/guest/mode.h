/* mode.h - which rules the workers of a KCL application follow: each worker takes leases for itself, or a
 * leader of the KCL assigns them. Rows of the KCL say which. A worker reads them before it writes anything,
 * and again in each round over the table, so that running workers follow an upgrade or a roll-back. (mode.c)
 *
 *            +--------> TAKE <------> UPGRADE
 *            |            ^              ^
 *   UNKNOWN -+            +--+        +--+
 *            |               v        v
 *            +--------> LED <------> UNLED
 *
 *   UNKNOWN  The rows have not been read yet. -> any but STRANGE
 *   TAKE     Each worker takes leases for itself.
 *   UPGRADE  The same. Each worker also tells its load, so that a leader can begin its work
 *   LED      A leader assigns leases
 *   UNLED    No leader lives. A worker takes leases that are free or whose owner is dead, and none from
 *            living workers of the KCL
 *   STRANGE  A row can't be understood, so no lease is taken. A worker that finds this when it joins stays
 *            out
 *
 * Each of the last five leads to each other one. */
#ifndef SLP_GUEST_MODE_H
#define SLP_GUEST_MODE_H

#include "base/map.h"
#include "lease/read.h"
#include "lease/write.h"

typedef enum slp_mode_kind {
  SLP_MODE_UNKNOWN,
  SLP_MODE_TAKE,
  SLP_MODE_UPGRADE,
  SLP_MODE_LED,
  SLP_MODE_UNLED,
  SLP_MODE_STRANGE
} slp_mode_kind;

#define SLP_MODE_CPU 10 /* how many averages of the processor's load are told */

typedef struct slp_mode_place { /* what one pass over the rows has found in one table */
  uint8_t has_version, has_lock;
  slp_version version;
  char word[48];          /* the version as the row spells it */
  char lock[65];          /* the lock's version, which changes with each sign of life of the leader */
  uint8_t lock_free;      /* its owner has released the lock */
  uint64_t lock_lease_us; /* a leader is dead when its lock has not changed for so long */
  uint32_t others;        /* how many other living workers tell their load in this table */
} slp_mode_place;

typedef struct slp_mode_pass {
  slp_mode_place place[2]; /* 0: the table of leases; 1: the tables beside it */
  uint8_t has_places;      /* a row says which table has the rows that are not leases: `places` */
  slp_places places;
  uint8_t cpu;          /* a living worker tells how busy its processor is */
  uint8_t strangers;    /* a worker of the KCL lives */
  const char *damaged;  /* why one of these rows can't be read; static; NULL: all can be */
  char damaged_row[64]; /* the key of that row */
} slp_mode_pass;

typedef struct slp_mode {
  slp_mode_kind kind;
  slp_mode_pass pass;          /* the pass under way, or the last one */
  uint8_t table;               /* the table beside the leases that is being read; 0: none is left */
  void (*then)(slp_fleet *f);  /* called when the tables beside the leases are read; NULL: none is awaited */
  void (*after)(slp_fleet *f); /* called when PUBLISH or WITHDRAW is answered; NULL: nobody waits for it */
  slp_read read;
  char lock[65];          /* the leader's last sign of life, */
  uint64_t lock_us;       /* and when it was first seen */
  uint64_t leaderless_us; /* since when nobody has held the lock; 0: somebody does */
  slp_map loads;          /* slp_mode_load, by the worker's name */
  slp_timer timer;
  slp_write publish;                 /* PUBLISH, and at the end WITHDRAW */
  uint8_t published;                 /* this worker's load is in a table */
  uint8_t elected;                   /* an upgrade waits for this worker, and the user was told */
  uint64_t publish_us;               /* when the next PUBLISH is due */
  uint64_t cpu_at_us, cpu_us;        /* when the load was last noted, and the processor time used by then */
  uint32_t cpu_millis[SLP_MODE_CPU]; /* thousandths of a percent, the newest last */
  size_t cpu_n;
} slp_mode;

void slp_mode_init(slp_fleet *f);
void slp_mode_stop(slp_fleet *f);
void slp_mode_free(slp_fleet *f);

/* Reads the rows. Then either tells this worker's load, where the rules ask for that, and begins the worker;
 * or ends the worker, with nothing written. */
void slp_mode_begin(slp_fleet *f);
/* Reads the tables beside the leases, before a round over the table of leases. Calls `then` later, or at once
 * if there are no such tables. */
void slp_mode_read_beside(slp_fleet *f, void (*then)(slp_fleet *f));
/* Takes the rows of that round, and decides again which rules hold. */
void slp_mode_saw(slp_fleet *f, const slp_store_rows *rows);
/* Removes the row with this worker's load, when the worker stops. Calls `then` later, or at once. */
void slp_mode_leave(slp_fleet *f, void (*then)(slp_fleet *f));

int slp_mode_is_reading(const slp_fleet *f); /* returns 1 while slp_mode_read_beside is at work */
int slp_mode_is(const slp_fleet *f, slp_mode_kind kind);
/* Returns 1 if loads are told: this worker's in its row, and each lease's rate with its renewals. */
int slp_mode_publishes(const slp_fleet *f);
/* Returns 1 if a worker of the KCL lives, as far as rows of loads tell. */
int slp_mode_strangers(const slp_fleet *f);

#endif
