/* ddb_legacy.c - Expected, AttributeUpdates, KeyConditions and filters of before expressions. */
#include "sandbox_ddb.h"

TEST(expectations) {
  static const struct {
    const char *expected;
    int holds;
  } cases[] = {
      {"{'o':{'Value':{'S':'me'}}}", 1},
      {"{'o':{'Value':{'S':'me'},'Exists':true}}", 1},
      {"{'o':{'Value':{'S':'you'},'Exists':true}}", 0},
      {"{'o':{'Exists':false}}", 0},
      {"{'gone':{'Exists':false}}", 1},
      {"{'o':{'Value':{'S':'me'}},'v':{'Value':{'N':'2'}}}", 0},
      {"{'v':{'ComparisonOperator':'BETWEEN','AttributeValueList':[{'N':'0'},{'N':'3'}]}}", 1},
      {"{'v':{'ComparisonOperator':'IN','AttributeValueList':[{'N':'0'},{'N':'1'}]}}", 1},
      {"{'v':{'ComparisonOperator':'LT','AttributeValueList':[{'N':'1'}]}}", 0},
      {"{'v':{'ComparisonOperator':'LE','Value':{'N':'1'}}}", 1},
      {"{'s':{'ComparisonOperator':'CONTAINS','AttributeValueList':[{'S':'x'}]}}", 1},
      {"{'s':{'ComparisonOperator':'NOT_CONTAINS','AttributeValueList':[{'S':'x'}]}}", 0},
      {"{'o':{'ComparisonOperator':'BEGINS_WITH','AttributeValueList':[{'S':'m'}]}}", 1},
      {"{'o':{'ComparisonOperator':'NOT_NULL'},'gone':{'ComparisonOperator':'NULL'}}", 1},
      {"{'o':{'ComparisonOperator':'NE','AttributeValueList':[{'S':'me'}]}}", 0},
  };
  bench t;
  open_tab(&t, HASH_ONLY);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    put_a(&t, "'o':{'S':'me'},'v':{'N':'1'},'s':{'SS':['x']}");
    const char *said =
        ddb(&t, "DeleteItem", "{" TAB ",'Key':{'k':{'S':'a'}},'Expected':%s}", cases[i].expected);
    if ((t.answer.status == 200) != cases[i].holds) CHECK_FAIL("%s: %s", cases[i].expected, said);
    if (!cases[i].holds) CHECK_HAS(said, "ConditionalCheckFailedException");
  }
  put_a(&t, "'v':{'N':'1'}");
#define EXPECT(what) ddb(&t, "DeleteItem", "{" TAB ",'Key':{'k':{'S':'a'}},'Expected':{'v':" what "}}")
  CHECK_HAS(EXPECT("{'Exists':true}"), "Value must be provided when Exists is true for Attribute: v");
  CHECK_HAS(EXPECT("{'Exists':false,'Value':{'N':'1'}}"), "Value cannot be used when Exists is false");
  CHECK_HAS(EXPECT("{'Exists':false,'ComparisonOperator':'NULL'}"), "cannot be used together");
  CHECK_HAS(EXPECT("{'ComparisonOperator':'EQ'}"), "Invalid number of argument(s) for the EQ");
  CHECK_HAS(EXPECT("{'ComparisonOperator':'SAME'}"), "enum value set");
  bench_close(&t);
}

TEST(updates_of_attributes) {
  bench t;
  open_tab(&t, HASH_ONLY);
#define CHANGE(what) ddb(&t, "UpdateItem", "{" TAB ",'Key':{'k':{'S':'a'}},'AttributeUpdates':{" what "}}")
  put_a(&t, "'v':{'N':'1'},'s':{'SS':['x','y']},'o':{'S':'me'},'l':{'L':[]}");
  CHECK_STR(
      CHANGE(
          "'v':{'Action':'ADD','Value':{'N':'2'}},'s':{'Action':'DELETE','Value':{'SS':['x']}},'o':{'Action':"
          "'DELETE'},'p':{'Value':{'S':'put'}},'l':{'Action':'ADD','Value':{'L':[{'N':'1'}]}}"),
      "{}");
  CHECK_STR(item_a(&t),
            "{'k':{'S':'a'},'l':{'L':[{'N':'1'}]},'p':{'S':'put'},'s':{'SS':['y']},'v':{'N':'3'}}");
  CHECK_HAS(CHANGE("'v':{'Action':'PUT'}"),
            "Only DELETE action is allowed when no attribute value is specified");
  CHECK_HAS(CHANGE("'v':{'Action':'ADD','Value':{'S':'x'}}"), "Action ADD is not supported for the type S");
  CHECK_HAS(CHANGE("'v':{'Action':'DELETE','Value':{'N':'1'}}"),
            "Action DELETE is not supported for the type N");
  CHECK_HAS(CHANGE("'k':{'Value':{'S':'x'}}"), "This attribute is part of the key");
  CHECK_HAS(ddb(&t, "UpdateItem",
                "{" TAB ",'Key':{'k':{'S':'a'}},'AttributeUpdates':{},'UpdateExpression':'REMOVE v'}"),
            "Can not use both expression and non-expression parameters");
  CHECK_HAS(ddb(&t, "Query",
                "{" TAB ",'KeyConditions':{'k':{'ComparisonOperator':'EQ','AttributeValueList':[{'S':'a'}]}},"
                "'QueryFilter':{'v':{'ComparisonOperator':'EQ','AttributeValueList':[{'N':'3'}]}},"
                "'AttributesToGet':['v']}"),
            "{'Items':[{'v':{'N':'3'}}],'Count':1");
  bench_close(&t);
}
