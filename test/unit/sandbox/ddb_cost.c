/* ddb_cost.c - what operations cost, and what a provisioned table pays with. */
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
