/* peer_model.h - workers of another system in a world of fleets: models of what its program reads and
 * writes, which share no code with the product. A peer_system is what peer_worlds.c plays beside workers
 * of ours; most are a pm_rules, for which peer_model.c keeps the processes and the shards that they read.
 *
 * A new system: a file peer_NAME.c with its pm_rules and a line in peer_worlds.c; its fw_layout in
 * fleet_world.c. */
#ifndef SLP_TEST_GUEST_PEER_MODEL_H
#define SLP_TEST_GUEST_PEER_MODEL_H

#include "peer_rows.h"

#define PM_WORKERS 64 /* lives; a name that comes back is another life */

/* ---- what is played --------------------------------------------------------------------------------- */

typedef struct peer_row { /* of a lease, as an observer understands it */
  char key[64], owner[PR_TEXT];
  uint64_t done; /* the last record that is done */
  uint8_t ended;
} peer_row;

typedef struct pm_rules pm_rules;
typedef struct peer_system {
  const char *name;
  const fw_layout *layout;
  const char *checkpoint; /* the attribute; NULL: J3 is not planted in its worlds */
  const pm_rules *rules;  /* of peer_model.c; NULL: the functions' own */
  void *(*open)(const struct peer_system *s, fw_world *w);
  void (*close)(void *m); /* after its world */
  int (*start)(void *m, const char *name);
  void (*kill)(void *m, int worker);
  void (*stop)(void *m, int worker); /* SIGTERM: it gives up what it has, and is gone some time later */
  void (*freeze)(void *m, int worker, uint64_t us);
  int (*alive)(const void *m, int worker);
  int (*runs)(const void *m, const char *name); /* a worker of that name is alive and not frozen */
  /* That worker may read the shard some time. NULL: every shard. */
  int (*knows)(const void *m, int worker, int shard);
  void (*read)(const slp_row *from, peer_row *to);
  uint64_t (*cycles)(const void *m); /* leases taken and lost, given up or ended */
  uint64_t (*orphan_us)(
      const fw_world *w); /* a lease that can be read is read again so soon, if somebody lives */
  uint64_t (*settled_us)(const fw_world *w); /* shares are even so soon after the last change */
  uint32_t lease_ms;
  uint32_t skew_ms;      /* wall clocks may differ so much */
  int lives;             /* of its workers in one world, at most */
  uint8_t moves_at_rest; /* of one lease, in a quiet time of ten leases */
  uint8_t blind;         /* to a lease that it failed to give back: only others read on */
  uint8_t drops;         /* its workers let go of leases without saving what they read */
  uint8_t takes_ended;   /* and take ended ones */
} peer_system;
extern const peer_system peer_kcl2, peer_kcl3, peer_vmware, peer_kinsumer, peer_motorway;

/* ---- for the models --------------------------------------------------------------------------------- */

typedef struct pm_fleet pm_fleet;
typedef struct pm_worker pm_worker;

typedef struct pm_hold { /* a lease that a worker believes to have */
  int shard;
  uint64_t serial; /* of this tenancy */
  uint64_t next;   /* to be handed out */
  uint64_t done;   /* by the application */
  uint64_t saved;
  uint8_t reading, busy; /* busy: the application has a batch */
  void *own;             /* of the rules: hold_size bytes, zero at first */
} pm_hold;

struct pm_rules {
  size_t own_size, hold_size; /* what its rules keep of a worker, of a lease */
  void (*start)(pm_worker *k);
  void (*stop)(pm_worker *k); /* in the end: pm_gone */
};

struct pm_worker {
  pm_fleet *m;
  fw_world *w;
  int number;
  char name[PR_TEXT];
  uint8_t alive, stopping;
  uint64_t frozen_until_us;
  int64_t skew_ms; /* of its wall clock */
  pm_hold *holds[FW_SHARDS];
  int holds_n;
  void *own;
};

/* All of a peer_system but its name, layout and numbers. */
void *pm_open(const peer_system *s, fw_world *w);
void pm_close(void *arg);
int pm_start(void *arg, const char *name);
void pm_kill(void *arg, int worker);
void pm_stop(void *arg, int worker);
void pm_freeze(void *arg, int worker, uint64_t us);
int pm_alive(const void *arg, int worker);
int pm_runs(const void *arg, const char *name);
uint64_t pm_cycles(const void *arg);
const void *pm_own(const void *arg, int worker); /* what the rules keep of it */

/* Their places in a peer_system. */
#define PM_LIFE                                                                            \
  .open = pm_open, .close = pm_close, .start = pm_start, .kill = pm_kill, .stop = pm_stop, \
  .freeze = pm_freeze, .alive = pm_alive, .runs = pm_runs, .cycles = pm_cycles

/* fn(k, serial) so much later, when it is not frozen; never when its process is gone. */
void pm_in(pm_worker *k, uint64_t us, void (*fn)(pm_worker *k, uint64_t serial), uint64_t serial);
void pm_gone(pm_worker *k);             /* the process has ended */
int64_t pm_wall_us(const pm_worker *k); /* since 1970, by its own clock */
uint64_t pm_random(pm_worker *k, uint64_t low, uint64_t high);
void pm_shuffle(pm_worker *k, int *items, int n);

pm_hold *pm_take_up(pm_worker *k, int shard, uint64_t done); /* it goes on behind the record `done` */
void pm_let_go(pm_worker *k, pm_hold *h);
pm_hold *pm_held(pm_worker *k, int shard);
pm_hold *pm_hold_by(pm_worker *k, uint64_t serial); /* NULL: let go meanwhile */
/* Hands out up to `most` records; when the application is done with them, then(k, serial of the hold)
 * runs. 0: there is nothing, or it is busy. */
int pm_read(pm_worker *k, pm_hold *h, uint64_t most, void (*then)(pm_worker *k, uint64_t serial));
/* The application is done with what it has: the hold, or NULL when it was let go meanwhile. */
pm_hold *pm_done(pm_worker *k, uint64_t serial);
int pm_at_end(const pm_worker *k, const pm_hold *h); /* the shard is closed, and all of it is done */

#endif
