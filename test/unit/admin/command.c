/* admin/command.c, list_leases.c: the way to the table, and the table as programs see it. */
#include "admin_table.h"

static const sloop_leases_t *leases(void) {
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_LEASES}), 0);
  CHECK_STR(message(), "");
  CHECK(slp_admin_answered(admin)->leases != NULL);
  return slp_admin_answered(admin)->leases;
}

TEST(everything_the_table_says) {
  begin("");
  worker("b", "gone=a." INCARNATION);
  worker("a", "host=h1");
  PUT("w/a", "lag#1500", "rate#99");
  PUT("lead", "owner=a." INCARNATION, "epoch#3", "start=0:oldest", "fmt#1");
  PUT("l/s2", "owner=a." INCARNATION, "epoch#5", "pos=1:00242:0000000001", "ts#1767323040000", "lag#250",
      "claim=b." INCARNATION, "parents+s0,s1", "avoid=c." INCARNATION);
  PUT("l/s1", "epoch#1", "pos=9:end");
  PUT("l/s3", "owner=b." INCARNATION, "epoch#2", "pos=0:time:5");
  PUT("l/s4", "epoch#2", "pos=0:oldest", "park=b." INCARNATION);
  PUT("l/s5", "epoch#2", "pos=elsewhere");
  PUT("x/other", "a=b");
  const sloop_leases_t *l = leases();
  CHECK_INT(l->leases_n, 4);
  CHECK_STR(l->leases[0]->shard, "s1");
  CHECK_INT(l->leases[0]->position.kind, SLOOP_AT_END);
  CHECK_INT(l->leases[0]->state, SLOOP_LEASE_FREE);
  CHECK_STR(l->leases[0]->parents[0], "");
  CHECK_INT(l->leases[0]->behind_ms, -1);
  const sloop_lease_t *s2 = l->leases[1];
  CHECK_STR(s2->owner, "a." INCARNATION);
  CHECK_STR(s2->claim, "b." INCARNATION);
  CHECK(s2->position.kind == SLOOP_AFTER_SEQ && s2->position.sub == 0);
  CHECK_STR(s2->position.seq, "42");
  CHECK_STR(s2->position.shard, "s2");
  CHECK_STR(s2->avoid, "c." INCARNATION);
  CHECK_STR(s2->parents[0], "s0");
  CHECK_STR(s2->parents[1], "s1");
  CHECK(s2->state == SLOOP_LEASE_OWNED && s2->epoch == 5 && !s2->parked);
  CHECK(s2->written_at_ms == 1767323040000 && s2->behind_ms == 250);
  CHECK(l->leases[2]->position.kind == SLOOP_AT_TIME && l->leases[2]->position.at_ms == 5);
  CHECK_INT(l->leases[2]->state, SLOOP_LEASE_OWNER_DEAD);
  CHECK(l->leases[3]->parked && l->leases[3]->state == SLOOP_LEASE_FREE);
  CHECK_INT(l->workers_n, 2);
  const sloop_worker_t *w = l->workers[0];
  CHECK_STR(w->worker, "a." INCARNATION);
  CHECK_STR(w->host, "h1");
  CHECK(w->counter == 7 && w->lease_ms == 10000 && w->held == 2 && w->weight == 1);
  CHECK(w->leads && !w->leaving && !w->dead);
  CHECK(w->written_at_ms == 1767323044000 && w->behind_ms == 1500 && w->rate_bytes == 99);
  CHECK(l->workers[1]->dead && !l->workers[1]->leads);
  CHECK_STR(l->workers[1]->evicted_by, "a." INCARNATION);
  CHECK_STR(l->workers[1]->host, "");
  CHECK_INT(l->bad_rows_n, 1);
  CHECK_STR(l->bad_rows[0], "orders@1700000000/l/s5: its position can't be understood");
  over();
  end();
}

/* They are read one key after the other, and a try that failed begins where it was. */
TEST(leases_under_several_keys) {
  begin("");
  PUT("lead", "epoch#3", "start=0:oldest", "fmt#2", "keys#3", "block#2");
  PUT("l/shardId-000000000001", "epoch#1", "pos=9:end");
  PUT("l/shardId-000000000007", "epoch#2", "pos=0:oldest");
  PUT("+1/s/shardId-000000000002", "epoch#3", "pos=0:oldest");
  PUT("+2/s/shardId-000000000005", "epoch#4", "pos=0:oldest");
  PUT("+2/s/shardId-000000000002", "epoch#4", "pos=0:oldest"); /* not where it belongs */
  PUT("+3/s/shardId-000000000006", "epoch#4", "pos=0:oldest"); /* there is no such key */
  harmed.list_fails = 2;
  const sloop_leases_t *l = leases();
  CHECK_INT(harmed.lists, 4);
  CHECK_INT(l->leases_n, 4);
  for (size_t i = 0; i < l->leases_n; i++)
    CHECK_INT(l->leases[i]->epoch, i == 0 ? 1 : i == 1 ? 3 : i == 2 ? 4 : 2);
  CHECK_STR(l->leases[1]->shard, "shardId-000000000002");
  CHECK_INT(l->bad_rows_n, 1);
  CHECK_STR(l->bad_rows[0],
            "orders@1700000000/s/shardId-000000000002: it is stored under another key than its name says");
  over();
  end();
}

/* Each of them is short enough, and all together are not. */
TEST(leases_under_several_keys_are_bounded_together) {
  static char text[30001];
  memset(text, 'x', sizeof text - 1);
  memcpy(text, "host=", 5);
  begin("");
  PUT("lead", "epoch#3", "start=0:oldest", "fmt#2", "keys#3", "block#2");
  PUT("l/shardId-000000000001", "epoch#1", "pos=9:end", text);
  PUT("+1/s/shardId-000000000002", "epoch#3", "pos=0:oldest", text);
  PUT("+2/s/shardId-000000000005", "epoch#4", "pos=0:oldest", text);
  harmed.most = 200000;
  CHECK_INT(leases()->leases_n, 3);
  over();
  harmed.most = 80000;
  slp_admin_opts o = {.task = SLP_ADMIN_LEASES};
  CHECK_INT(ask(&o), 0);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_REFUSED);
  CHECK(strstr(message(), "the rows of table \"leases\" take more than 80000 bytes"));
  over();
  end();
}

/* A single poll judges by the age of a stamp, and allows for clocks that differ. */
TEST(owners_by_one_look) {
  static const struct {
    const char *ts;
    sloop_lease_state_t state;
  } cases[] = {{"ts#1767323045000", SLOOP_LEASE_OWNED},
               {"ts#1767323985000", SLOOP_LEASE_OWNED}, /* ahead of us */
               {"ts#1767323006000", SLOOP_LEASE_OWNED},
               {"ts#1767323004000", SLOOP_LEASE_OWNER_DEAD},
               {"-ts", SLOOP_LEASE_OWNED}};
  begin("");
  worker("a", NULL);
  PUT("l/s1", "owner=a." INCARNATION, "epoch#5", "pos=0:oldest");
  PUT("l/s2", "owner=a.fedcba9876543210", "epoch#5", "pos=0:oldest"); /* a life before */
  PUT("l/s3", "owner=b." INCARNATION, "epoch#5", "pos=0:oldest");     /* no row */
  PUT("l/s4", "owner=somebody", "epoch#5", "pos=0:oldest");           /* none of ours */
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    PUT("w/a", cases[i].ts);
    const sloop_leases_t *l = leases();
    CHECK_INT(l->leases[0]->state, cases[i].state);
    CHECK_INT(l->leases[1]->state, SLOOP_LEASE_OWNER_DEAD);
    CHECK_INT(l->leases[2]->state, SLOOP_LEASE_OWNER_DEAD);
    CHECK_INT(l->leases[3]->state, SLOOP_LEASE_OWNED);
    over();
  }
  end();
}

TEST(positions) {
  static const struct {
    const char *row;
    sloop_position_t want;
  } cases[] = {{"0:oldest", {.kind = SLOOP_OLDEST}},
               {"0:time:1700000000123", {.kind = SLOOP_AT_TIME, .at_ms = 1700000000123}},
               {"1:00242:0000000000", {.kind = SLOOP_AT_SEQ, .seq = "42"}},
               {"1:00242:0000000001", {.kind = SLOOP_AFTER_SEQ, .seq = "42"}},
               {"1:00242:0000000008", {.kind = SLOOP_AFTER_SEQ, .seq = "42", .sub = 7}},
               {"1:00242:9999999999", {.kind = SLOOP_AFTER_SEQ, .seq = "42", .sub = UINT32_MAX}},
               {"9:end", {.kind = SLOOP_AT_END}}};
  begin("");
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    char pos[60];
    snprintf(pos, sizeof pos, "pos=%s", cases[i].row);
    PUT("l/s1", "epoch#1", pos);
    const sloop_position_t *is = &leases()->leases[0]->position, *want = &cases[i].want;
    CHECK_INT(is->kind, want->kind);
    CHECK(is->at_ms == want->at_ms && is->sub == want->sub && !is->token);
    CHECK((is->seq != NULL) == (want->seq != NULL) && (is->shard != NULL) == (want->seq != NULL));
    if (want->seq) CHECK_STR(is->seq, want->seq);
    over();
  }
  end();
}

TEST(an_empty_table_has_no_leases) {
  begin("");
  const sloop_leases_t *l = leases();
  CHECK(l->leases_n == 0 && l->workers_n == 0 && l->bad_rows_n == 0);
  over();
  end();
}

TEST(rows_of_kcl) {
  kcl = 1;
  begin("");
  PUT("s1", "leaseCounter#9", "checkpoint=42", "checkpointSubSequenceNumber#0", "leaseOwner=u1");
  PUT("s2", "leaseCounter#2", "checkpoint=TRIM_HORIZON", "leaseOwner=u1");
  PUT("s3", "leaseCounter#2", "checkpoint=LATEST");
  const sloop_leases_t *l = leases();
  CHECK_INT(l->leases_n, 3);
  CHECK_STR(l->leases[0]->owner, "u1");
  CHECK(l->leases[0]->position.kind == SLOOP_AFTER_SEQ);
  CHECK_STR(l->leases[0]->position.seq, "42");
  CHECK(l->leases[0]->state == SLOOP_LEASE_OWNED && l->leases[0]->epoch == 9);
  CHECK_INT(l->leases[2]->position.kind, SLOOP_LATEST);
  CHECK_INT(l->leases[2]->state, SLOOP_LEASE_FREE);
  CHECK_INT(l->workers_n, 1);
  CHECK_STR(l->workers[0]->worker, "u1");
  CHECK(l->workers[0]->held == 2 && !l->workers[0]->dead && l->workers[0]->written_at_ms == -1);
  over();
  end();
}

/* A lease that ended keeps the name of its last owner, which may have left long ago. */
TEST(an_ended_lease_names_no_worker) {
  kcl = 1;
  begin("");
  PUT("s1", "leaseCounter#9", "checkpoint=SHARD_END", "leaseOwner=left");
  PUT("s2", "leaseCounter#2", "checkpoint=LATEST", "leaseOwner=ann");
  PUT("s3", "leaseCounter#2", "checkpoint=SHARD_END", "leaseOwner=ann");
  const sloop_leases_t *l = leases();
  CHECK_INT(l->workers_n, 1);
  CHECK_STR(l->workers[0]->worker, "ann");
  CHECK_INT(l->workers[0]->held, 1);
  CHECK_STR(l->leases[0]->owner, "left");
  over();
  end();
}

/* Rows of workers come sorted from the snapshot; where only leases name them, in the order of the leases. */
TEST(workers_that_only_leases_name_are_sorted_too) {
  kcl = 1;
  begin("");
  PUT("s1", "leaseCounter#9", "checkpoint=LATEST", "leaseOwner=zoe");
  PUT("s2", "leaseCounter#2", "checkpoint=LATEST", "leaseOwner=ann");
  PUT("s3", "leaseCounter#2", "checkpoint=LATEST", "leaseOwner=zoe");
  PUT("s4", "leaseCounter#2", "checkpoint=LATEST", "leaseOwner=mia");
  const sloop_leases_t *l = leases();
  CHECK_INT(l->workers_n, 3);
  CHECK_STR(l->workers[0]->worker, "ann");
  CHECK_STR(l->workers[1]->worker, "mia");
  CHECK_STR(l->workers[2]->worker, "zoe");
  CHECK(l->workers[0]->held == 1 && l->workers[1]->held == 1 && l->workers[2]->held == 2);
  over();
  end();
}

TEST(a_table_that_is_not_there_is_named_and_not_made) {
  begin("");
  no_table = 1;
  for (int i = 0; i < 2; i++) { /* the second time it would be there */
    CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_LEASES}), 0);
    CHECK_INT(slp_admin_fail(admin)->code, SLOOP_ELEASE);
    CHECK_STR(message(),
              "there is no table \"nowhere\": no worker of orders has started yet, or it was deleted");
    CHECK(!slp_admin_answered(admin)->leases);
    over();
  }
  end();
}

/* And what does not pass is told at once, as the table told it. */
TEST(a_table_that_may_not_be_read_is_told) {
  begin("s1");
  PUT("l/s1", "epoch#1", "pos=0:oldest");
  harmed.prepare_fails = 1;
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_LEASES}), 0);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_ACCESS);
  CHECK_INT(slp_admin_fail(admin)->code, SLOOP_EACCESS);
  CHECK_STR(message(), "no permission for dynamodb:DescribeTable");
  CHECK_INT(harmed.lists, 0);
  over();
  end();
}

TEST(what_passes_is_tried_again) {
  begin("s1");
  PUT("l/s1", "epoch#1", "pos=0:oldest");
  stream.describe_fails = 2;
  stream.list_fails = 3;
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_EXPLAIN, .name = SLP_STR("s1")}), 0);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_FINE);
  over();
  stream.describe_fails = 99;
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_LEASES}), 0);
  CHECK_INT(slp_admin_fail(admin)->code, SLOOP_ETHROTTLE);
  CHECK_INT(99 - stream.describe_fails, 5);
  over();
  stream.describe_fails = 0;
  stream.creating = 1;
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_LEASES}), 0);
  CHECK_INT(slp_admin_fail(admin)->code, SLOOP_ESTREAMBUSY);
  over();
  end();
}

/* Freed at any moment, nothing of it is left and nobody is told. */
TEST(silence_after_free) {
  for (int turns = 0, done = 0; !done; turns++) {
    begin("s1");
    PUT("l/s1", "epoch#1", "pos=0:oldest");
    slp_admin_opts o = {.host = &f.h,
                        .source = &stream.s,
                        .open = open_admin,
                        .ctx = &f,
                        .lease_ms = 10000,
                        .task = SLP_ADMIN_RESET,
                        .name = SLP_STR("s1"),
                        .to = {.kind = SLP_POSITION_LATEST},
                        .on_done = on_admin,
                        .arg = &answered};
    answered = 0;
    CHECK_INT(slp_admin_new(&admin, mem, &o), 0);
    for (int i = 0; i < turns && !answered; i++) {
      slp_event *next = SLP_OWNER(slp_list_first(&f.h.ready), slp_event, link);
      slp_list_remove(&next->link);
      next->run(next);
    }
    done = answered;
    over();
    fake_run(&f, 1000000);
    CHECK_INT(answered, done);
    end();
    CHECK(turns < 50);
  }
}

static void fill(void) {
  worker("a", NULL);
  PUT("lead", "owner=a." INCARNATION, "epoch#3", "start=0:oldest", "fmt#1");
  PUT("l/s1", "owner=a." INCARNATION, "epoch#5", "pos=0:oldest", "parents+s0");
  PUT("l/s2", "epoch#2", "pos=nonsense");
  PUT("a/a", "v#4", "set@s1", "plus+s3");
}

TEST(without_memory_it_says_so_and_leaves_nothing) {
  static const slp_admin_task tasks[] = {SLP_ADMIN_LEASES, SLP_ADMIN_EXPLAIN, SLP_ADMIN_RELEASE,
                                         SLP_ADMIN_RESET, SLP_ADMIN_RELEASE};
  for (size_t t = 0; t < SLP_COUNT(tasks); t++) {
    int fine = 0;
    for (int n = 0; !fine; n++) {
      begin("s1");
      fill();
      slp_admin_opts o = {
          .task = tasks[t], .name = SLP_STR("s1"), .force = 1, .to = {.kind = SLP_POSITION_OLDEST}};
      if (t == 2) o.name = SLP_STR("a");
      if (t == 4) o.force = 0; /* its owner is watched for a lease */
      memory.left = n;
      int r = ask(&o);
      memory.left = -1;
      if (r) {
        CHECK_INT(r, SLP_ENOMEM);
      } else {
        fine = slp_admin_fail(admin)->class == SLP_FINE;
        if (!fine) CHECK_INT(slp_admin_fail(admin)->class, SLP_NOMEM);
        const slp_admin_answer *got = slp_admin_answered(admin);
        CHECK(fine || (!got->leases && !got->explanation));
        CHECK(!fine || got->leases || got->explanation || got->result);
        over();
      }
      end();
      CHECK(n < 300 && (n > 0 || !fine));
    }
  }
}
