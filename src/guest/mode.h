/* mode.h - which rules the workers of a KCL application follow: each worker takes leases for itself, or a
 * leader of the KCL assigns them. Rows of the KCL show which rules hold. A worker reads these rows before it
 * writes anything, and again in each round over the table, so that running workers follow an upgrade or a
 * roll-back. (mode.c)
 *
 *            +--------> TAKE <------> UPGRADE
 *            |            ^              ^
 *   UNKNOWN -+            +--+        +--+
 *            |               v        v
 *            +--------> LED <------> UNLED
 *
 *   UNKNOWN  The rows have not been read yet. Leads to any state but STRANGE
 *   TAKE     Each worker takes leases for itself
 *   UPGRADE  Each worker takes leases for itself. It also writes its load, so that a leader can begin to
 *            assign
 *   LED      A leader assigns leases
 *   UNLED    No leader lives. A worker takes leases that are free or whose owner is dead, and none from
 *            living workers of the KCL
 *   STRANGE  A row can't be understood, so no lease is taken. A worker that finds such a row when it joins
 *            stays out
 *
 * Each of the last five states leads to each of the other four. */
#ifndef SLP_GUEST_MODE_H
#define SLP_GUEST_MODE_H

#include "base/map.h"
#include "guest/guest_operations.h"
#include "guest/kcl3_rows.h"
#include "host/host.h"
#include "lease/lease_types.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/store.h"
#include "lease/write.h"

typedef enum slp_mode_kind {
  SLP_MODE_UNKNOWN,
  SLP_MODE_TAKE,
  SLP_MODE_UPGRADE,
  SLP_MODE_LED,
  SLP_MODE_UNLED,
  SLP_MODE_STRANGE
} slp_mode_kind;

#define SLP_MODE_CPU 10 /* a worker writes this many averages of its processor's load */

/* what one pass over the rows (mode.c) has found in one place: the table of leases, or the further tables */
typedef struct slp_mode_place {
  uint8_t has_version, has_lock;
  slp_kcl_version version;
  char word[48];          /* the application's version, in the words of the row */
  char lock[65];          /* the version in the lock's row; it changes with each sign of life of the leader */
  uint8_t lock_free;      /* 1: the lock's owner has released it */
  uint64_t lock_lease_us; /* a leader is dead if the version in its lock has not changed for this time */
  uint32_t others;        /* how many other living workers write their load into this place */
} slp_mode_place;

typedef struct slp_mode_pass {
  slp_mode_place place[2]; /* place[0]: the table of leases. place[1]: the further tables of KCL 3.0 to 3.4 */
  /* 1: a row was found that names the place of the rows that are not leases; `places`: the place that it
   * names */
  uint8_t has_places;
  slp_kcl_places places;
  uint8_t cpu;       /* 1: a living worker's load says how busy its processor is */
  uint8_t strangers; /* 1: a worker of the KCL is alive, as its load shows */
  /* why a row that is needed can't be read (a static text); NULL: all can be read */
  const char *damaged;
  char damaged_row[64]; /* the key of that row */
} slp_mode_pass;

typedef struct slp_mode {
  slp_mode_kind kind;
  slp_mode_pass pass; /* the present pass over the rows, or the last one */
  uint8_t table;      /* number of the further table that is being read; 0: all were read */
  /* called when the further tables were read; NULL: they are not being read */
  void (*then)(slp_fleet *f);
  /* called when PUBLISH or WITHDRAW is answered; NULL: nothing waits for it */
  void (*after)(slp_fleet *f);
  slp_read read;
  char lock[65];          /* the version in the lock's row as last seen, the leader's last sign of life */
  uint64_t lock_us;       /* when that version was first seen */
  uint64_t leaderless_us; /* since when no worker has held the lock; 0: a worker holds it */
  slp_map loads;          /* slp_mode_load of each other worker, by the worker's name */
  slp_timer timer;
  /* sends PUBLISH, which writes this worker's load, and at the end WITHDRAW, which removes it */
  slp_write publish;
  /* what `publish` writes beyond the members of slp_operation; `publish` points to it */
  slp_operation_extra published_with;
  uint8_t published;   /* 1: this worker's load has been written to a table */
  uint8_t elected;     /* 1: an upgrade waits for this worker, and the user was told */
  uint64_t publish_us; /* when the next PUBLISH is due */
  /* cpu_at_us: when the processor's load was last measured. cpu_us: the processor time used until then. */
  uint64_t cpu_at_us, cpu_us;
  /* averages of the processor's load, in thousandths of a percent, the newest last */
  uint32_t cpu_millis[SLP_MODE_CPU];
  size_t cpu_n;
} slp_mode;

void slp_mode_init(slp_fleet *f);
void slp_mode_stop(slp_fleet *f);
void slp_mode_free(slp_fleet *f);

/* To be called when the worker joins: reads the rows and decides which rules hold. If a row can't be
 * understood, ends the worker, which has written nothing. Otherwise starts the worker; if the rules require a
 * row with its load, that row is written first. */
void slp_mode_begin(slp_fleet *f);
/* Reads the further tables of KCL 3.0 to 3.4, before each round. Calls `then` later, or at once if there are
 * no such tables. */
void slp_mode_read_beside(slp_fleet *f, void (*then)(slp_fleet *f));
/* To be called with the rows of the table of leases, in each round: decides again which rules hold. */
void slp_mode_saw(slp_fleet *f, const slp_store_rows *rows);
/* To be called when the worker stops: removes the row with its load. Calls `then` later, or at once. */
void slp_mode_leave(slp_fleet *f, void (*then)(slp_fleet *f));

int slp_mode_is_reading(const slp_fleet *f); /* returns 1 while slp_mode_read_beside reads a table */
int slp_mode_is(const slp_fleet *f, slp_mode_kind kind);
/* Returns 1 if this worker writes its load into a row, and the rate of each lease into the lease's row. */
int slp_mode_publishes(const slp_fleet *f);
/* Returns 1 if a worker of the KCL is alive, as far as the rows with loads show. */
int slp_mode_strangers(const slp_fleet *f);

#endif
