/* mode.h - by which rules the workers of an application go, where rows of another system say so: each worker
 * takes for itself, or a leader of theirs assigns. The rows are read before anything is written, and in every
 * round over the table, so that a change of the rules is followed while workers run.
 *
 *            +--------> TAKE <------> UPGRADE         each worker takes for itself; in UPGRADE it also
 *            |            ^              ^            tells its load, so that a leader can come
 *   UNKNOWN -+            +--+        +--+
 *            |               v        v
 *            +--------> LED <------> UNLED            the leader assigns; UNLED: none lives, so what
 *                                                     is free or dead is taken, nothing from theirs
 *
 * From each of the four to each other one, and to STRANGE and back: a row that can't be understood, so
 * nothing is taken. A worker that meets that when it joins does not join. */
#ifndef SLP_GUEST_MODE_H
#define SLP_GUEST_MODE_H

#include "base/map.h"
#include "lease/read.h"
#include "lease/write.h"

typedef enum slp_mode_kind {
  SLP_MODE_UNKNOWN, /* the rows have not been read yet */
  SLP_MODE_TAKE,
  SLP_MODE_UPGRADE,
  SLP_MODE_LED,
  SLP_MODE_UNLED,
  SLP_MODE_STRANGE
} slp_mode_kind;

#define SLP_MODE_CPU 10 /* averages that are told */

typedef struct slp_mode_place { /* what one pass over the rows has found in one table */
  uint8_t has_version, has_lock;
  slp_version version;
  char word[48];
  char lock[65]; /* changes with each sign of life of the leader */
  uint8_t lock_free;
  uint64_t lock_lease_us;
  uint32_t others; /* workers of other names that live and tell their load here */
} slp_mode_place;

typedef struct slp_mode_pass {
  slp_mode_place place[2]; /* the table of leases; those beside it */
  uint8_t has_places;
  slp_places places;
  uint8_t cpu;         /* others tell how busy their processors are */
  uint8_t strangers;   /* a worker of another system lives */
  const char *damaged; /* a row of these can't be read: why; static */
  char damaged_row[64];
} slp_mode_pass;

typedef struct slp_mode {
  slp_mode_kind kind;
  slp_mode_pass pass;          /* the one under way, or the last */
  uint8_t table;               /* is being read */
  void (*then)(slp_fleet *f);  /* when the tables beside the leases are read */
  void (*after)(slp_fleet *f); /* when its load is told, or taken back */
  slp_read read;
  char lock[65];          /* the leader's last sign of life, */
  uint64_t lock_us;       /* and when it was first seen */
  uint64_t leaderless_us; /* no worker has held the lock since; 0: one does */
  slp_map loads;          /* worker -> slp_mode_load */
  slp_timer timer;
  slp_write publish;
  uint8_t published;
  uint8_t elected;     /* an upgrade waits for this worker, and that was said */
  uint64_t publish_us; /* when it is due */
  uint64_t cpu_at_us, cpu_us;
  uint32_t cpu_millis[SLP_MODE_CPU]; /* thousandths of a percent, the newest last */
  size_t cpu_n;
} slp_mode;

void slp_mode_init(slp_fleet *f);
void slp_mode_stop(slp_fleet *f);
void slp_mode_free(slp_fleet *f);

/* Reads, tells its load where that is asked for, and then the worker begins; or it fails, and nothing was
 * written. */
void slp_mode_begin(slp_fleet *f);
/* Ahead of a round over the table of leases: reads the tables beside it. */
void slp_mode_read_beside(slp_fleet *f, void (*then)(slp_fleet *f));
/* The rows of that round: decides anew. */
void slp_mode_saw(slp_fleet *f, const slp_store_rows *rows);
/* The worker stops: takes back what it told. then comes later, or at once. */
void slp_mode_leave(slp_fleet *f, void (*then)(slp_fleet *f));

int slp_mode_is_reading(const slp_fleet *f); /* what slp_mode_read_beside was asked for has yet to come */
int slp_mode_is(const slp_fleet *f, slp_mode_kind kind);
int slp_mode_publishes(const slp_fleet *f); /* loads are told: of the worker, and with each lease */
int slp_mode_strangers(const slp_fleet *f); /* a worker of another system lives, as far as it tells */

#endif
