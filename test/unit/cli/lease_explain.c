/* cli/lease_explain.c: a case each of why a shard is read, or is not, from the rows to the words. What it says is
 * shown whole. */
#include "cli/lease_explain.h"

#include <stdlib.h>

#include "admin_table.h"

static const char *words(void) {
  static slp_buf b;
  static slp_mem *of_words;
  setenv("TZ", "UTC0", 1);
  if (!of_words) of_words = slp_mem_new(NULL, NULL);
  if (!b.mem) slp_buf_init(&b, of_words, 1 << 20);
  slp_buf_clear(&b);
  CHECK_INT(slp_lease_explain(&b, slp_admin_answered(admin)->explanation), 0);
  return slp_buf_z(&b);
}

static void explains(const char *shard, const char *text) {
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_EXPLAIN, .name = slp_str_of(shard)}), 0);
  CHECK_STR(message(), "");
  CHECK_STR(words(), text);
  over();
}

/* Worker a leads and lives; b lives. Stamps are 1 s old. */
static void two(const char *shards) {
  begin(shards);
  worker("a", "host=h1");
  worker("b", NULL);
  PUT("lead", "owner=a." INCARNATION, "epoch#3", "start=0:oldest", "fmt#1");
}

#define OWNER_A "owner: a." INCARNATION " on h1; heartbeat 7 1.0 s ago by its clock; lease 10000 ms\n"
#define OWNER_B "owner: b." INCARNATION "; heartbeat 7 1.0 s ago by its clock; lease 10000 ms"
#define LEADER "leader: a." INCARNATION "\n"

TEST(it_is_read) {
  two("s1");
  PUT("l/s1", "owner=a." INCARNATION, "epoch#5", "pos=1:00242:0000000001", "ts#1767323041000", "lag#250");
  explains(
      "s1",
      "s1 is being read by a." INCARNATION
      "\n"
      "stream: lists it as open\n"
      "position: after 42, read up to about 2026-01-02T03:04:00+00:00; written 4.0 s ago, 0.2 s behind then\n"
      "behind: at most 5s by now\n"
      "epoch: 5\n" OWNER_A LEADER);
  end();
}

TEST(it_does_not_get_on) {
  two("s1");
  PUT("l/s1", "owner=a." INCARNATION, "epoch#5", "pos=1:00242:0000000001", "ts#1767322945000", "lag#5000");
  explains("s1", "s1 makes no progress: its owner a." INCARNATION
                 " is alive but has stored no position for 100.0 s\n"
                 "the metrics and -v of that worker say what it waits for, or which calls fail\n"
                 "stream: lists it as open\n"
                 "position: after 42, read up to about 2026-01-02T03:02:20+00:00; written 100.0 s ago, 5.0 s "
                 "behind then\n"
                 "behind: at most 105s by now\n"
                 "epoch: 5\n" OWNER_A LEADER);
  end();
}

TEST(it_is_idle) { /* its row is old because nothing came */
  two("s1");
  PUT("w/a", "boot=" INCARNATION, "ctr#7", "lease#10000", "st=run", "held#1", "cap#1", "fmt#1",
      "ts#1767323044000", "lag#0", "host=h1");
  PUT("l/s1", "owner=a." INCARNATION, "epoch#5", "pos=1:00242:0000000001", "ts#1767322945000", "lag#5000");
  explains("s1", "s1 is being read by a." INCARNATION
                 "\n"
                 "stream: lists it as open\n"
                 "position: after 42, read up to about 2026-01-02T03:02:20+00:00; written 100.0 s ago, 5.0 s "
                 "behind then\n"
                 "behind: at its tip, as its owner last reported\n"
                 "epoch: 5\n" OWNER_A LEADER);
  end();
}

TEST(it_was_read_to_its_end) {
  two("s1! s2<s1 s3<s1");
  PUT("l/s1", "epoch#5", "pos=9:end", "ts#1767320000000");
  PUT("l/s2", "epoch#1", "pos=0:oldest", "parents+s1", "owner=b." INCARNATION);
  explains("s1",
           "s1 was read to its end\n"
           "stream: lists it as closed\n"
           "position: end; written 50 min ago\n"
           "epoch: 5\n"
           "child s2: owned by b." INCARNATION
           ", position oldest\n"
           "child s3: has no lease yet\n" LEADER);
  end();
}

/* The listing may not know yet what the table knows already. */
TEST(a_child_that_is_not_listed_is_told_too) {
  two("s1!");
  PUT("l/s1", "epoch#5", "pos=9:end", "ts#1767063845000");
  PUT("l/s9", "epoch#1", "pos=0:oldest", "parents+s1", "owner=b." INCARNATION);
  explains("s1",
           "s1 was read to its end\n"
           "stream: lists it as closed\n"
           "position: end; written 3 d ago\n"
           "epoch: 5\n"
           "child s9: owned by b." INCARNATION ", position oldest\n" LEADER);
  end();
}

TEST(its_parent_comes_first) {
  two("s1 s2<s1 s3<s2");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "park=b." INCARNATION);
  PUT("l/s2", "epoch#1", "pos=0:oldest", "parents+s1", "owner=b." INCARNATION);
  PUT("l/s3", "epoch#1", "pos=0:oldest", "parents+s2");
  explains("s2", "s2 is not being read yet: its owner b." INCARNATION
                 " waits for parent s1\n"
                 "stream: lists it as open\n"
                 "position: oldest; written at an unknown time\n"
                 "epoch: 1\n" OWNER_B
                 "\n"
                 "parent s1: parked, position oldest\n" LEADER);
  explains("s3",
           "s3 is not being read yet: parent s2 comes first\n"
           "which waits for s1: parked, position oldest\n"
           "stream: lists it as open\n"
           "position: oldest; written at an unknown time\n"
           "epoch: 1\n"
           "parent s2: owned by b." INCARNATION ", position oldest\n" LEADER);
  end();
}

/* A parent without a row holds nobody back once it is not listed any more. */
TEST(parents_without_rows) {
  two("s1! s2<s1 s4<s3");
  PUT("l/s2", "epoch#1", "pos=0:oldest", "parents+s1", "owner=b." INCARNATION);
  PUT("l/s4", "epoch#1", "pos=0:oldest", "parents+s3", "owner=b." INCARNATION);
  explains("s2", "s2 is not being read yet: its owner b." INCARNATION
                 " waits for parent s1\n"
                 "stream: lists it as open\n"
                 "position: oldest; written at an unknown time\n"
                 "epoch: 1\n" OWNER_B
                 "\n"
                 "parent s1: has no lease yet\n" LEADER);
  explains("s4", "s4 is being read by b." INCARNATION
                 "\n"
                 "stream: lists it as open\n"
                 "position: oldest; written at an unknown time\n"
                 "epoch: 1\n" OWNER_B
                 "\n"
                 "parent s3: is no longer listed and has no lease\n" LEADER);
  end();
}

TEST(a_merge_waits_for_both) {
  two("s1! s2 s3<s1,s2");
  PUT("l/s1", "epoch#5", "pos=9:end");
  PUT("l/s2", "epoch#5", "pos=1:00242:0000000001", "owner=a." INCARNATION);
  PUT("l/s3", "epoch#1", "pos=0:oldest", "parents+s1,s2");
  explains("s3",
           "s3 is not being read yet: parent s2 comes first\n"
           "stream: lists it as open\n"
           "position: oldest; written at an unknown time\n"
           "epoch: 1\n"
           "parent s1: read to its end\n"
           "parent s2: owned by a." INCARNATION ", position after 42\n" LEADER);
  end();
}

/* Parents that go round in a circle, in rows that somebody has made up. */
TEST(a_circle_of_parents_ends) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "parents+s2");
  PUT("l/s2", "epoch#5", "pos=0:oldest", "parents+s1");
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_EXPLAIN, .name = SLP_STR("s1")}), 0);
  CHECK(strstr(words(), "parent s2 comes first"));
  over();
  end();
}

TEST(it_is_parked) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=1:00242:0000000000", "park=b." INCARNATION);
  explains("s1",
           "s1 is parked: no worker reads it until it is released\n"
           "stream: lists it as open\n"
           "position: at 42; written at an unknown time\n"
           "epoch: 5\n" LEADER);
  end();
}

TEST(it_is_to_be_parked_and_records_are_out) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=1:00242:0000000000", "pause=operator.x", "owner=a." INCARNATION);
  explains("s1", "s1 is parked, but its owner a." INCARNATION
                 " has not given it up yet: records of it are out\n"
                 "stream: lists it as open\n"
                 "position: at 42; written at an unknown time\n"
                 "epoch: 5\n" OWNER_A LEADER);
  end();
}

TEST(its_owner_is_dead) {
  two("s1");
  PUT("w/b", "gone=a." INCARNATION);
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=b." INCARNATION);
  PUT("a/a", "v#9", "set@s0,s1");
#define REST                   \
  "stream: lists it as open\n" \
  "position: oldest; written at an unknown time\nepoch: 5\n"
  explains("s1", "s1 is not being read: its owner b." INCARNATION
                 " is dead\n"
                 "it is free now, and assigned to a, which takes it in a moment\n" REST OWNER_B
                 "; evicted by a." INCARNATION "\n" LEADER);
  PUT("a/a", "set@s0");
  explains(
      "s1",
      "s1 is not being read: its owner b." INCARNATION
      " is dead\n"
      "it is free now; the leader assigns it at its next shard sync, within about a minute\n" REST OWNER_B
      "; evicted by a." INCARNATION "\n" LEADER);
  PUT("w/b", "gone=b." INCARNATION, "st=leave");
  PUT("w/a", "gone=b." INCARNATION);
  explains("s1", "s1 is not being read: its owner b." INCARNATION
                 " is dead\n"
                 "it is free now; no worker is alive; the first that starts assigns it\n" REST OWNER_B
                 "; it left\nleader: none alive; the last one was a." INCARNATION "\n");
  PUT("lead", "-owner");
  PUT("l/s1", "owner=b.fedcba9876543210"); /* a life before */
  explains("s1",
           "s1 is not being read: its owner b.fedcba9876543210 is dead\n"
           "it is free now; no worker is alive; the first that starts assigns it\n" REST
           "owner: b.fedcba9876543210\nleader: none; the first worker that runs becomes the leader\n");
  PUT("l/s1", "owner=c." INCARNATION);
  explains("s1", "s1 is not being read: its owner c." INCARNATION
                 " has no row\n"
                 "it becomes free after other workers have not seen that row for one lease period\n" REST
                 "owner: c." INCARNATION "\nleader: none; the first worker that runs becomes the leader\n");
  end();
}

/* Silent by its stamp for far more than its lease, and by a look at its counter, when it must have moved. */
TEST(its_owner_is_silent) {
  two("s1");
  PUT("w/b", "ts#1767323000000");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=b." INCARNATION);
  explains("s1", "s1 is not being read: its owner b." INCARNATION
                 " was last heard from 49.5 s ago\n"
                 "it is free in 0.0 s at the latest, unless its owner is heard from again\n" REST
                 "owner: b." INCARNATION "; heartbeat 7 49.5 s ago by its clock; lease 10000 ms\n" LEADER);
  CHECK(took_us >= 4500000 && took_us < 4600000);
  CHECK_INT(harmed.lists, 2);
  PUT("w/b", "lease#600000", "ts#1767322418500");
  PUT("w/a", "lease#3600000");
  explains("s1", "s1 is not being read: its owner b." INCARNATION
                 " was last heard from 14 min ago\n"
                 "it is free in 30.5 s at the latest, unless its owner is heard from again\n" REST
                 "owner: b." INCARNATION "; heartbeat 7 14 min ago by its clock; lease 600000 ms\n" LEADER);
  end();
  two("s1");
  PUT("w/b", "ts#1767323000000");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=b." INCARNATION);
  PUT("w/a", "gone=c." INCARNATION);
  explains("s1", "s1 is not being read: its owner b." INCARNATION
                 " was last heard from 49.5 s ago\n"
                 "no other worker is alive: it is free 10.0 s after one starts\n" REST "owner: b." INCARNATION
                 "; heartbeat 7 49.5 s ago by its clock; lease 10000 ms\n"
                 "leader: none alive; the last one was a." INCARNATION "\n");
  end();
}

TEST(a_clock_that_is_wrong_is_not_death) {
  two("s1");
  PUT("w/b", "ts#1767300000000");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=b." INCARNATION);
  beats("w/b", 3600000);
  explains("s1", "s1 is being read by b." INCARNATION "\n" REST "owner: b." INCARNATION
                 "; heartbeat 8 6 h ago by its clock; lease 10000 ms\n" LEADER);
  end();
}

TEST(it_is_nobodys) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "avoid=b." INCARNATION);
#define AVOID "given up for lack of progress by: b." INCARNATION ", at an unknown time\n"
  explains("s1",
           "s1 has no owner: the leader assigns it at its next shard sync, within about a minute\n" REST AVOID
               LEADER);
  PUT("a/b", "v#9", "plus+s1");
  explains("s1", "s1 has no owner; it is assigned to b, which takes it in a moment\n" REST AVOID LEADER);
  PUT("w/b", "gone=a." INCARNATION);
  PUT("lead", "-owner");
  explains("s1", "s1 has no owner: there is no leader now; the next leader assigns it at once\n" REST AVOID
                 "leader: none; the first worker that runs becomes the leader\n");
  end();
}

/* No two of its lines contradict each other. */
TEST(who_is_to_take_it_may_not_want_it_or_not_live) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "avoid=b." INCARNATION, "avoid_ts#1767323033000");
  PUT("a/b", "v#9", "plus+s1");
#define GIVEN_UP(ago) "given up for lack of progress by: b." INCARNATION ", " ago " ago"
#define ANOTHER "; for ten minutes the leader gives it to another worker if there is one\n"
  explains(
      "s1",
      "s1 has no owner; it is assigned to b, which just gave it up and tries again in 18.0 s\n" REST GIVEN_UP(
          "12.0 s") ANOTHER LEADER);
  PUT("l/s1", "avoid_ts#1767322985000"); /* a minute ago: it is the only one, or was assigned anew */
  explains("s1", "s1 has no owner; it is assigned to b, which takes it in a moment\n" REST GIVEN_UP("60.0 s")
                     ANOTHER LEADER);
  PUT("l/s1", "avoid_ts#1767315845000");
  explains("s1", "s1 has no owner; it is assigned to b, which takes it in a moment\n" REST GIVEN_UP(
                     "2 h") "\n" LEADER);
  PUT("l/s1", "-avoid", "-avoid_ts");
  PUT("w/b", "ts#1767323018000"); /* killed 27 s before */
  explains("s1",
           "s1 has no owner; it is assigned to b, last heard from 31.5 s ago: another takes it once that one "
           "is evicted\n" REST LEADER);
  PUT("l/s1", "owner=a." INCARNATION);
  PUT("w/a", "ts#1767323052000");
  explains("s1", "s1 is being read by a." INCARNATION "\n" REST "owner: a." INCARNATION
                 " on h1; heartbeat 7 2.0 s ago by its clock; lease 10000 ms\n"
                 "assigned to: b, which was last heard from 36.0 s ago\n" LEADER);
  end();
}

TEST(its_leader_is_silent) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=b." INCARNATION);
  PUT("w/a", "ts#1767300000000");
  explains("s1", "s1 is being read by b." INCARNATION "\n" REST "owner: b." INCARNATION
                 "; heartbeat 7 5.5 s ago by its clock; lease 10000 ms\nleader: a." INCARNATION
                 ", whose row has not been updated lately\n");
  end();
}

TEST(it_is_about_to_move) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=a." INCARNATION);
  PUT("a/b", "v#9", "set@s1");
  explains("s1", "s1 is being read by a." INCARNATION "\n" REST OWNER_A
                 "assigned to: b, which will request it\n" LEADER);
  PUT("l/s1", "claim=b." INCARNATION, "cv#9");
  explains("s1", "s1 is being read by a." INCARNATION "\n" REST OWNER_A "requested by: b." INCARNATION
                 "; its owner hands it over when its batches are returned\n" LEADER);
  PUT("a/b", "set=damaged"); /* a plan that can't be read plans nothing */
  PUT("l/s1", "-claim");
  explains("s1", "s1 is being read by a." INCARNATION "\n" REST OWNER_A LEADER);
  end();
}

TEST(it_has_no_lease) {
  two("s0! s1<s0");
  PUT("l/s0", "epoch#1", "pos=9:end");
  explains("s1",
           "s1 has no lease yet: the leader creates it at its next shard sync, within about a minute\n"
           "stream: lists it as open\n"
           "parent s0: read to its end\n" LEADER);
  PUT("lead", "-owner");
  explains("s1",
           "s1 has no lease, and there is no leader: the next leader creates it at once\n"
           "stream: lists it as open\n"
           "parent s0: read to its end\n"
           "leader: none; the first worker that runs becomes the leader\n");
  PUT("w/a", "gone=b." INCARNATION);
  PUT("w/b", "gone=a." INCARNATION);
  explains("s1",
           "s1 has no lease, and there is no leader: the first worker that starts creates it\n"
           "stream: lists it as open\n"
           "parent s0: read to its end\n"
           "leader: none; the first worker that runs becomes the leader\n");
  end();
}

TEST(it_is_not_there) {
  two("s1");
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_EXPLAIN, .name = SLP_STR("s9")}), 0);
  CHECK_INT(slp_admin_fail(admin)->code, SLOOP_ENOSHARD);
  CHECK_STR(message(), "orders lists no shard s9, and there is no lease of it");
  over();
  PUT("l/s9", "epoch#5", "pos=0:oldest");
  explains("s9",
           "s9 has no owner: the leader assigns it at its next shard sync, within about a minute\n"
           "stream: no longer lists it\n"
           "position: oldest; written at an unknown time\n"
           "epoch: 5\n" LEADER);
  end();
}

TEST(its_row_makes_no_sense) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=yesterday");
  explains("s1",
           "s1 is not being read: its row is invalid (its position can't be understood); it is ignored until "
           "somebody repairs or deletes it\n" LEADER);
  end();
}

TEST(there_is_a_hole) {
  two("s1 s2");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "owner=a." INCARNATION, "range=0-99");
  explains("s1", "s1 is being read by a." INCARNATION "\n" REST OWNER_A LEADER
                 "gap: no lease covers the hash keys 100 to 340282366920938463463374607431768211455; the "
                 "leader's next shard sync creates the missing leases\n");
  end();
}

TEST(leases_with_counters) {
  kcl = 1;
  begin("s1 s2");
  PUT("s1", "leaseCounter#9", "checkpoint=42", "checkpointSubSequenceNumber#0", "leaseOwner=u1");
  explains("s1",
           "s1 is owned by u1; whether that worker is alive can't be seen in one reading\n"
           "stream: lists it as open\n"
           "position: after 42; written at an unknown time\n"
           "counter: 9\n"
           "owner: u1\n");
  explains("s2",
           "s2 has no lease yet: the next worker that lists the stream creates it\n"
           "stream: lists it as open\n");
  PUT("s1", "-leaseOwner");
  explains("s1",
           "s1 has no owner: the next worker that sees it takes it\n"
           "stream: lists it as open\n"
           "position: after 42; written at an unknown time\n"
           "counter: 9\n");
  end();
}
