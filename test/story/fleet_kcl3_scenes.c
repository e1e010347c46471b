/* fleet_kcl3_scenes.c - our workers in an application of Amazon's KCL 3, beside a model of its own workers and
 * leader (kcl3_model.h), in virtual time. Leases of 2 s, so the leader assigns each 4 s and balances each 12 s.
 * SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 240
#define WORLD fw_new_kcl
#include "story/fleet_play.h"
#include "lease/context.h"
#include "../guest/kcl3_model.h"

#define RUN (2 * LEASE) /* of the leader */
#define BALANCE (3 * RUN)
#define LOCK (12 * LEASE)    /* the leader's lock */
#define ALIVE_US (62 * FW_S) /* a worker that died is given leases for so long */

static fw_world *w;
static k3 *m;

static void begin(int shards, int beside, const char *cv) {
  w = beside ? fw_new_kcl_beside(seed, shards) : fw_new_kcl(seed, shards);
  if (getenv("SCENE_TRACE")) slp_sim_on_trace(w->sim, print, NULL);
  w->skew_ms = 5000; /* a worker counts as dead when it is a minute late */
  m = k3_new(w);
  k3_version(m, cv);
}

static void end(void) {
  w->producing = 0;
  until(w, 200 * FW_S, fw_all_read);
  k3_end(m);
}

static const char *name_of(int slot) {
  static char out[100];
  slp_str me = slp_fleet_instance(w->nodes[slot]->fleet);
  snprintf(out, sizeof out, "%.*s", (int)me.n, me.p);
  return out;
}

/* Unfinished leases that a worker reads by the rows. */
static int owns(const char *name) {
  int n = 0;
  for (int i = 0; i < w->shards_n; i++)
    n += w->pos[i].kind != SLP_POSITION_END && !w->shards[i].trimmed && strcmp(k3_owner(m, i), name) == 0;
  return n;
}

static int unfinished(void) {
  int n = 0;
  for (int i = 0; i < w->shards_n; i++)
    n += !w->shards[i].trimmed && w->pos[i].kind != SLP_POSITION_END && w->pos[i].kind != SLP_POSITION_NONE;
  return n;
}

/* KCL's leader gives nobody a lease that would bring him above the average: where the leases do not come out
 * even, shares may differ by more than one. */
static int leader_is_content(int least) {
  int workers = 0;
  for (int i = 0; i < FW_NODES; i++) workers += w->nodes[i] && !w->nodes[i]->left && !w->nodes[i]->leaving;
  int led = 0;
  for (int i = 0; i < K3_WORKERS; i++) {
    workers += k3_alive(m, i);
    led |= k3_alive(m, i) && k3_leads(m, i);
  }
  return led && (least + 1) * workers > unfinished();
}

/* Every unfinished lease is somebody's who lives, and shares differ by one. */
static int is_even(void) {
  int least = 1000, most = 0, sum = 0;
  for (int i = 0; i < FW_NODES; i++) {
    if (!w->nodes[i] || w->nodes[i]->left || w->nodes[i]->leaving) continue;
    int n = owns(name_of(i));
    sum += n;
    if (n < least) least = n;
    if (n > most) most = n;
  }
  for (int i = 0; i < K3_WORKERS; i++) {
    if (!k3_alive(m, i)) continue;
    int n = k3_held(m, i);
    sum += n;
    if (n < least) least = n;
    if (n > most) most = n;
  }
  return sum > 0 && sum == unfinished() && (most - least <= 1 || leader_is_content(least));
}
static int even(fw_world *world) {
  (void)world;
  return is_even();
}

/* Nothing moves any more. */
static void stays(void) {
  char before[FW_SHARDS][100];
  uint64_t lost = w->lost, moves;
  run(w, 2 * FW_S); /* what was begun */
  moves = k3_moves(m);
  for (int i = 0; i < w->shards_n; i++) snprintf(before[i], sizeof before[i], "%s", k3_owner(m, i));
  run(w, 6 * BALANCE);
  for (int i = 0; i < w->shards_n; i++)
    if (w->pos[i].kind != SLP_POSITION_END && strcmp(before[i], k3_owner(m, i)) != 0)
      CHECK_FAIL("seed %d: shard %d goes from %s to %s", (int)seed, i, before[i], k3_owner(m, i));
  CHECK_INT(k3_moves(m), moves);
  CHECK_INT(w->lost, lost);
}

/* ---- joining ----------------------------------------------------------------------------------- */

/* It is given its share by the leader, gracefully; it takes nothing. */
static void we_join(int beside) {
  begin(8, beside, "CLIENT_VERSION_3X");
  k3_make_leases(m);
  k3_start(m, "ip-10-0-0-1:3f2a");
  k3_start(m, "ip-10-0-0-2:77c1");
  until(w, 10 * BALANCE, even);
  run(w, BALANCE);
  uint64_t again = repeats(w), handed = k3_handed(m);
  fw_start(w, 0, "ours", 0);
  run(w, FW_S);
  CHECK(owns(name_of(0)) == 0);
  until(w, 4 * BALANCE, even);
  CHECK(owns(name_of(0)) >= 2);
  CHECK_INT(repeats(w), again);
  CHECK(k3_handed(m) >= handed + 2 && k3_forced(m) == 0);
  stays();
  fw_leave(w, 0, 10000);
  run(w, FW_S);
  fw_reap(w);
  until(w, 4 * BALANCE, even);
  end();
}
TEST(our_worker_joins_and_is_given_its_share) {
  for (seed = 1; seed <= sim_share(12); seed++) we_join(0);
}
TEST(our_worker_joins_an_application_of_kcl_3_0_to_3_4) {
  for (seed = 1; seed <= sim_share(12); seed++) we_join(1);
}

/* We hold all; a worker of theirs joins, and its leader takes half from us. */
static void they_join(int beside, int ours) {
  begin(8, beside, "CLIENT_VERSION_3X");
  for (int i = 0; i < ours; i++) {
    char id[8];
    snprintf(id, sizeof id, "o%d", i);
    fw_start(w, i, id, 0);
  }
  until(w, 20 * LEASE, even); /* nobody leads: by our own rules */
  run(w, 5 * FW_S);
  uint64_t again = repeats(w), lost = w->lost;
  k3_start(m, "ip-10-0-0-1:3f2a");
  until(w, 6 * BALANCE, even);
  CHECK(k3_held(m, 0) >= 2);
  CHECK_INT(repeats(w), again); /* drained, saved and handed over by us */
  CHECK_INT(w->lost, lost);
  CHECK_INT(k3_forced(m), 0);
  stays();
  end();
}
TEST(a_worker_of_kcl_3_joins_us_and_gets_its_share) {
  for (seed = 1; seed <= sim_share(12); seed++) they_join(0, 1);
  for (seed = 1; seed <= 6; seed++) they_join(1, 1);
  for (seed = 1; seed <= 6; seed++) they_join(0, 3);
}

TEST(three_of_theirs_and_three_of_ours_settle_and_stay) {
  for (seed = 1; seed <= sim_share(20); seed++) {
    begin(6 * (1 + (int)seed % 3), (int)seed % 2, "CLIENT_VERSION_3X_WITH_ROLLBACK");
    k3_make_leases(m);
    for (int i = 0; i < 3; i++) {
      char id[32];
      snprintf(id, sizeof id, "ip-10-0-0-%d:%d", i, (int)seed);
      k3_start(m, id);
      snprintf(id, sizeof id, "o%d", i);
      fw_start(w, i, id, 0);
      run(w, slp_sim_random_below(w->sim, 10 * FW_S));
    }
    until(w, 8 * BALANCE, even);
    run(w, BALANCE);
    CHECK(is_even());
    for (int i = 0; i < 3; i++) { /* as many for each: the leases come out even */
      CHECK_INT(owns(name_of(i)), 1 + (int)seed % 3);
      CHECK_INT(k3_held(m, i), 1 + (int)seed % 3);
    }
    stays();
    end();
  }
}

/* ---- hand-overs -------------------------------------------------------------------------------- */

static int pending(int slot) {
  for (int i = 0; i < w->shards_n; i++) {
    char by[100], to[100];
    snprintf(by, sizeof by, "%s", k3_attr(m, w->shards[i].id, "checkpointOwner"));
    snprintf(to, sizeof to, "%s", k3_attr(m, w->shards[i].id, "leaseOwner"));
    if (by[0] && strcmp(by, name_of(slot)) == 0 && strcmp(to, by) != 0) return i;
  }
  return -1;
}
static int is_pending(fw_world *world) {
  (void)world;
  return pending(0) >= 0;
}

/* A worker that stops while a hand-over is pending ends it: the next owner stays named and begins. */
TEST(a_stop_with_a_hand_over_pending_keeps_the_next_owner) {
  for (seed = 1; seed <= sim_share(12); seed++) {
    begin(6, (int)seed % 2, "CLIENT_VERSION_3X");
    fw_start(w, 0, "ours", 0);
    until(w, 20 * LEASE, even);
    w->user_us_min = w->user_us_max = 4 * FW_S;
    run(w, 5 * FW_S);
    k3_start(m, "ip-10-0-0-1:3f2a");
    until(w, 6 * BALANCE, is_pending);
    int shard = pending(0);
    uint64_t again = repeats(w);
    fw_leave(w, 0, 20000);
    run(w, 7 * FW_S);
    fw_reap(w);
    CHECK_STR(k3_attr(m, w->shards[shard].id, "leaseOwner"), "ip-10-0-0-1:3f2a");
    CHECK_STR(k3_attr(m, w->shards[shard].id, "checkpointOwner"), "");
    CHECK_INT(repeats(w), again);
    until(w, 6 * BALANCE, even);
    end();
  }
}

/* The user keeps a batch beyond the time of a hand-over: the lease goes all the same. */
TEST(a_hand_over_that_overruns_goes_through) {
  for (seed = 1; seed <= sim_share(12); seed++) {
    begin(4, 0, "CLIENT_VERSION_3X");
    fw_start(w, 0, "ours", 0);
    until(w, 20 * LEASE, even);
    w->user_us_min = w->user_us_max = 60 * FW_S;
    run(w, 5 * FW_S);
    k3_start(m, "ip-10-0-0-1:3f2a");
    until(w, 12 * BALANCE, even);
    w->user_us_min = 1000;
    w->user_us_max = 60000;
    end();
  }
}

TEST(a_worker_of_ours_that_dies_in_a_hand_over_loses_nothing) {
  for (seed = 1; seed <= sim_share(12); seed++) {
    begin(6, (int)seed % 2, "CLIENT_VERSION_3X");
    fw_start(w, 0, "ours", 0);
    until(w, 20 * LEASE, even);
    w->user_us_min = w->user_us_max = 4 * FW_S;
    run(w, 5 * FW_S);
    k3_start(m, "ip-10-0-0-1:3f2a");
    until(w, 6 * BALANCE, is_pending);
    fw_kill(w, 0);
    until(w, 6 * BALANCE, even);
    end();
  }
}

/* Counted without repeats, but not those that are lost with a worker: the next one goes on at the checkpoint. */
TEST(a_worker_of_theirs_that_is_killed_is_replaced_by_the_leader) {
  for (seed = 1; seed <= sim_share(12); seed++) {
    begin(8, (int)seed % 2, "CLIENT_VERSION_3X");
    k3_make_leases(m);
    int a = k3_start(m, "ip-10-0-0-1:3f2a"), b = k3_start(m, "ip-10-0-0-2:77c1");
    fw_start(w, 0, "ours", 0);
    until(w, 12 * BALANCE, even);
    k3_kill(m, k3_leads(m, a) ? b : a);
    run(w, ALIVE_US + 4 * BALANCE); /* the leader gives leases to the dead until its row is old */
    until(w, 4 * BALANCE, even);
    stays();
    end();
  }
}

/* ---- the leader goes --------------------------------------------------------------------------- */

/* Killed: nothing is taken while its lock may be held; then what is free or dead is, by us. */
TEST(a_leader_that_is_killed_is_waited_for_as_long_as_its_lock) {
  for (seed = 1; seed <= sim_share(12); seed++) {
    begin(8, (int)seed % 2, "CLIENT_VERSION_3X");
    k3_make_leases(m);
    int a = k3_start(m, "ip-10-0-0-1:3f2a");
    fw_start(w, 0, "ours", 0);
    until(w, 12 * BALANCE, even);
    run(w, BALANCE);
    int had = owns(name_of(0));
    k3_kill(m, a);
    run(w, LOCK - LOCK / 4 - LEASE);
    CHECK_INT(owns(name_of(0)), had);
    until(w, LOCK, even);
    CHECK_INT(owns(name_of(0)), 8);
    /* A replacement of theirs leads, and gets its share back. */
    k3_start(m, "ip-10-0-0-9:0001");
    until(w, 8 * BALANCE + 2 * LOCK, even);
    stays();
    end();
  }
}

TEST(without_workers_of_theirs_ours_share_as_ever) {
  for (seed = 1; seed <= 8; seed++) {
    begin(8, (int)seed % 2, "CLIENT_VERSION_3X");
    fw_start(w, 0, "a", 0);
    run(w, 10 * LEASE);
    CHECK_INT(owns(name_of(0)), 8);
    fw_start(w, 1, "b", 0);
    until(w, 12 * LEASE, even);
    fw_kill(w, 0);
    until(w, 6 * LEASE, even);
    CHECK_INT(owns(name_of(1)), 8);
    end();
  }
}

/* ---- what a lease brings ---------------------------------------------------------------------------- */

/* Records come all the time, so that each renewal is a checkpoint; the readers of this world hand out 5 KB a
 * second. A lease without the number counts as an average one for their leader, one with an old number for
 * ever as that; and theirs bring the number of a shard that has ended down to 0. */
TEST(a_lease_tells_what_it_brings_to_its_end) {
  for (seed = 1; seed <= 6; seed++) {
    begin(4, (int)seed % 2, "CLIENT_VERSION_3X");
    fw_start(w, 0, "ours", 0);
    until(w, 20 * LEASE, even);
    run(w, 4 * LEASE);
    for (int i = 0; i < 4; i++) {
      double rate = strtod(k3_attr(m, w->shards[i].id, "throughputKBps"), NULL);
      CHECK(rate > 4 && rate < 6);
      char row[64];
      fw_row_of(w, i, row);
      fw_operator_number(w, row, "throughputKBps", "77");
    }
    run(w, 6 * LEASE);
    for (int i = 0; i < 4; i++) CHECK(strtod(k3_attr(m, w->shards[i].id, "throughputKBps"), NULL) < 6);
    fw_split(w, 1);
    run(w, 6 * LEASE);
    CHECK_INT(w->pos[1].kind, SLP_POSITION_END);
    CHECK(strtod(k3_attr(m, w->shards[1].id, "throughputKBps"), NULL) == 0);
    CHECK(strtod(k3_attr(m, w->shards[5].id, "throughputKBps"), NULL) > 4);
    end();
  }
}

/* ---- other rules while we run -------------------------------------------------------------------- */

static void nothing(slp_store_req *rq) { (void)rq; }

static const char *stats_of(int slot, const char *attr) {
  if (!w->beside) return k3_attr(m, name_of(slot), attr);
  static char out[200];
  char name[100];
  snprintf(name, sizeof name, "%s", name_of(slot));
  slp_row_key k = {slp_str_of(name), {NULL, 0}};
  slp_store_get g = {.rq = {.table = 2, .on_done = nothing}, .keys = &k, .keys_n = 1};
  slp_store_rows_init(&g.out, w->mem);
  w->server_store->ops->get(w->server_store, &g);
  slp_unpost(&g.rq.ev);
  g.rq.ev.run(&g.rq.ev);
  slp_str v = g.out.n ? slp_row_text(&g.out.rows[0], slp_str_of(attr)) : (slp_str){NULL, 0};
  snprintf(out, sizeof out, "%.*s", (int)v.n, v.n ? v.p : "");
  slp_store_rows_free(&g.out);
  return out;
}

/* From 2.x through an upgrade to 3.x and back, with us in it all the time: the row with our load is there when
 * the upgrade waits for it, a leader is obeyed while there is one, and a roll-back is followed. */
static void upgrade(int beside) {
  begin(6, beside, "CLIENT_VERSION_2X");
  start(w, 2);
  until(w, 20 * LEASE, even);
  for (int i = 0; i < 2; i++) CHECK_STR(stats_of(i, "lut"), "");
  uint64_t told = w->trouble;
  k3_version(m, "CLIENT_VERSION_UPGRADE_FROM_2X");
  run(w, 2 * LEASE);
  CHECK(w->trouble > told); /* KCL 2's rule elects one of ours: the upgrade waits for it, and it says so */
  for (int i = 0; i < 2; i++) {
    int64_t lut = strtoll(stats_of(i, "lut"), NULL, 10);
    CHECK(slp_sim_unix_ms(w->sim) / 1000 - lut <= 60);
    CHECK_STR(stats_of(i, "sup"), "1");
  }
  uint64_t lost = w->lost, again = repeats(w);
  k3_version(m, "CLIENT_VERSION_3X_WITH_ROLLBACK");
  k3_start(m, "ip-10-0-0-1:3f2a");
  until(w, 8 * BALANCE, even);
  run(w, BALANCE);
  CHECK_INT(w->lost, lost);
  CHECK_INT(repeats(w), again);
  fw_start(w, 2, "third", 0);
  until(w, 8 * BALANCE, even);
  CHECK_INT(w->lost, lost);
  stays();
  k3_version(m, "CLIENT_VERSION_2X"); /* its worker stays, and assigns no more */
  run(w, 2 * LEASE);
  fw_start(w, 3, "fourth", 0);
  until(w, 20 * LEASE, even);
  end();
}
TEST(an_upgrade_and_its_roll_back_are_followed) {
  for (seed = 1; seed <= 6; seed++) upgrade(0), upgrade(1);
}

TEST(a_version_that_is_not_understood_stops_all_takes_until_it_is) {
  begin(6, 0, "CLIENT_VERSION_2X");
  start(w, 2);
  until(w, 20 * LEASE, even);
  k3_version(m, "CLIENT_VERSION_9X");
  run(w, 2 * LEASE);
  CHECK(w->trouble > 0);
  fw_kill(w, 1);
  run(w, 6 * LEASE);
  CHECK_INT(owns(name_of(0)), 3);
  k3_version(m, "CLIENT_VERSION_2X");
  until(w, 6 * LEASE, even);
  CHECK_INT(owns(name_of(0)), 6);
  end();
}

/* Without it the leader would give that worker nothing, and take nothing from it. */
TEST(a_row_of_its_load_that_was_removed_is_written_again) {
  char name[100];
  begin(4, 0, "CLIENT_VERSION_3X");
  fw_start(w, 0, "ours", 0);
  run(w, 5 * LEASE);
  snprintf(name, sizeof name, "%s", name_of(0));
  fw_operator_delete(w, name);
  CHECK_STR(stats_of(0, "lut"), "");
  run(w, 31 * FW_S);
  CHECK(stats_of(0, "lut")[0]);
  end();
}

TEST(a_stopped_worker_takes_its_row_back) {
  for (int beside = 0; beside < 2; beside++) {
    char name[100];
    begin(4, beside, "CLIENT_VERSION_3X");
    fw_start(w, 0, "ours", 0);
    run(w, 5 * LEASE);
    CHECK(stats_of(0, "lut")[0]);
    snprintf(name, sizeof name, "%s", name_of(0));
    fw_leave(w, 0, 5000);
    run(w, 2 * FW_S);
    CHECK_INT(w->left, 1);
    CHECK_STR(stats_of(0, "lut"), "");
    fw_reap(w);
    fw_start(w, 0, "ours", 0);
    end();
  }
}

/* ---- many worlds -------------------------------------------------------------------------------- */

static int some_of_ours(void) {
  int n = 0;
  for (int i = 0; i < FW_NODES; i++) n += w->nodes[i] && !w->nodes[i]->left && !w->nodes[i]->leaving;
  return n;
}
static int some_of_theirs(void) {
  int n = 0;
  for (int i = 0; i < K3_WORKERS; i++) n += k3_alive(m, i);
  return n;
}

static void something(void) {
  static int born;
  char id[40];
  uint64_t what = slp_sim_random_below(w->sim, 12);
  int slot = (int)slp_sim_random_below(w->sim, 4),
      shard = (int)slp_sim_random_below(w->sim, (uint64_t)w->shards_n);
  int theirs = (int)slp_sim_random_below(w->sim, K3_WORKERS);
  fw_reap(w);
  if (what < 3 && !w->nodes[slot]) {
    snprintf(id, sizeof id, "o%d", slot);
    fw_start(w, slot, id, 0);
  } else if (what == 3 && some_of_ours() + some_of_theirs() > 1) {
    fw_kill(w, slot);
  } else if (what == 4 && w->nodes[slot] && some_of_ours() + some_of_theirs() > 1) {
    fw_leave(w, slot, 8000);
  } else if (what == 5 && w->nodes[slot]) {
    slp_sim_freeze(w->nodes[slot]->h, slp_sim_random_below(w->sim, 3 * LEASE));
  } else if (what == 6 && some_of_theirs() < 4) {
    for (int i = 0; i < K3_WORKERS && some_of_theirs() < 4; i++) {
      snprintf(id, sizeof id, "ip-10-0-0-%d:%x", i, ++born);
      if (k3_start(m, id) >= K3_WORKERS - 1 || i == 0) break;
    }
  } else if (what == 7 && k3_alive(m, theirs) && some_of_ours() + some_of_theirs() > 1) {
    k3_kill(m, theirs);
  } else if (what == 8 && k3_alive(m, theirs) && some_of_ours() + some_of_theirs() > 1) {
    k3_stop(m, theirs);
  } else if (what == 9 && w->shards_n < 24) {
    fw_split(w, shard);
  } else if (what == 10 && w->shards_n < 24) {
    for (int i = 0; i < w->shards_n; i++)
      if (fw_merge(w, i, shard)) break;
  } else if (what == 11) {
    w->outage_until_us = fw_now(w) + slp_sim_random_below(w->sim, 2 * LEASE);
  }
}

static int world_number(void) { return getenv("K3_SEEDS") ? atoi(getenv("K3_SEEDS")) : 150; }
static int world_from(void) { return getenv("K3_FROM") ? atoi(getenv("K3_FROM")) : 1000; }

/* K3_SEEDS and K3_FROM play others. */
TEST(worlds_of_both_with_all_that_may_happen) {
  uint64_t moves = 0, handed = 0, forced = 0, lost = 0, again = 0, records = 0;
  for (int i = 0; i < world_number(); i++) {
    char id[40];
    seed = (uint64_t)(world_from() + i);
    begin(3 + (int)(seed % 6), (int)(seed / 6 % 2),
          seed % 3 ? "CLIENT_VERSION_3X" : "CLIENT_VERSION_3X_WITH_ROLLBACK");
    k3_make_leases(m);
    snprintf(id, sizeof id, "ip-10-0-0-1:%d", (int)seed);
    k3_start(m, id);
    fw_start(w, 0, "o0", 0);
    w->faults.unanswered_ppm = seed % 2 ? 20000 : 0;
    w->faults.lost_ppm = seed % 5 ? 0 : 20000;
    w->faults.doubled_ppm = seed % 4 ? 0 : 20000;
    w->faults.blind_ppm = seed % 7 ? 0 : 300000;
    for (int k = 0; k < 40; k++) {
      run(w, slp_sim_random_below(w->sim, 8 * FW_S));
      something();
    }
    w->faults.unanswered_ppm = w->faults.lost_ppm = w->faults.doubled_ppm = w->faults.blind_ppm = 0;
    run(w, 12 * FW_S);
    fw_reap(w);
    until(w, 2 * LOCK + ALIVE_US + 8 * BALANCE, even);
    run(w, ALIVE_US + 3 * BALANCE);
    until(w, 2 * BALANCE, even);
    stays();
    moves += k3_moves(m), handed += k3_handed(m), forced += k3_forced(m), lost += w->lost,
        again += repeats(w);
    for (int k = 0; k < w->shards_n; k++) records += w->shards[k].handed;
    end();
  }
  fprintf(stderr,
          "     %llu moves by leaders, %llu handed over by theirs, %llu forced, %llu lost by ours, %llu of "
          "%llu records repeated\n",
          (unsigned long long)moves, (unsigned long long)handed, (unsigned long long)forced,
          (unsigned long long)lost, (unsigned long long)again, (unsigned long long)records);
}
