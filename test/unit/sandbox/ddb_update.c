/* ddb_update.c - updates: every action sees the item as it was; lists shift only afterwards. */
#include "sandbox_ddb.h"

#define UPDATE "{" TAB ",'Key':{'k':{'S':'a'}},'UpdateExpression':'%s'%s}"

static void becomes(bench *t, const char *before, const char *update, const char *value, const char *after) {
  char values[600] = "", want[600];
  if (value[0]) snprintf(values, sizeof values, ",'ExpressionAttributeValues':{%s}", value);
  put_a(t, before);
  const char *said = ddb(t, "UpdateItem", UPDATE, update, values);
  if (t->answer.status != 200) CHECK_FAIL("%s: %s", update, said);
  snprintf(want, sizeof want, "{%s}", after);
  CHECK_STR(item_a(t), want);
}

TEST(actions) {
  bench t;
  open_tab(&t, HASH_ONLY);
#define NUMBER "':n':{'N':'2'}"
  becomes(&t, "", "SET z = :n", NUMBER, "'k':{'S':'a'},'z':{'N':'2'}");
  becomes(&t, "'x':{'N':'1'},'y':{'N':'5'}", "SET x = y, y = x", "",
          "'k':{'S':'a'},'x':{'N':'5'},'y':{'N':'1'}");
  becomes(&t, "'x':{'N':'1'}", "SET x = x + :n", NUMBER, "'k':{'S':'a'},'x':{'N':'3'}");
  becomes(&t, "'x':{'N':'1'}", "SET y = :n - x", NUMBER, "'k':{'S':'a'},'x':{'N':'1'},'y':{'N':'1'}");
  becomes(&t, "", "SET x = if_not_exists(x, :n) + :n", NUMBER, "'k':{'S':'a'},'x':{'N':'4'}");
  becomes(&t, "'l':{'L':[{'N':'1'}]}", "SET l = list_append(:l, l)", "':l':{'L':[{'N':'0'}]}",
          "'k':{'S':'a'},'l':{'L':[{'N':'0'},{'N':'1'}]}");
  becomes(&t, "'l':{'L':[{'N':'1'},{'N':'2'},{'N':'3'}]}", "REMOVE l[0], l[1], l[9]", "",
          "'k':{'S':'a'},'l':{'L':[{'N':'3'}]}");
  becomes(&t, "'l':{'L':[{'N':'1'},{'N':'2'}]}", "SET l[9] = :n, l[5] = :m, l[0] = :o REMOVE l[1]",
          NUMBER ",':m':{'S':'m'},':o':{'S':'o'}", "'k':{'S':'a'},'l':{'L':[{'S':'o'},{'S':'m'},{'N':'2'}]}");
  becomes(&t, "'m':{'M':{'b':{'N':'1'},'a':{'M':{}}}}", "SET m.a.c = m.b REMOVE m.b", "",
          "'k':{'S':'a'},'m':{'M':{'a':{'M':{'c':{'N':'1'}}}}}");
  becomes(&t, "'x':{'N':'1'},'s':{'SS':['b']}", "ADD x :n, y :n, s :s", NUMBER ",':s':{'SS':['b','a']}",
          "'k':{'S':'a'},'s':{'SS':['a','b']},'x':{'N':'3'},'y':{'N':'2'}");
  becomes(&t, "'s':{'NS':['1','2']},'u':{'NS':['2']}", "DELETE s :s, u :s, gone :s",
          "':s':{'NS':['2.0','7']}", "'k':{'S':'a'},'s':{'NS':['1']}");
  becomes(&t, "'x':{'N':'1'}", "REMOVE gone, x", "", "'k':{'S':'a'}");
  bench_close(&t);
}

TEST(what_can_not_be_done_leaves_the_item) {
  static const char *const cases[][2] = {
      {"SET x = gone, y = :n", "refers to an attribute that does not exist in the item"},
      {"SET y = s + :n", "An operand in the update expression has an incorrect data type"},
      {"SET y = list_append(s, s), x = :n", "An operand in the update expression has an incorrect data type"},
      {"ADD s :n", "An operand in the update expression has an incorrect data type"},
      {"SET gone.x = :n", "The document path provided in the update expression is invalid for update"},
      {"SET s.x = :n", "The document path provided in the update expression is invalid for update"},
      {"SET s[0] = :n", "The document path provided in the update expression is invalid for update"},
      {"SET y = :n REMOVE gone.x",
       "The document path provided in the update expression is invalid for update"},
      {"SET k = :n", "Cannot update attribute k. This attribute is part of the key"},
      {"SET y = :n, y.z = :n", "path one: [y], path two: [y, z]"},
      {"SET y[0] = :n, y.z = :n", "conflict with each other"},
      {"SET y = :n SET z = :n", "The \\'SET\\' section can only be used once"},
      {"SET y = :n + big", "Attempting to store more than 38 significant digits in a Number"},
  };
  bench t;
  open_tab(&t, HASH_ONLY);
  put_a(&t, "'s':{'S':'x'},'big':{'N':'1e100'}");
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    CHECK_HAS(ddb(&t, "UpdateItem", UPDATE, cases[i][0], ",'ExpressionAttributeValues':{" NUMBER "}"),
              cases[i][1]);
    CHECK_HAS(item_a(&t), "'k':{'S':'a'},'s':{'S':'x'}}");
  }
  bench_close(&t);
}

TEST(an_update_makes_the_item_that_is_not_there) {
  bench t;
  open_tab(&t, HASH_ONLY);
  CHECK_STR(ddb(&t, "UpdateItem", "{" TAB ",'Key':{'k':{'S':'a'}}}"), "{}");
  CHECK_STR(item_a(&t), "{'k':{'S':'a'}}");
  CHECK_STR(ddb(&t, "UpdateItem",
                "{" TAB ",'Key':{'k':{'S':'b'}},'UpdateExpression':'SET m = :n','ReturnValues':'UPDATED_NEW',"
                "'ExpressionAttributeValues':{" NUMBER "}}"),
            "{'Attributes':{'m':{'N':'2'}}}");
  CHECK_STR(ddb(&t, "UpdateItem",
                "{" TAB ",'Key':{'k':{'S':'b'}},'UpdateExpression':'ADD m :n','ReturnValues':'UPDATED_OLD',"
                "'ExpressionAttributeValues':{" NUMBER "}}"),
            "{'Attributes':{'m':{'N':'2'}}}");
  bench_close(&t);
}
