/* ddb_query.c - queries and scans, of the table and of its indexes: order, pages, and what is
 * refused. */
#include "sandbox_ddb.h"

#define INDEXED                                                                                              \
  TAB ",'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'},{'AttributeName':'n','"            \
      "AttributeType':'N'},"                                                                                 \
      "{'AttributeName':'g','AttributeType':'S'},{'AttributeName':'h','AttributeType':'B'}],'KeySchema':[{"  \
      "'AttributeName':'k','KeyType':'HASH'},{'AttributeName':'n','KeyType':'RANGE'}],'"                     \
      "GlobalSecondaryIndexes':[{"                                                                           \
      "'IndexName':'gsi','KeySchema':[{'AttributeName':'g','KeyType':'HASH'},{'AttributeName':'h','KeyType'" \
      ":'RANGE'}"                                                                                            \
      "],'Projection':{'ProjectionType':'KEYS_ONLY'}}],'LocalSecondaryIndexes':[{'IndexName':'lsi','"        \
      "KeySchema':[{"                                                                                        \
      "'AttributeName':'k','KeyType':'HASH'},{'AttributeName':'h','KeyType':'RANGE'}],'Projection':{"        \
      "'ProjectionType':'INCLUDE','NonKeyAttributes':['x']}}]"

static void fill(bench *t, int n) {
  for (int i = 0; i < n; i++) {
    ddb(t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},'n':{'N':'%d'},'x':{'N':'%d'},'y':{'S':'y'}%s}}", i,
        i % 3, i % 2 ? ",'g':{'S':'g'},'h':{'B':'AA=='}" : "");
    CHECK_INT(t->answer.status, 200);
  }
}

TEST(pages_go_through_everything_once) {
  bench t;
  open_tab(&t, INDEXED);
  fill(&t, 20);
  for (int limit = 1; limit <= 21; limit += 4) {
    for (int index = 0; index < 3; index++) {
      static const char *const names[] = {"", ",'IndexName':'gsi'", ",'IndexName':'lsi'"};
      char from[300] = "";
      int seen = 0, pages = 0;
      for (;;) {
        const char *page = ddb(&t, "Scan", "{" TAB ",'Limit':%d%s%s}", limit, names[index], from);
        CHECK_INT(t.answer.status, 200);
        seen += atoi(strstr(page, "'Count':") + 8);
        const char *last = strstr(page, "'LastEvaluatedKey':");
        CHECK(++pages < 30);
        if (!last) break;
        const char *end = strstr(last, "}}");
        snprintf(from, sizeof from, ",'ExclusiveStartKey':%.*s", (int)(end + 2 - last - 19), last + 19);
      }
      CHECK_INT(seen, index ? 10 : 20);
    }
  }
  bench_close(&t);
}

#define ASK(t, condition, more)                                                                        \
  ddb((t), "Query",                                                                                    \
      "{" TAB                                                                                          \
      ",'KeyConditionExpression':'%s','ExpressionAttributeValues':{':k':{'S':'a'},':n':{'N':'7'}}%s}", \
      condition, more)

TEST(key_conditions) {
  bench t;
  open_tab(&t, INDEXED);
  fill(&t, 20);
  CHECK_HAS(ASK(&t, "k = :k AND n < :n", ""), "'Count':7,'ScannedCount':7");
  CHECK_HAS(ASK(&t, "n >= :n AND k = :k", ""), "'Count':13,");
  CHECK_HAS(ASK(&t, "k = :k AND n BETWEEN :n AND :n", ""), "'Count':1,");
  CHECK_HAS(ASK(&t, "k = :k AND n = :n", ",'FilterExpression':'x = :n'"), "'Count':0,'ScannedCount':1");
  CHECK_HAS(ASK(&t, "k = :k AND n <= :n", ",'ScanIndexForward':false,'Limit':1"), "'n':{'N':'7'}");
  CHECK_HAS(ASK(&t, "k = :k AND n > :n", ",'Select':'COUNT'"), "{'Count':12,'ScannedCount':12}");
  CHECK_HAS(ASK(&t, "k = :n AND n > :k", ""), "does not match schema type");
  CHECK_HAS(ASK(&t, "k = :k AND begins_with(n, :n)", ""), "Incorrect operand type");
  CHECK_HAS(ASK(&t, "n = :n AND n = :n AND k = :k", ""), "one condition per key");
  CHECK_HAS(ASK(&t, "n = :n", ",'FilterExpression':'x = :k'"), "missed key schema element: k");
  CHECK_HAS(ASK(&t, "k = :k OR n = :n", ""), "Invalid operator used in KeyConditionExpression: OR");
  CHECK_HAS(ASK(&t, "NOT k = :k AND n = :n", ""), "Invalid operator used in KeyConditionExpression: NOT");
  CHECK_HAS(ASK(&t, "k = :k AND n IN (:n)", ""), "Invalid operator used in KeyConditionExpression: IN");
  CHECK_HAS(ASK(&t, ":k = k AND n = :n", ""), "Query key condition not supported");
  CHECK_HAS(ASK(&t, "k = :k AND n = :n", ",'FilterExpression':'n = :n'"), "Primary key attribute: n");
  CHECK_HAS(ASK(&t, "k = :k AND n = :n", ",'ExclusiveStartKey':{'k':{'S':'a'}}"), "starting key is invalid");
  CHECK_HAS(ASK(&t, "k = :k AND n = :n", ",'ExclusiveStartKey':{'k':{'S':'b'},'n':{'N':'7'}}"),
            "outside query boundaries");
  CHECK_HAS(ASK(&t, "k = :k AND n = :n", ",'IndexName':'none'"), "does not have the specified index: none");
  CHECK_HAS(ddb(&t, "Query", "{" TAB "}"), "KeyConditionExpression parameter must be specified");
  bench_close(&t);
}

TEST(an_index_shows_what_it_holds) {
  bench t;
  open_tab(&t, INDEXED);
  fill(&t, 4);
#define OF_INDEX(name, condition, more)                                      \
  ddb(&t, "Query",                                                           \
      "{" TAB ",'IndexName':'" name "','KeyConditionExpression':'" condition \
      "','ExpressionAttributeValues':{':v':{"                                \
      "'S':'%s'}}" more "}",                                                 \
      strchr(condition, 'g') ? "g" : "a")
  const char *got = OF_INDEX("gsi", "g = :v", "");
  CHECK_HAS(got, "'Count':2");
  CHECK_LACKS(got, "'x'");
  got = OF_INDEX("lsi", "k = :v", "");
  CHECK_HAS(got, "'x'");
  CHECK_LACKS(got, "'y'");
  CHECK_HAS(OF_INDEX("lsi", "k = :v", ",'Select':'ALL_ATTRIBUTES','ConsistentRead':true"), "'y':{'S':'y'}");
  CHECK_HAS(OF_INDEX("lsi", "k = :v", ",'ProjectionExpression':'y'"), "{'y':{'S':'y'}}");
  CHECK_HAS(OF_INDEX("gsi", "g = :v", ",'Select':'ALL_ATTRIBUTES'"), "projection type is not ALL");
  CHECK_HAS(OF_INDEX("gsi", "g = :v", ",'ProjectionExpression':'y'"), "does not project");
  CHECK_HAS(OF_INDEX("gsi", "g = :v", ",'ConsistentRead':true"), "not supported on global secondary indexes");
  CHECK_HAS(ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},'n':{'N':'1'},'g':{'N':'1'}}}"),
            "Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi");
  CHECK_HAS(ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},'n':{'N':'1'},'g':{'S':''}}}"),
            "cannot contain an empty string value. IndexName: gsi, IndexKey: g");
  bench_close(&t);
}

TEST(segments_share_the_table) {
  bench t;
  open_tab(&t, HASH_ONLY);
  for (int i = 0; i < 200; i++) ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'%d'}}}", i);
  int sum = 0;
  for (int s = 0; s < 5; s++) {
    int n = occurrences(ddb(&t, "Scan", "{" TAB ",'Segment':%d,'TotalSegments':5}", s), "{'k'");
    CHECK(n > 15 && n < 70);
    sum += n;
  }
  CHECK_INT(sum, 200);
  CHECK_HAS(ddb(&t, "Scan", "{" TAB ",'Segment':5,'TotalSegments':5}"),
            "Segment: 5 is not less than TotalSegments: 5");
  CHECK_HAS(ddb(&t, "Scan", "{" TAB ",'Segment':0}"), "TotalSegments parameter is required");
  bench_close(&t);
}
