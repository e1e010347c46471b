/* ddb_oom.c - every allocation of a tour through the tables fails once, and from some point on: each
 * call gets an answer or an error of the service's own, all memory comes back, and a change happens whole or
 * not at all. */
#define CHECK_SECONDS 100
#include "sandbox_ddb.h"
#include "scarce.h"

static int ask_one(bench *t, const char *operation, const char *json) {
  const char *said = ddb(t, operation, "%s", json);
  int status = t->answer.status;
  CHECK(status == 200 || status == 400 || status == 500);
  if (status == 500 && t->answer.body.n) CHECK_HAS(said, "InternalServerError");
  if (status == 400) CHECK_LACKS(said, "SerializationException");
  return status == 200;
}

static void check_rows(bench *t) {
  slp_table *tab = slp_table_find(t->box, SLP_STR("tab"));
  size_t items = 0, bytes = 0;
  for (size_t i = 0; tab && i < tab->rows_n; i++) {
    const slp_item *item = slp_row_at(tab->rows[i], INT64_MAX);
    items += item != NULL;
    bytes += item ? slp_item_size(item->value) : 0;
  }
  if (tab) CHECK(items == tab->items && bytes == tab->bytes);
}

#define KEY "'Key':{'k':{'S':'a'},'n':{'N':'1'}}"
static void tour(bench *t, int memory) {
  static const struct {
    const char *operation, *json;
  } calls[] = {
      {"CreateTable", "{" TAB "," DEMAND ",'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_"
                      "AND_OLD_IMAGES'},'AttributeDefinitions':[{"
                      "'AttributeName':'k','AttributeType':'S'},{'AttributeName':'n','AttributeType':'N'},{'"
                      "AttributeName':'g',"
                      "'AttributeType':'S'}],'KeySchema':[{'AttributeName':'k','KeyType':'HASH'},{'"
                      "AttributeName':'n','KeyType':"
                      "'RANGE'}],'GlobalSecondaryIndexes':[{'IndexName':'gsi','KeySchema':[{'AttributeName':'"
                      "g','KeyType':'HASH'}],"
                      "'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':['x']}}]}"},
      {"PutItem",
       "{" TAB ",'Item':{'k':{'S':'a'},'n':{'N':'1'},'g':{'S':'g'},'m':{'M':{'l':{'L':[{'N':'1'}]}}},'s':{"
       "'SS':['a','b']}},'ReturnConsumedCapacity':'INDEXES'}"},
      {"UpdateItem",
       "{" TAB "," KEY ",'UpdateExpression':'SET m.l[3] = :v, y = if_not_exists(y, :v) + :v REMOVE m.l[0] "
       "ADD s :s','ConditionExpression':'attribute_exists(k) AND m.l[0] IN (:v, k)','ReturnValues':"
       "'UPDATED_NEW','ExpressionAttributeValues':{':v':{'N':'1'},':s':{'SS':['c']}}}"},
      {"UpdateItem",
       "{" TAB "," KEY ",'AttributeUpdates':{'y':{'Action':'ADD','Value':{'N':'1'}}},'Expected':{'k':{"
       "'Value':{'S':'a'}}}}"},
      {"DeleteItem", "{" TAB "," KEY ",'ConditionExpression':'attribute_not_exists(k)',"
                     "'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}"},
      {"GetItem", "{" TAB "," KEY ",'ProjectionExpression':'m.l[0], s'}"},
      {"Query",
       "{" TAB
       ",'IndexName':'gsi','KeyConditionExpression':'g = :g','ExpressionAttributeValues':{':g':{'S':'g'"
       "}},'Limit':1}"},
      {"Scan",
       "{" TAB ",'FilterExpression':'size(s) > :v','ExpressionAttributeValues':{':v':{'N':'1'}},'Limit':1}"},
      {"BatchWriteItem",
       "{'RequestItems':{'tab':[{'PutRequest':{'Item':{'k':{'S':'b'},'n':{'N':'1'}}}},{'DeleteRequest'"
       ":{'Key':{'k':{'S':'c'},'n':{'N':'1'}}}}]},'ReturnConsumedCapacity':'TOTAL'}"},
      {"BatchGetItem", "{'RequestItems':{'tab':{'Keys':[{'k':{'S':'b'},'n':{'N':'1'}}]}}}"},
      {"TransactWriteItems",
       "{'ClientRequestToken':'token','TransactItems':[{'Put':{" TAB ",'Item':{'k':{'S':'d'},'n':{"
       "'N':'1'}}}},{'ConditionCheck':{" TAB "," KEY ",'ConditionExpression':'attribute_exists(k)'"
       "}}]}"},
      {"TransactWriteItems",
       "{'TransactItems':[{'Delete':{" TAB "," KEY ",'ConditionExpression':'attribute_not_exists(k)"
       "','ReturnValuesOnConditionCheckFailure':'ALL_OLD'}}]}"},
      {"TransactGetItems", "{'TransactItems':[{'Get':{" TAB "," KEY "}}]}"},
      {"UpdateTimeToLive", "{" TAB ",'TimeToLiveSpecification':{'Enabled':true,'AttributeName':'y'}}"},
      {"DescribeTable", "{" TAB "}"},
      {"UpdateTable", "{" TAB ",'StreamSpecification':{'StreamEnabled':false}}"},
      {"DeleteTable", "{" TAB "}"},
  };
  for (size_t i = 0; i < SLP_COUNT(calls); i++) {
    int done = ask_one(t, calls[i].operation, calls[i].json);
    int refused = strstr(calls[i].json, "attribute_not_exists(k)") != NULL;
    if (memory && done == refused) CHECK_FAIL("%s: %s", calls[i].operation, slp_buf_z(&t->answer.body));
    check_rows(t);
    t->now_ms += 1000;
  }
}

/* 1 when an allocation failed. */
static int run(int64_t fail_at, int for_ever) {
  scarce memory = {.left = fail_at - 1, .once = !for_ever};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  if (!mem) return 1;
  sloop_sandbox_opts_t o = free_opts();
  bench t = {.mem = mem, .now_ms = T0, .box = slp_box_new(mem, &o, 7)};
  if (t.box) {
    slp_buf_init(&t.answer.body, mem, 64u << 20);
    tour(&t, fail_at == 0);
    slp_buf_free(&t.answer.body);
    slp_box_free(t.box);
  }
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return memory.failed > 0;
}

TEST(with_memory_all_goes_well) { run(0, 0); }

TEST(one_allocation_fails) {
  int64_t n = 1;
  while (run(n, 0)) n++;
  CHECK(n > 100);
}

TEST(all_allocations_from_one_on_fail) {
  int64_t n = 1;
  while (run(n, 1)) n++;
  CHECK(n > 100);
}
