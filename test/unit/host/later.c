/* later.c - ops that are answered in a later turn: never at once, one in each event, and not after a cancel. */
#include "host/later.h"

#include "aws_fake_host.h"
#include "host/op.h"

enum { OPS = 4 };

static fake_host f;
static slp_later later;
static slp_op ops[OPS];
static char trace[16];
static size_t trace_n;
static slp_op *adds; /* on_done of ops[0] adds this one */

static void on_done(slp_op *op) {
  CHECK(op->impl == NULL);
  CHECK(!slp_later_has(&later, op));
  trace[trace_n++] = (char)('0' + (op - ops));
  if (op == &ops[0] && adds) slp_later_add(&later, adds);
}

static slp_mem *begin(void) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  slp_later_init(&later, &f.h);
  memset(trace, 0, sizeof trace);
  trace_n = 0;
  adds = NULL;
  for (int i = 0; i < OPS; i++) ops[i] = (slp_op){.on_done = on_done};
  return mem;
}

static void end(slp_mem *mem) {
  slp_later_end(&later);
  fake_end(&f, mem);
}

TEST(answered_once_and_never_at_once) {
  slp_mem *mem = begin();
  for (int i = 0; i < 3; i++) slp_later_add(&later, &ops[i]);
  CHECK_STR(trace, "");
  for (int i = 0; i < OPS; i++) CHECK_INT(slp_later_has(&later, &ops[i]), i < 3);
  fake_run(&f, 1000);
  CHECK_STR(trace, "210");
  end(mem);
}

TEST(a_cancelled_one_is_not_answered_wherever_it_stands) {
  for (int which = 0; which < 3; which++) {
    static const char *const rest[] = {"21", "20", "10"};
    slp_mem *mem = begin();
    for (int i = 0; i < 3; i++) slp_later_add(&later, &ops[i]);
    CHECK_INT(slp_later_cancel(&later, &ops[which]), 1);
    CHECK_INT(slp_later_cancel(&later, &ops[which]), 0);
    CHECK_INT(slp_later_cancel(&later, &ops[3]), 0);
    fake_run(&f, 1000);
    CHECK_STR(trace, rest[which]);
    end(mem);
  }
}

TEST(all_cancelled_and_the_event_finds_nothing) {
  slp_mem *mem = begin();
  slp_later_add(&later, &ops[0]);
  CHECK_INT(slp_later_cancel(&later, &ops[0]), 1);
  fake_run(&f, 1000);
  CHECK_STR(trace, "");
  end(mem);
}

TEST(one_that_is_added_by_an_answer_is_answered_too) {
  slp_mem *mem = begin();
  adds = &ops[3];
  slp_later_add(&later, &ops[0]);
  fake_run(&f, 1000);
  CHECK_STR(trace, "03");
  end(mem);
}
