/* peer_kcl3.c - the workers of kcl3_model.h as a system of peer_model.h. */
#include "kcl3_model.h"
#include "kcl_rows.h"
#include "peer_model.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t lease_us(const fw_world *w) { return (uint64_t)w->lease_ms * 1000; }

static void *open_model(const peer_system *s, fw_world *w) {
  (void)s;
  k3 *m = k3_new(w);
  k3_version(m, "CLIENT_VERSION_3X");
  k3_make_leases(m);
  return m;
}
static void close_model(void *m) { k3_free(m); }
static int start(void *m, const char *name) { return k3_start(m, name); }
static void kill_worker(void *m, int i) { k3_kill(m, i); }
static void stop(void *m, int i) { k3_stop(m, i); }
static void freeze(void *m, int i, uint64_t us) { k3_freeze(m, i, us); }
static int alive(const void *m, int i) { return k3_alive(m, i); }
static int runs(const void *m, const char *name) { return k3_runs(m, name); }
static uint64_t cycles(const void *m) { return k3_cycles(m); }

static void read_row(const slp_row *from, peer_row *to) {
  kcl_row r = kcl_row_of(from);
  if (!kcl_is_lease(from)) return;
  snprintf(to->key, sizeof to->key, "%s", r.key);
  snprintf(to->owner, sizeof to->owner, "%s", r.by[0] ? r.by : r.owner);
  to->done = strtoull(r.checkpoint, NULL, 10);
  to->ended = strcmp(r.checkpoint, "SHARD_END") == 0;
}

/* The lock of a dead leader, then two runs of its successor; a dead worker's load counts for a minute,
 * and until it does not leases are given to it. */
static uint64_t orphan_us(const fw_world *w) { return 62 * FW_S + 30 * lease_us(w) + 8 * lease_us(w); }
static uint64_t settled_us(const fw_world *w) { return 2 * orphan_us(w); }

const peer_system peer_kcl3 = {.name = "kcl-3",
                               .layout = &fw_layout_kcl,
                               .checkpoint = "checkpoint",
                               .open = open_model,
                               .close = close_model,
                               .start = start,
                               .kill = kill_worker,
                               .stop = stop,
                               .freeze = freeze,
                               .alive = alive,
                               .runs = runs,
                               .read = read_row,
                               .cycles = cycles,
                               .orphan_us = orphan_us,
                               .settled_us = settled_us,
                               .lease_ms = 2000,
                               .skew_ms = 5000,
                               .lives = K3_WORKERS,
                               .moves_at_rest = 0};
