/* ddb_refusals.c - requests that no client library would send, and hardly anybody by hand: each is
 * refused by name, with the words that say what is wrong, and changes nothing. */
#include "sandbox_ddb.h"

#define K "'Key':{'k':{'S':'a'}}"
#define INDEX(rest)                                                                                          \
  "'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'},{'AttributeName':'g','AttributeType':'" \
  "S'}],"                                                                                                    \
  "'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'other','KeySchema':[{'AttributeName':'g','"        \
  "KeyType':'"                                                                                               \
  "HASH'}]" rest "}}]"

static const struct {
  const char *operation, *body, *part;
} rows[] = {
    {"BatchGetItem", "{'RequestItems':{'tab':[]}}", "The keys of a table must be in a map"},
    {"BatchWriteItem", "{'RequestItems':{'tab':[7]}}", "A write must be a map"},
    {"BatchWriteItem", "{'RequestItems':{'tab':[]}}", "cannot be null or empty: tab"},
    {"TransactWriteItems", "{'TransactItems':[7]}", "An action must be a map"},
    {"TransactWriteItems",
     "{'TransactItems':[{'Put':{" TAB ",'Item':{'k':{'S':'a'}}},'Delete':{" TAB "," K "}}]}",
     "can only contain one of Check, Put, Update or Delete"},
    {"TransactWriteItems", "{'TransactItems':[{'Update':{" TAB "," K "}}]}", "updateExpression"},
    {"TransactWriteItems", "{'TransactItems':[{'ConditionCheck':{" TAB "," K "}}]}",
     "a ConditionCheck needs a ConditionExpression"},
    {"TransactGetItems", "{'TransactItems':[7]}", "A Get must be a map"},
    {"TransactGetItems", "{'TransactItems':[{'Get':{" TAB "}}]}", "Value null at 'key'"},
    {"TransactWriteItems",
     "{'TransactItems':[{'Delete':{" TAB "," K ",'ReturnValuesOnConditionCheckFailure':'SOME'}}]}",
     "Value 'SOME' at 'returnValuesOnConditionCheckFailure'"},
    {"GetItem", "{" TAB "," K ",'ProjectionExpression':'#a','ExpressionAttributeNames':{}}",
     "ExpressionAttributeNames must not be empty"},
    {"GetItem", "{" TAB "," K ",'ProjectionExpression':'#a','ExpressionAttributeNames':{'#a':7}}",
     "SerializationException"},
    {"GetItem", "{" TAB "," K ",'AttributesToGet':['a','a']}", "Duplicate value in attribute name: a"},
    {"Scan", "{" TAB ",'ScanFilter':{'a':{'AttributeValueList':[{'S':'x'}]}}}",
     "ComparisonOperator must be given for attribute a"},
    {"UpdateItem", "{" TAB "," K ",'AttributeUpdates':{'a':{'Action':'MOVE','Value':{'S':'x'}}}}",
     "Value 'MOVE' at 'action'"},
    {"Scan", "{" TAB ",'Select':'COUNT','ProjectionExpression':'a'}",
     "Cannot specify the ProjectionExpression when choosing to get only the Count"},
    {"Scan", "{" TAB ",'Select':'SPECIFIC_ATTRIBUTES'}",
     "Must specify the AttributesToGet or ProjectionExpression"},
    {"Scan", "{" TAB ",'Select':'ALL_PROJECTED_ATTRIBUTES'}", "only when Querying using an IndexName"},
    {"UpdateTable", "{" TAB "," INDEX(",'Projection':{'ProjectionType':'HALF'}") "}",
     "Unknown ProjectionType: HALF"},
    {"UpdateTable",
     "{" TAB "," INDEX(",'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':[7]}") "}",
     "SerializationException"},
    {"UpdateTable", "{" TAB ",'GlobalSecondaryIndexUpdates':[{}]}",
     "One of Create, Update and Delete must be given"},
    {"UpdateTable", "{" TAB ",'GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'other'}}]}",
     "ResourceNotFoundException"},
};

TEST(each_is_refused_by_name_and_changes_nothing) {
  bench t;
  open_tab(&t, HASH_ONLY);
  put_a(&t, "");
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    const char *got = ddb(&t, rows[i].operation, "%s", rows[i].body);
    if (t.answer.status != 400 || (!strstr(got, rows[i].part) && !strstr(t.answer.error_type, rows[i].part)))
      fprintf(stderr, "%s %s: %d %s\n", rows[i].operation, rows[i].body, t.answer.status, got), exit(1);
    CHECK_STR(item_a(&t), "{'k':{'S':'a'}}");
  }
  bench_close(&t);
}
