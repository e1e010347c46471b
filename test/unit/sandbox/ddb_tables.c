/* ddb_tables.c - tables come, change and go in their time; only active ones serve. */
#include "sandbox_ddb.h"

static void open_slow(bench *t) {
  sloop_sandbox_opts_t o = free_opts();
  o.change_ms = 100;
  bench_open(t, &o);
  CHECK_HAS(ddb(t, "CreateTable", "{" HASH_ONLY "," DEMAND ",'DeletionProtectionEnabled':true}"),
            "'CREATING'");
}

TEST(states_take_their_time) {
  bench t;
  open_slow(&t);
  CHECK_HAS(ddb(&t, "Scan", "{" TAB "}"), "Requested resource not found");
  CHECK_HAS(ddb(&t, "CreateTable", "{" HASH_ONLY "," DEMAND "}"), "Table already exists: tab");
  CHECK_HAS(ddb(&t, "DeleteTable", "{" TAB "}"), "Table is being created: tab");
  t.now_ms += 99;
  CHECK_HAS(ddb(&t, "DescribeTable", "{" TAB "}"), "'TableStatus':'CREATING'");
  t.now_ms += 1;
  CHECK_HAS(ddb(&t, "DescribeTable", "{" TAB "}"), "'TableStatus':'ACTIVE'");
  put_a(&t, "");
  CHECK_HAS(ddb(&t, "DescribeTable", "{'TableName':'arn:aws:dynamodb:us-east-1:000000000000:table/tab'}"),
            "'ItemCount':1");
  CHECK_HAS(ddb(&t, "DeleteTable", "{" TAB "}"), "protected against deletion");
  CHECK_HAS(ddb(&t, "UpdateTable", "{" TAB "}"), "At least one of");
  CHECK_HAS(ddb(&t, "UpdateTable", "{" TAB ",'DeletionProtectionEnabled':false}"), "'UPDATING'");
  CHECK_STR(item_a(&t), "{'k':{'S':'a'}}");
  CHECK_HAS(ddb(&t, "UpdateTable", "{" TAB ",'DeletionProtectionEnabled':true}"),
            "Table is being updated: tab");
  t.now_ms += 100;
  CHECK_HAS(ddb(&t, "DeleteTable", "{" TAB "}"), "'DELETING'");
  CHECK_HAS(ddb(&t, "Scan", "{" TAB "}"), "ResourceNotFoundException");
  CHECK_HAS(ddb(&t, "DeleteTable", "{" TAB "}"), "Table is being deleted: tab");
  t.now_ms += 100;
  CHECK_HAS(ddb(&t, "DescribeTable", "{" TAB "}"), "Requested resource not found: Table: tab not found");
  bench_close(&t);
}

TEST(throughput_and_billing) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
#define UNITS(r, w) "'ProvisionedThroughput':{'ReadCapacityUnits':" #r ",'WriteCapacityUnits':" #w "}"
  CHECK_HAS(ddb(&t, "CreateTable", "{" HASH_ONLY "}"),
            "must both be specified when BillingMode is PROVISIONED");
  CHECK_HAS(ddb(&t, "CreateTable", "{" HASH_ONLY "," UNITS(0, 1) "}"), "greater than or equal to 1");
  CHECK_HAS(ddb(&t, "CreateTable", "{" HASH_ONLY "," DEMAND "," UNITS(1, 1) "}"), "PAY_PER_REQUEST");
  CHECK_HAS(ddb(&t, "CreateTable", "{" HASH_ONLY "," UNITS(3, 4) "}"),
            "'ReadCapacityUnits':3,'WriteCapacityUnits':4");
  CHECK_HAS(ddb(&t, "UpdateTable", "{" TAB "," UNITS(5, 6) "}"),
            "'ReadCapacityUnits':5,'WriteCapacityUnits':6");
  CHECK_HAS(ddb(&t, "UpdateTable", "{" TAB "," DEMAND "}"), "'BillingMode':'PAY_PER_REQUEST'");
  bench_close(&t);
}

TEST(definitions_are_checked) {
  static const char *const cases[][2] = {
      {"'TableName':'x'", "Member must have length greater than or equal to 3"},
      {"'TableName':'x y z'", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"},
      {TAB ",'AttributeDefinitions':[],'KeySchema':[]", "keySchema"},
      {TAB ",'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'X'}],'KeySchema':[]",
       "enum value set: [B, N, S]"},
      {TAB ",'AttributeDefinitions':[],'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}]",
       "not defined in AttributeDefinitions"},
      {TAB ",'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}],'KeySchema':[{'AttributeName'"
           ":'k',"
           "'KeyType':'HASH'},{'AttributeName':'k','KeyType':'RANGE'}]",
       "have the same name"},
      {HASH_ONLY ",'LocalSecondaryIndexes':[{'IndexName':'abc'}]", "does not have a range key"},
      {HASH_ONLY ",'GlobalSecondaryIndexes':[{'IndexName':'a'}]", "Invalid table/index name"},
      {HASH_ONLY
       ",'GlobalSecondaryIndexes':[{'IndexName':'abc','KeySchema':[{'AttributeName':'k','KeyType':'HASH'}]}]",
       "must have a projection"},
      {HASH_ONLY
       ",'GlobalSecondaryIndexes':[{'IndexName':'abc','KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],"
       "'Projection':{'ProjectionType':'INCLUDE'}}]",
       "NonKeyAttributes is not specified"},
      {HASH_ONLY ",'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'ALL'}",
       "enum value set: [NEW_IMAGE"},
      {HASH_ONLY ",'StreamSpecification':{'StreamEnabled':false,'StreamViewType':'NEW_IMAGE'}",
       "not being stream enabled"},
  };
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    CHECK_HAS(ddb(&t, "CreateTable", "{%s," DEMAND "}", cases[i][0]), cases[i][1]);
    CHECK_HAS(slp_buf_z(&t.answer.body), "ValidationException");
  }
  CHECK_STR(ddb(&t, "ListTables", "{}"), "{'TableNames':[]}");
  bench_close(&t);
}
