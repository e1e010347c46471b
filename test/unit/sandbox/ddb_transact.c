/* ddb_transact.c - transactions and batches: all or nothing, each for itself, once for a token. */
#include "sandbox_ddb.h"

#define PUT_B "{'Put':{" TAB ",'Item':{'k':{'S':'b'}},'ConditionExpression':'attribute_not_exists(k)'}}"
#define ADD_A       \
  "{'Update':{" TAB \
  ",'Key':{'k':{'S':'a'}},'UpdateExpression':'ADD v :v','ExpressionAttributeValues':{':v':{'N':'1'}}}}"

TEST(all_or_nothing) {
  bench t;
  open_tab(&t, HASH_ONLY);
  CHECK_STR(ddb(&t, "TransactWriteItems", "{'TransactItems':[" ADD_A "," PUT_B "]}"), "{}");
  CHECK_STR(item_a(&t), "{'k':{'S':'a'},'v':{'N':'1'}}");
  const char *no = ddb(&t, "TransactWriteItems", "{'TransactItems':[" ADD_A "," PUT_B "]}");
  CHECK_HAS(no,
            "#TransactionCanceledException','Message':'Transaction cancelled, please refer cancellation "
            "reasons for "
            "specific reasons [None, ConditionalCheckFailed]','CancellationReasons':[{'Code':'None'},{'Code':"
            "'ConditionalCheckFailed','Message':'The conditional request failed'}]}");
  CHECK_STR(item_a(&t), "{'k':{'S':'a'},'v':{'N':'1'}}");
  CHECK_HAS(ddb(&t, "TransactWriteItems", "{'TransactItems':[" ADD_A "," ADD_A "]}"),
            "multiple operations on one item");
  CHECK_HAS(ddb(&t, "TransactWriteItems", "{'TransactItems':[{}]}"), "Invalid Request");
  CHECK_HAS(ddb(&t, "TransactWriteItems", "{'TransactItems':[]}"), "transactItems");
  CHECK_HAS(ddb(&t, "TransactGetItems",
                "{'TransactItems':[{'Get':{" TAB ",'Key':{'k':{'S':'a'}},'ProjectionExpression':'v'}}"
                ",{'Get':{" TAB ",'Key':{'k':{'S':'none'}}}}],'ReturnConsumedCapacity':'TOTAL'}"),
            "'Responses':[{'Item':{'v':{'N':'1'}}},{}]");
  CHECK_HAS(slp_buf_z(&t.answer.body), "'CapacityUnits':4.0,'ReadCapacityUnits':4.0");
  bench_close(&t);
}

TEST(a_token_counts_for_ten_minutes) {
  bench t;
  open_tab(&t, HASH_ONLY);
#define WITH_TOKEN "{'TransactItems':[" ADD_A "],'ClientRequestToken':'t1'}"
  for (int i = 0; i < 3; i++) CHECK_STR(ddb(&t, "TransactWriteItems", WITH_TOKEN), "{}");
  CHECK_STR(item_a(&t), "{'k':{'S':'a'},'v':{'N':'1'}}");
  CHECK_HAS(ddb(&t, "TransactWriteItems", "{'TransactItems':[" PUT_B "],'ClientRequestToken':'t1'}"),
            "IdempotentParameterMismatchException");
  t.now_ms += 599999;
  ddb(&t, "TransactWriteItems", WITH_TOKEN);
  CHECK_STR(item_a(&t), "{'k':{'S':'a'},'v':{'N':'1'}}");
  t.now_ms += 1;
  ddb(&t, "TransactWriteItems", WITH_TOKEN);
  CHECK_STR(item_a(&t), "{'k':{'S':'a'},'v':{'N':'2'}}");
  bench_close(&t);
}

TEST(a_provisioned_table_takes_part_of_a_batch) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  ddb(&t, "CreateTable",
      "{" HASH_ONLY ",'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1}}");
  for (int i = 0; i < 298; i++) put_a(&t, "");
#define PUT(key) "{'PutRequest':{'Item':{'k':{'S':'" key "'}}}}"
  CHECK_STR(ddb(&t, "BatchWriteItem",
                "{'RequestItems':{'tab':[" PUT("b") "," PUT("c") "," PUT("d") "," PUT("e") "]}}"),
            "{'UnprocessedItems':{'tab':[" PUT("d") "," PUT("e") "]}}");
  CHECK_HAS(ddb(&t, "BatchWriteItem", "{'RequestItems':{'tab':[" PUT("d") "]}}"),
            "ProvisionedThroughputExceededException");
  const char *no = ddb(&t, "TransactWriteItems", "{'TransactItems':[" ADD_A "]}");
  CHECK_HAS(no, "[ProvisionedThroughputExceeded]");
  CHECK_HAS(ddb(&t, "BatchGetItem", "{'RequestItems':{'tab':{'Keys':[{'k':{'S':'b'}},{'k':{'S':'d'}}]}}}"),
            "'Responses':{'tab':[{'k':{'S':'b'}}]},'UnprocessedKeys':{}");
  bench_close(&t);
}
