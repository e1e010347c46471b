/* ddb_cost.c - what operations cost, and what a provisioned table pays with. */
#include "cpu.h"
#include "sandbox_ddb.h"

#define COSTS ",'ReturnConsumedCapacity':'TOTAL'"
#define UNITS(n) "'CapacityUnits':" n "}"

static const char *text(size_t n) {
  static char x[1 << 19];
  memset(x, 'x', n);
  x[n] = 0;
  return x;
}

TEST(units_by_size) {
  bench t;
  open_tab(&t, HASH_ONLY);
  /* k and a are 2 bytes, x is one: 1021 more fill the first kilobyte */
  CHECK_HAS(ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},'x':{'S':'%s'}}" COSTS "}", text(1021)),
            UNITS("1.0"));
  CHECK_HAS(ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},'x':{'S':'%s'}}" COSTS "}", text(1022)),
            UNITS("2.0"));
  CHECK_HAS(ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'}}" COSTS "}"),
            UNITS("2.0")); /* the larger image */
  CHECK_HAS(ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'}}" COSTS "}"), UNITS("1.0"));
  ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},'x':{'S':'%s'}}}", text(4093));
#define GET "{" TAB ",'Key':{'k':{'S':'a'}}" COSTS
  CHECK_HAS(ddb(&t, "GetItem", GET "}"), UNITS("0.5"));
  CHECK_HAS(ddb(&t, "GetItem", GET ",'ConsistentRead':true}"), UNITS("1.0"));
  ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},'x':{'S':'%s'}}}", text(4094));
  CHECK_HAS(ddb(&t, "GetItem", GET ",'ConsistentRead':true,'ProjectionExpression':'k'}"), UNITS("2.0"));
  CHECK_HAS(ddb(&t, "Scan", "{" TAB COSTS ",'FilterExpression':'attribute_not_exists(x)'}"), UNITS("1.0"));
  CHECK_HAS(ddb(&t, "DeleteItem", "{" TAB ",'Key':{'k':{'S':'a'}}" COSTS "}"), UNITS("5.0"));
  CHECK_HAS(ddb(&t, "DeleteItem", "{" TAB ",'Key':{'k':{'S':'a'}}" COSTS "}"), UNITS("1.0"));
  bench_close(&t);
}

/* 300 seconds are saved; a failed condition costs what the item would. */
TEST(a_provisioned_table_throttles) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  ddb(&t, "CreateTable",
      "{" HASH_ONLY ",'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':2}}");
  CHECK_INT(t.answer.status, 200);
  for (int i = 0; i < 600; i++) {
    ddb(&t, "DeleteItem", "{" TAB ",'Key':{'k':{'S':'a'}},'ConditionExpression':'attribute_exists(k)'}");
    CHECK_HAS(slp_buf_z(&t.answer.body), "ConditionalCheckFailedException");
  }
  const char *no =
      ddb(&t, "DeleteItem", "{" TAB ",'Key':{'k':{'S':'a'}},'ConditionExpression':'attribute_exists(k)'}");
  CHECK_HAS(no, "ProvisionedThroughputExceededException");
  CHECK_HAS(no,
            "'ThrottlingReasons':[{'reason':'TableWriteProvisionedThroughputExceeded','resource':'arn:aws:"
            "dynamodb:");
  t.now_ms += 1000; /* two units */
  for (int i = 0; i < 3; i++) {
    ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'}}}");
    CHECK_INT(t.answer.status, i < 2 ? 200 : 400);
  }
  for (int i = 0; i < 600; i++) {
    ddb(&t, "GetItem", "{" TAB ",'Key':{'k':{'S':'a'}}}");
    CHECK_INT(t.answer.status, 200);
  }
  CHECK_HAS(ddb(&t, "GetItem", "{" TAB ",'Key':{'k':{'S':'a'}}}"), "TableReadProvisionedThroughputExceeded");
  t.now_ms += 3600 * 1000; /* more than 300 seconds are not saved */
  for (int i = 0; i < 600; i++) ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},'x':{'N':'%d'}}}", i);
  CHECK_INT(t.answer.status, 200);
  ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'}}}");
  CHECK_INT(t.answer.status, 400);
  bench_close(&t);
}

/* The CPU time of so many reads, each of a key that nobody has asked for. */
static uint64_t new_keys_us(bench *t, int n) {
  static int next;
  uint64_t from = cpu_us();
  for (int i = 0; i < n; i++) {
    ddb(t, "GetItem", "{" TAB ",'Key':{'k':{'S':'key %d'}}}", next++);
    CHECK_INT(t->answer.status, 200);
  }
  return cpu_us() - from;
}

/* Each of them has units of its own, which are counted. */
TEST(many_keys_in_one_second_cost_no_more_each) {
  bench t;
  open_tab(&t, HASH_ONLY);
  uint64_t few = new_keys_us(&t, 4000);
  new_keys_us(&t, 60000);
  uint64_t many = new_keys_us(&t, 4000);
  if (many > 6 * few)
    CHECK_FAIL("%llu us with few, %llu us with many", (unsigned long long)few, (unsigned long long)many);
  size_t live = slp_table_find(t.box, SLP_STR("tab"))->keys.live;
  t.now_ms += 2000; /* all are quiet, and not kept for ever */
  new_keys_us(&t, 100000);
  CHECK(live >= 68000 && slp_table_find(t.box, SLP_STR("tab"))->keys.live < 168000);
  bench_close(&t);
}
