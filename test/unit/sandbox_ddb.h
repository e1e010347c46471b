/* sandbox_ddb.h - what the tests of the sandbox's tables share: a box with a table, and calls whose JSON is
 * written with single quotes. */
#ifndef SLP_TEST_SANDBOX_DDB_H
#define SLP_TEST_SANDBOX_DDB_H

#include "sandbox/ddb.h"
#include "sandbox_box.h"

static inline const char *ddb(bench *t, const char *operation, const char *fmt, ...) SLP_PRINTF(3, 4);
static inline const char *ddb(bench *t, const char *operation, const char *fmt, ...) {
  static char body[1 << 20];
  char target[80];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(body, sizeof body, fmt, args);
  va_end(args);
  CHECK(n >= 0 && (size_t)n < sizeof body);
  for (int i = 0; i < n; i++) {
    if (body[i] == '\'') body[i] = '"';
  }
  snprintf(target, sizeof target, "DynamoDB_20120810.%s", operation);
  slp_box_request rq = {.method = SLP_STR("POST"),
                        .path = SLP_STR("/"),
                        .host = SLP_STR("localhost"),
                        .target = slp_str_of(target),
                        .content_type = SLP_STR("application/x-amz-json-1.0"),
                        .body = {body, (size_t)n}};
  slp_buf_clear(&t->answer.body);
  slp_box_handle(t->box, t->now_ms, &rq, &t->answer);
  char *answer = t->answer.body.p;
  slp_buf_z(&t->answer.body);
  for (size_t i = 0; i < t->answer.body.n; i++) {
    if (answer[i] == '"') answer[i] = '\'';
  }
  return slp_buf_z(&t->answer.body);
}

#define TAB "'TableName':'tab'"
#define DEMAND "'BillingMode':'PAY_PER_REQUEST'"
#define HASH_ONLY                                                            \
  TAB ",'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}]," \
      "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}]"
#define HASH_AND_SORT                                                                             \
  TAB ",'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'},{'AttributeName':'n','" \
      "AttributeType':"                                                                           \
      "'N'}],'KeySchema':[{'AttributeName':'k','KeyType':'HASH'},{'AttributeName':'n','KeyType':'RANGE'}]"

static inline void open_tab(bench *t, const char *definition) {
  sloop_sandbox_opts_t o = free_opts();
  bench_open(t, &o);
  const char *made = ddb(t, "CreateTable", "{%s," DEMAND "}", definition);
  if (t->answer.status != 200) CHECK_FAIL("no table: %s", made);
}

/* The item of key `a`, as JSON; "" when it is not there. */
static inline const char *item_a(bench *t) {
  static char text[1 << 16];
  const char *got = ddb(t, "GetItem", "{" TAB ",'Key':{'k':{'S':'a'}},'ConsistentRead':true}");
  const char *from = strstr(got, "{'Item':");
  if (!from) return "";
  snprintf(text, sizeof text, "%s", from + 8);
  text[strlen(text) - 1] = 0;
  return text;
}

static inline void put_a(bench *t, const char *rest) {
  const char *put = ddb(t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'}%s%s}}", rest[0] ? "," : "", rest);
  if (t->answer.status != 200) CHECK_FAIL("no item: %s", put);
}

#endif
