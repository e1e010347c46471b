/* source/registry.c: pages of consumers are joined and sorted; a service that never comes to an end is left; one is
 * deregistered by its name, and no other; freed in every state. */
#include "source/registry.h"

#pragma GCC diagnostic ignored "-Wunused-function" /* part of the script is not for this file */
#include "source_script.h"
#include "sloop.h"
#include "source/kinesis_poll.h"

static slp_op_consumer *pending;
static slp_event ask_ev;
static uint32_t pages, pages_most, calls, removed_n;
static int token_moves;
static slp_class refuse;
static slp_ops table;
static slp_registry *registry;

static slp_fail told, removal; /* FINE: it is removed */
static uint32_t removal_tries;

static void on_ask(slp_event *ev) {
  (void)ev;
  slp_op_consumer *op = pending;
  pending = NULL;
  calls++;
  if (refuse != SLP_FINE) {
    slp_fail_set(&op->op.fail, refuse, SLOOP_EREMOTE, "scripted");
  } else if (op->what == SLP_CONSUMER_DEREGISTER && removal.class) {
    op->op.fail = removal;
    op->op.tries = removal_tries;
  } else if (op->what == SLP_CONSUMER_DEREGISTER) {
    CHECK_TEXT(op->name, "c002");
    removed_n++;
  } else {
    CHECK_INT(op->what, SLP_CONSUMER_LIST);
    op->rows_n = 2;
    for (uint32_t i = 0; i < 2; i++) {
      op->rows[i] = (slp_consumer_row){.status = SLP_CONSUMER_ACTIVE, .created_ms = 5};
      snprintf(op->rows[i].name, sizeof op->rows[i].name, "c%03u", 2 * (pages_most - pages) - 1 - i);
    }
    pages++;
    op->ret_next[0] = 0;
    if (pages < pages_most) snprintf(op->ret_next, sizeof op->ret_next, "t%u", token_moves ? pages : 1);
  }
  op->op.on_done(&op->op);
}

static void play(slp_ops *o, slp_op_consumer *op) {
  (void)o;
  CHECK(!pending);
  pending = op;
  slp_post(&f.h, &ask_ev);
}

static void play_cancel(slp_ops *o, slp_op *op) {
  if (pending && op == &pending->op) {
    pending = NULL;
    slp_unpost(&ask_ev);
  } else {
    ops.cancel(o, op);
  }
}

static void on_answer(slp_registry *r, const slp_fail *fail, void *arg) {
  CHECK(r == registry && arg == &done);
  told = *fail;
  done++;
}

static void begin(uint32_t most, int moves, slp_class class, const char *remove) {
  begin_script();
  f.mono_us = 1000000000;
  script((step){.class = SLP_FINE, .arn = "arn:aws:kinesis:us-east-1:000000000000:stream/s"});
  status = SLP_STREAM_ACTIVE;
  table = ops;
  table.consumer = play;
  table.cancel = play_cancel;
  ask_ev.run = on_ask;
  pages = calls = removed_n = 0;
  pages_most = most;
  token_moves = moves;
  refuse = class;
  slp_fail_clear(&removal);
  done = 0;
  CHECK_INT(slp_kinesis_poll_new(&src, &f.h, &table, SLP_STR("s"), SLOOP_AGGREGATES_EXPAND), 0);
  slp_registry_opts o = {
      .h = &f.h, .ops = &table, .source = src, .remove = remove, .on_done = on_answer, .arg = &done};
  CHECK_INT(slp_registry_new(&registry, mem, &o), 0);
  CHECK_INT(done, 0); /* never inside the call */
}

static void end(void) {
  slp_registry_free(registry);
  CHECK(!pending);
  src->ops->close(src);
  fake_end(&f, mem);
}

TEST(pages_are_joined_and_sorted) {
  size_t n;
  begin(70, 1, SLP_FINE, NULL);
  fake_run(&f, 100000000);
  CHECK_INT(done, 1);
  CHECK_INT(told.class, SLP_FINE);
  const slp_consumer_row *rows = slp_registry_rows(registry, &n);
  CHECK_INT(n, 140);
  for (uint32_t i = 0; i < n; i++) CHECK_INT(strtoul(rows[i].name + 1, NULL, 10), i);
  CHECK_INT(calls, 70);
  end();
}

TEST(a_token_that_does_not_move_ends_it) {
  begin(UINT32_MAX, 0, SLP_FINE, NULL);
  fake_run(&f, 100000000);
  CHECK_INT(done, 1);
  CHECK_INT(told.code, SLOOP_EPROTO);
  CHECK(calls < 5);
  end();
}

TEST(one_that_never_ends_is_left) {
  begin(1000000, 1, SLP_FINE, NULL);
  fake_run(&f, 1000000000);
  CHECK_INT(done, 1);
  CHECK_INT(told.code, SLOOP_EPROTO);
  CHECK(calls <= 201);
  end();
}

TEST(a_refusal_is_told) {
  begin(1, 1, SLP_ACCESS, NULL);
  fake_run(&f, 100000000);
  CHECK_INT(done, 1);
  CHECK_INT(told.class, SLP_ACCESS);
  end();
}

TEST(one_is_removed_by_its_name) {
  size_t n;
  begin(3, 1, SLP_FINE, "c002");
  fake_run(&f, 100000000);
  CHECK_INT(told.class, SLP_FINE);
  CHECK_INT(removed_n, 1);
  CHECK_STR(slp_registry_rows(registry, &n)->name, "c002");
  CHECK_INT(n, 1);
  end();
  begin(3, 1, SLP_FINE, "c");
  fake_run(&f, 100000000);
  CHECK_INT(told.code, SLOOP_EREFUSED);
  CHECK(strstr(told.message, "no consumer c is registered; the stream has 6"));
  CHECK_INT(removed_n, 0);
  end();
}

/* What came of a removal is not known when an answer was lost, and is said so. */
TEST(a_removal_without_an_answer_is_told_as_such) {
  begin(3, 1, SLP_FINE, "c002");
  slp_fail_set(&removal, SLP_TRANSIENT, SLOOP_EREMOTE, "reset");
  removal_tries = 3;
  fake_run(&f, 100000000);
  CHECK_STR(told.message, "consumer c002: reset; it may be deregistered or not");
  end();
  for (uint32_t tries = 1; tries < 3; tries++) {
    begin(3, 1, SLP_FINE, "c002");
    slp_fail_set(&removal, SLP_REFUSED, SLOOP_EREFUSED, "not there");
    snprintf(removal.aws_code, sizeof removal.aws_code, "ResourceNotFoundException");
    removal.http_status = 400;
    removal_tries = tries;
    fake_run(&f, 100000000);
    CHECK_STR(told.message, tries == 1 ? "consumer c002: not there"
                                       : "consumer c002: not there; a try that got no answer may have "
                                         "deregistered it");
    end();
  }
}

TEST(freed_while_something_is_out) {
  for (int turns = 0; turns < 12; turns++) {
    begin(40, 1, SLP_FINE, NULL);
    fake_run(&f, (uint64_t)turns * 3000);
    end();
  }
}
