/* whole_fleet.c - when an application is at its tip: by rows, by the listing and by what this worker reads. */
#include "cli/whole_fleet.h"
#include "check.h"

#define ME "me.1"
#define OTHER "other.2"

static slp_mem *mem;
static slp_whole_fleet w;
static sloop_lease_t leases[4];
static const sloop_lease_t *lease_at[4] = {&leases[0], &leases[1], &leases[2], &leases[3]};
static sloop_worker_t workers[2];
static const sloop_worker_t *worker_at[2] = {&workers[0], &workers[1]};
static sloop_leases_t rows;

static sloop_lease_t lease(const char *shard, const char *owner) {
  return (sloop_lease_t){.shard = shard,
                         .owner = owner,
                         .claim = "",
                         .position = {.kind = SLOOP_OLDEST},
                         .parents = {"", ""},
                         .state = *owner ? SLOOP_LEASE_OWNED : SLOOP_LEASE_FREE,
                         .epoch = 1,
                         .avoid = ""};
}

/* Two shards, one of this worker and one of another, which is at the tip by its word. */
static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_whole_init(&w, mem);
  leases[0] = lease("shardId-000000000000", ME);
  leases[1] = lease("shardId-000000000001", OTHER);
  workers[0] = (sloop_worker_t){.worker = ME, .host = "", .counter = 5, .lease_ms = 10000, .evicted_by = ""};
  workers[1] =
      (sloop_worker_t){.worker = OTHER, .host = "", .counter = 7, .lease_ms = 10000, .evicted_by = ""};
  rows = (sloop_leases_t){
      .leases = lease_at, .leases_n = 2, .workers = worker_at, .workers_n = 2, .passed_over = ""};
}

static void end(void) {
  slp_whole_free(&w);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static void look(int64_t behind_ms, int at_tip, uint64_t unacked) {
  sloop_shard_stats_t mine = {
      .shard = "shardId-000000000000", .behind_ms = behind_ms, .at_tip = at_tip, .unacked = unacked};
  slp_whole_begin(&w, 0);
  CHECK_INT(slp_whole_mine(&w, &mine), 0);
  CHECK_INT(slp_whole_rows(&w, &rows, ME), 0);
}

static void look_at_tip(void) { look(0, 1, 0); }

TEST(another_worker_is_at_its_tip_when_two_heartbeats_since_have_said_so) {
  begin();
  CHECK_INT(w.state, SLP_WHOLE_UNKNOWN);
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_WAITS); /* it may have been killed */
  CHECK_STR(w.why, "shardId-000000000001 has an owner that has shown no sign of life yet: other.2");
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_WAITS);
  workers[1].counter = 8; /* it may have been on its way when the lease was seen */
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_SHARED);
  CHECK_STR(w.why, "shardId-000000000001 has not been reported at its tip by other.2");
  workers[1].counter = 9;
  workers[1].behind_ms = 4;
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_SHARED);
  workers[1].behind_ms = -1; /* of one of its shards it does not know */
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_SHARED);
  workers[1].behind_ms = 0;
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_AT_TIP);
  CHECK_STR(w.why, "");
  leases[1].epoch = 2; /* it was another's meanwhile */
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_SHARED);
  end();
}

TEST(its_own_shards_are_judged_by_what_this_worker_reads) {
  begin();
  rows.leases_n = 1;
  look(-1, 0, 0);
  CHECK_INT(w.state, SLP_WHOLE_WAITS);
  CHECK_STR(w.why, "shardId-000000000000 is this worker's, and has not been read yet");
  look(500, 0, 3);
  CHECK_INT(w.state, SLP_WHOLE_SHARED);
  look(0, 1, 1); /* not acknowledged */
  CHECK_INT(w.state, SLP_WHOLE_SHARED);
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_AT_TIP);
  slp_whole_begin(&w, 0); /* its row is this worker's, and it does not read it any more */
  CHECK_INT(slp_whole_rows(&w, &rows, ME), 0);
  CHECK_INT(w.state, SLP_WHOLE_WAITS);
  end();
}

TEST(a_shard_without_a_living_reader_is_waited_for) {
  begin();
  leases[1] = lease("shardId-000000000001", "");
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_WAITS);
  CHECK_STR(w.why, "shardId-000000000001 has no owner yet");
  leases[1] = lease("shardId-000000000001", OTHER);
  leases[1].state = SLOOP_LEASE_OWNER_DEAD;
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_WAITS);
  leases[1].position.kind = SLOOP_AT_END;
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_AT_TIP);
  end();
}

static void look_by_time(void) {
  sloop_shard_stats_t mine = {.shard = "shardId-000000000000", .behind_ms = 5000, .unacked = 7, .paused = 1};
  slp_whole_begin(&w, 1);
  CHECK_INT(slp_whole_mine(&w, &mine), 0);
  CHECK_INT(slp_whole_rows(&w, &rows, ME), 0);
}

TEST(by_time_a_shard_of_another_worker_has_to_be_read_by_one_that_lives) {
  begin();
  leases[1] = lease("shardId-000000000002", ""); /* begins behind a parent that is read up to the time only */
  leases[1].parents[0] = "shardId-000000000000";
  look_by_time();
  CHECK_INT(w.state, SLP_WHOLE_AT_TIP);
  leases[1] = lease("shardId-000000000001", OTHER);
  workers[1].behind_ms = 90000;
  look_by_time();
  CHECK_INT(w.state, SLP_WHOLE_WAITS);
  workers[1].counter++;
  look_by_time();
  CHECK_INT(w.state, SLP_WHOLE_AT_TIP);
  leases[0].shard = "shardId-000000000003"; /* this worker's, and it does not read it yet */
  look_by_time();
  CHECK_INT(w.state, SLP_WHOLE_WAITS);
  leases[0].shard = "shardId-000000000000";
  leases[1] = lease("shardId-000000000001", "");
  look_by_time();
  CHECK_INT(w.state, SLP_WHOLE_WAITS);
  leases[1].parked = 1;
  look_by_time();
  CHECK_INT(w.state, SLP_WHOLE_BLOCKED);
  end();
}

TEST(by_time_children_wait_behind_what_is_read_up_to_the_time_and_no_other) {
  static const sloop_shard_t parent = {"shardId-000000000000", "", "", "", "", "", "", 1},
                             child = {"shardId-000000000008", "shardId-000000000000", "", "", "", "", "", 1},
                             last = {"shardId-000000000009", "", "shardId-000000000008", "", "", "", "", 0};
  static const sloop_shard_t *const listed[] = {&last, &child, &parent}; /* the other way round */
  begin();
  rows.leases_n = 1;
  look_by_time();
  CHECK_INT(slp_whole_listed(&w, listed, 3), 0);
  CHECK_INT(w.state, SLP_WHOLE_AT_TIP);
  sloop_shard_stats_t ends = {.shard = "shardId-000000000000", .behind_ms = 0, .at_tip = 1}; /* not paused */
  slp_whole_begin(&w, 1);
  CHECK_INT(slp_whole_mine(&w, &ends), 0);
  CHECK_INT(slp_whole_rows(&w, &rows, ME), 0);
  CHECK_INT(slp_whole_listed(&w, listed, 3), 0);
  CHECK_INT(w.state, SLP_WHOLE_WAITS); /* its children may have what arrived before the time */
  CHECK_STR(w.why, "shardId-000000000009 has no lease yet");
  end();
}

TEST(what_an_operator_must_free_is_no_success) {
  begin();
  leases[1] = lease("shardId-000000000001", "");
  leases[1].parked = 1;
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_BLOCKED);
  CHECK_STR(w.why, "shardId-000000000001 is parked: no worker reads it until --release");
  leases[1].parked = 0;
  leases[1].refused_n = 2;
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_BLOCKED);
  look(500, 0, 0); /* and there is something to be read */
  CHECK_INT(w.state, SLP_WHOLE_SHARED);
  rows.leases_n = 1;
  rows.bad_rows_n = 1;
  static const char *const bad[] = {"key: why"};
  rows.bad_rows = bad;
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_BLOCKED);
  end();
}

TEST(a_closed_shard_at_its_tip_is_not_at_its_end) {
  begin();
  leases[1] = lease("shardId-000000000001", "");
  leases[1].parents[0] = "shardId-000000000000";
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_SHARED);
  CHECK_STR(w.why, "shardId-000000000000 is not read to its end yet");
  leases[0].parked = 1; /* and so nobody comes to the child */
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_BLOCKED);
  leases[0].parked = 0;
  leases[0].position.kind = SLOOP_AT_END;
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_WAITS); /* for whoever takes the child */
  end();
}

TEST(an_open_shard_without_a_lease_is_waited_for) {
  static const sloop_shard_t closed = {.id = "shardId-000000000007", .closed = 1},
                             open = {.id = "shardId-000000000008"}, known = {.id = "shardId-000000000000"};
  static const sloop_shard_t *const listed[] = {&known, &closed, &open};
  begin();
  rows.leases_n = 1;
  look_at_tip();
  CHECK_INT(slp_whole_listed(&w, listed, 2), 0);
  CHECK_INT(w.state, SLP_WHOLE_AT_TIP);
  CHECK_INT(slp_whole_listed(&w, listed, 3), 0);
  CHECK_INT(w.state, SLP_WHOLE_WAITS);
  CHECK_STR(w.why, "shardId-000000000008 has no lease yet");
  end();
}

TEST(where_rows_do_not_tell_how_far_a_worker_is_that_is_said) {
  begin();
  workers[1] = (sloop_worker_t){.worker = OTHER, .host = "", .behind_ms = -1, .evicted_by = ""};
  look_at_tip();
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_WAITS);
  leases[1].written_at_ms = 1; /* it was renewed */
  look_at_tip();
  CHECK_INT(w.state, SLP_WHOLE_SHARED);
  CHECK_STR(
      w.why,
      "shardId-000000000001 may not be at its tip: rows of this schema do not store the lag of other.2");
  end();
}
