/* admin/explain.c: a case each of why a shard is read, or is not, as data. The words: cli/lease_explain.c. */
#include "admin_table.h"

static const sloop_explanation_t *e;
static void explain(const char *shard, sloop_why_t why) {
  if (admin) over();
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_EXPLAIN, .name = slp_str_of(shard)}), 0);
  CHECK_STR(message(), "");
  e = slp_admin_answered(admin)->explanation;
  CHECK(e && !slp_admin_answered(admin)->leases && !slp_admin_answered(admin)->result);
  CHECK_INT(e->why, why);
  CHECK_STR(e->shard.shard, shard);
}
static void done(void) {
  over();
  end();
}

/* Worker a leads and lives; b lives. Stamps are 1 s old. */
static void two(const char *shards) {
  begin(shards);
  worker("a", "host=h1");
  worker("b", NULL);
  PUT("lead", "owner=a." INCARNATION, "epoch#3", "start=0:oldest", "fmt#1");
}

TEST(what_a_shard_that_is_read_tells) {
  two("s1");
  PUT("l/s1", "owner=a." INCARNATION, "epoch#5", "pos=1:00242:0000000001", "ts#1767323041000", "lag#250");
  explain("s1", SLOOP_WHY_READ);
  CHECK(e->shard.listed && !e->shard.closed && e->read_at_ms == NOW);
  const sloop_lease_t *l = e->shard.lease;
  CHECK_STR(l->owner, "a." INCARNATION);
  CHECK(l->position.kind == SLOOP_AFTER_SEQ && l->epoch == 5 && l->behind_ms == 250);
  CHECK(l->written_at_ms == 1767323041000 && l->state == SLOOP_LEASE_OWNED);
  CHECK_STR(e->owner->worker, "a." INCARNATION);
  CHECK_STR(e->owner->host, "h1");
  CHECK(e->owner->counter == 7 && e->owner->lease_ms == 10000 && e->owner->leads && !e->owner->dead);
  CHECK_INT(e->leader_state, SLOOP_LEADER_ALIVE);
  CHECK_STR(e->leader, "a." INCARNATION);
  CHECK(e->workers_alive == 2 && !e->parents_n && !e->children_n && !e->waits_for && !e->epoch_is_counter);
  CHECK(!*e->assigned_to && !*e->bad_row && !*e->hole_from && !*l->avoid);
  done();
}

TEST(an_end_and_its_children_listed_or_not) {
  two("s1! s2<s1 s3<s1");
  PUT("l/s1", "epoch#5", "pos=9:end");
  PUT("l/s2", "epoch#1", "pos=0:oldest", "parents+s1", "owner=b." INCARNATION);
  PUT("l/s9", "epoch#1", "pos=0:oldest", "parents+s1");
  explain("s1", SLOOP_WHY_ENDED);
  CHECK(e->shard.listed && e->shard.closed && !e->owner);
  CHECK_INT(e->children_n, 3);
  CHECK_STR(e->children[0]->shard, "s2");
  CHECK_STR(e->children[0]->lease->owner, "b." INCARNATION);
  CHECK_STR(e->children[1]->shard, "s3");
  CHECK(!e->children[1]->lease && e->children[1]->listed && !e->children[1]->closed);
  CHECK_STR(e->children[2]->shard, "s9");
  CHECK(e->children[2]->lease && !e->children[2]->listed);
  done();
}

TEST(a_parent_that_comes_first_and_what_that_one_waits_for) {
  two("s1 s2<s1 s3<s2 s4 s5<s4,s2");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "park=b." INCARNATION);
  PUT("l/s2", "epoch#1", "pos=0:oldest", "parents+s1", "owner=b." INCARNATION);
  PUT("l/s3", "epoch#1", "pos=0:oldest", "parents+s2");
  PUT("l/s4", "epoch#1", "pos=9:end");
  PUT("l/s5", "epoch#1", "pos=0:oldest", "parents+s4,s2");
  explain("s2", SLOOP_WHY_PARENT);
  CHECK_STR(e->waits_for->shard, "s1");
  CHECK(e->waits_for->lease->parked && !e->waits_for_last && e->parents_n == 1);
  explain("s3", SLOOP_WHY_PARENT);
  CHECK_STR(e->waits_for->shard, "s2");
  CHECK_STR(e->waits_for_last->shard, "s1");
  explain("s5", SLOOP_WHY_PARENT); /* of a merge's parents the one that is not ended */
  CHECK_STR(e->waits_for->shard, "s2");
  CHECK(e->parents_n == 2 && e->parents[0]->lease->position.kind == SLOOP_AT_END);
  done();
}

TEST(parents_without_rows_hold_back_while_they_are_listed) {
  two("s1! s2<s1 s4<s3");
  PUT("l/s2", "epoch#1", "pos=0:oldest", "parents+s1", "owner=b." INCARNATION);
  PUT("l/s4", "epoch#1", "pos=0:oldest", "parents+s3", "owner=b." INCARNATION);
  explain("s2", SLOOP_WHY_PARENT);
  CHECK(!e->waits_for->lease && e->waits_for->listed && e->waits_for->closed);
  explain("s4", SLOOP_WHY_READ);
  CHECK(e->parents_n == 1 && !e->parents[0]->lease && !e->parents[0]->listed);
  done();
}

TEST(a_circle_of_parents_ends) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "parents+s2");
  PUT("l/s2", "epoch#5", "pos=0:oldest", "parents+s1");
  explain("s1", SLOOP_WHY_PARENT);
  done();
}

TEST(parked_before_all_but_ended) {
  two("s1 s2<s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "park=b." INCARNATION, "owner=a." INCARNATION);
  PUT("l/s2", "epoch#5", "pos=0:oldest", "park=b." INCARNATION, "parents+s1");
  explain("s1", SLOOP_WHY_PARKED);
  CHECK(e->shard.lease->parked);
  explain("s2", SLOOP_WHY_PARKED);
  done();
}

TEST(owners_that_are_dead_in_each_way) {
  two("s1");
  PUT("w/b", "gone=a." INCARNATION);
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=b." INCARNATION);
  PUT("a/a", "v#9", "set@s0,s1");
  explain("s1", SLOOP_WHY_OWNER_DEAD);
  CHECK_STR(e->assigned_to, "a." INCARNATION);
  CHECK_STR(e->owner->evicted_by, "a." INCARNATION);
  CHECK(e->owner->dead && !e->owner->leaving && e->workers_alive == 1);
  CHECK_INT(e->shard.lease->state, SLOOP_LEASE_OWNER_DEAD);
  PUT("w/a", "gone=b." INCARNATION);
  explain("s1", SLOOP_WHY_OWNER_DEAD);
  CHECK_STR(e->assigned_to, ""); /* an assignment to a dead worker is none */
  CHECK(e->workers_alive == 0 && e->leader_state == SLOOP_LEADER_DEAD);
  CHECK_STR(e->leader, "a." INCARNATION);
  PUT("lead", "-owner");
  PUT("l/s1", "owner=b.fedcba9876543210");
  explain("s1", SLOOP_WHY_OWNER_DEAD); /* an incarnation before */
  CHECK(!e->owner && e->leader_state == SLOOP_LEADER_NONE);
  PUT("l/s1", "owner=c." INCARNATION);
  explain("s1", SLOOP_WHY_OWNER_MISSING);
  done();
}

/* Its last heartbeat, its lease, half a lease for a leader's watch and 2 s make 30.5 s from now. */
TEST(a_silent_owner_is_free_some_time_later) {
  two("s1");
  PUT("w/b", "ts#1767323000000");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=b." INCARNATION);
  explain("s1", SLOOP_WHY_OWNER_SILENT);
  CHECK(took_us >= 4500000 && took_us < 4600000);
  CHECK(e->free_in_ms == 0 && e->workers_alive == 1 && e->owner->written_at_ms == 1767323000000);
  PUT("w/a", "lease#3600000");
  PUT("w/b", "lease#600000", "ts#1767322418500");
  explain("s1", SLOOP_WHY_OWNER_SILENT);
  CHECK_INT(e->free_in_ms, 1767322418500 + 600000 + 300000 + 2000 - e->read_at_ms);
  CHECK(e->free_in_ms > 0);
  done();
}

TEST(a_worker_that_was_seen_to_beat_lives_whatever_its_clock_says) {
  two("s1");
  PUT("w/b", "ts#1767300000000");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=b." INCARNATION);
  beats("w/b", 3600000);
  explain("s1", SLOOP_WHY_READ);
  CHECK(e->shard.lease->state == SLOOP_LEASE_OWNED && e->owner->counter == 8);
  done();
}

/* A command has a second look, and needs none of the half minute by which clocks may differ. */
TEST(who_was_not_heard_of_for_a_lease_is_silent) {
  two("s1");
  PUT("w/b", "ts#1767323033000"); /* 12 s ago */
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=b." INCARNATION);
  explain("s1", SLOOP_WHY_OWNER_SILENT);
  CHECK(took_us >= 4500000 && e->workers_alive == 1);
  PUT("l/s1", "-owner");
  PUT("a/b", "v#9", "plus+s1");
  explain("s1", SLOOP_WHY_FREE); /* and the one that is to take it is looked at twice as well */
  CHECK_STR(e->assigned_to, "b." INCARNATION);
  CHECK(took_us >= 4500000 && e->assigned_silent_ms == e->read_at_ms - 1767323033000);
  beats("w/b", 3000000); /* its clock is wrong, and a's stamp is as old by now */
  explain("s1", SLOOP_WHY_FREE);
  CHECK(e->workers_alive == 1);
  PUT("w/a", "ts#1767323060000");
  explain("s1", SLOOP_WHY_FREE);
  CHECK(e->assigned_silent_ms == 0 && e->workers_alive == 2);
  done();
}

TEST(a_lease_that_nobody_owns) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "avoid=b." INCARNATION);
  explain("s1", SLOOP_WHY_FREE);
  CHECK_STR(e->assigned_to, "");
  CHECK_STR(e->shard.lease->avoid, "b." INCARNATION);
  CHECK_INT(e->shard.lease->state, SLOOP_LEASE_FREE);
  PUT("a/b", "v#9", "plus+s1");
  explain("s1", SLOOP_WHY_FREE);
  CHECK_STR(e->assigned_to, "b." INCARNATION);
  done();
}

TEST(a_leader_that_is_silent) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=b." INCARNATION);
  PUT("w/a", "ts#1767300000000");
  explain("s1", SLOOP_WHY_READ);
  CHECK(e->leader_state == SLOOP_LEADER_SILENT && e->workers_alive == 1);
  done();
}

TEST(a_lease_that_is_about_to_move) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=a." INCARNATION, "claim=b." INCARNATION, "cv#9");
  PUT("a/b", "v#9", "set@s1");
  explain("s1", SLOOP_WHY_READ);
  CHECK_STR(e->assigned_to, "b." INCARNATION);
  CHECK_STR(e->shard.lease->claim, "b." INCARNATION);
  PUT("a/b", "set=damaged"); /* an assignment that can't be read gives nothing */
  explain("s1", SLOOP_WHY_READ);
  CHECK_STR(e->assigned_to, "");
  done();
}

TEST(a_shard_without_a_lease) {
  two("s0! s1<s0");
  PUT("l/s0", "epoch#1", "pos=9:end");
  explain("s1", SLOOP_WHY_NO_LEASE);
  CHECK(!e->shard.lease && !e->owner && e->parents_n == 1 && e->parents[0]->lease);
  PUT("l/s9", "epoch#5", "pos=0:oldest");
  explain("s9", SLOOP_WHY_FREE);
  CHECK_INT(e->shard.listed, 0);
  over();
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_EXPLAIN, .name = SLP_STR("s8")}), 0);
  CHECK_INT(slp_admin_fail(admin)->code, SLOOP_ENOSHARD);
  CHECK(!slp_admin_answered(admin)->explanation);
  done();
}

TEST(a_row_that_makes_no_sense) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=yesterday");
  explain("s1", SLOOP_WHY_BAD_ROW);
  CHECK_STR(e->bad_row, "its position can't be understood");
  CHECK(!e->shard.lease);
  done();
}

TEST(a_hole) {
  two("s1 s2");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=a." INCARNATION, "range=0-99");
  explain("s1", SLOOP_WHY_READ);
  CHECK_STR(e->hole_from, "100");
  CHECK_STR(e->hole_to, "340282366920938463463374607431768211455");
  done();
}

TEST(leases_with_counters) {
  kcl = 1;
  begin("s1 s2");
  PUT("s1", "leaseCounter#9", "checkpoint=42", "checkpointSubSequenceNumber#0", "leaseOwner=u1");
  explain("s1", SLOOP_WHY_OWNED);
  CHECK(e->epoch_is_counter && e->leader_state == SLOOP_LEADER_UNUSED && !e->owner);
  CHECK_INT(e->shard.lease->state, SLOOP_LEASE_OWNED);
  explain("s2", SLOOP_WHY_NO_LEASE);
  PUT("s1", "-leaseOwner");
  explain("s1", SLOOP_WHY_FREE);
  done();
}
