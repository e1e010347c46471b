/* ddb_parse.c - expressions: what is taken, in which order things bind, what is refused and in which
 * words. */
#include "sandbox_ddb.h"

#define VALUES "'ExpressionAttributeValues':{':v':{'S':'x'}}"

static void refused(bench *t, const char *condition, const char *why) {
  const char *said = ddb(t, "DeleteItem",
                         "{" TAB ",'Key':{'k':{'S':'a'}},'ConditionExpression':'%s'," VALUES "}", condition);
  CHECK_INT(t->answer.status, 400);
  CHECK_HAS(said, "com.amazon.coral.validate#ValidationException");
  CHECK_HAS(said, why);
}

TEST(what_is_wrong_is_named) {
  bench t;
  open_tab(&t, HASH_ONLY);
  refused(&t, "", "Invalid ConditionExpression: The expression can not be empty;");
  refused(&t, "a =", "Syntax error; token: \\'<EOF>\\', near: \\'=\\'");
  refused(&t, "a = :v :v", "Syntax error; token: \\':v\\', near: \\':v :v\\'");
  refused(&t, "a ? :v", "Syntax error; token: \\'?\\', near: \\'a ? :v\\'");
  refused(&t, "a = :", "Syntax error; token: \\':\\'");
  refused(&t, "a.b.[1] = :v", "Syntax error");
  refused(&t, "a[x] = :v", "Syntax error; token: \\'x\\'");
  refused(&t, "a[99999999999] = :v", "List index is not within the allowable range");
  refused(&t, ":v", "Syntax error");
  refused(&t, "a = :v OR b", "Syntax error");
  refused(&t, "(a = :v", "<EOF>");
  refused(&t, "a = :v)", "token: \\')\\'");
  refused(&t, "((a = :v))", "redundant parentheses");
  refused(&t, "a IN ()", "Syntax error; token: \\')\\'");
  refused(&t, "NOT a", "Syntax error");
  refused(&t, "Name = :v", "reserved keyword: Name");
  refused(&t, "#q = :v", "not defined; attribute name: #q");
  refused(&t, "a = :q", "not defined; attribute value: :q");
  refused(&t, "attribute_exists(a) = :v", "Syntax error");
  refused(&t, "a = contains(b, :v)", "not allowed to be used this way in an expression; function: contains");
  refused(&t, "Size(a) = :v", "Invalid function name; function: Size");
  refused(&t, "a.b = a.b", "operator: =, first operand: [a, b]");
  bench_close(&t);
}

TEST(long_and_deep_expressions_are_refused) {
  bench t;
  char text[8192];
  size_t n = 0;
  open_tab(&t, HASH_ONLY);
  memset(text, ' ', 4093);
  memcpy(text + 4093, "a=:v", 5);
  refused(&t, text, "expression size: 4097");
  for (int i = 0; i < 150; i++) n += (size_t)snprintf(text + n, sizeof text - n, "a=:v OR ");
  snprintf(text + n, sizeof text - n, "a=:v");
  refused(&t, text, "operators");
  n = 0;
  for (int i = 0; i < 120; i++) n += (size_t)snprintf(text + n, sizeof text - n, "NOT (");
  refused(&t, text, "nested deeper");
  n = 0;
  for (int i = 0; i < 33; i++) n += (size_t)snprintf(text + n, sizeof text - n, "%sa", i ? "." : "");
  snprintf(text + n, sizeof text - n, "=:v");
  refused(&t, text, "nesting level: 33");
  n = (size_t)snprintf(text, sizeof text, "a IN (");
  for (int i = 0; i < 101; i++) n += (size_t)snprintf(text + n, sizeof text - n, "%s:v", i ? "," : "");
  snprintf(text + n, sizeof text - n, ")");
  refused(&t, text, "number of operands: 101");
  bench_close(&t);
}

TEST(names_and_values_must_be_used) {
  bench t;
  open_tab(&t, HASH_ONLY);
#define DELETE_A "{" TAB ",'Key':{'k':{'S':'a'}},"
  CHECK_HAS(ddb(&t, "DeleteItem", DELETE_A "'ConditionExpression':'attribute_not_exists(a)'," VALUES "}"),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}");
  CHECK_HAS(ddb(&t, "DeleteItem", DELETE_A VALUES "}"),
            "ExpressionAttributeValues can only be specified when using expressions");
  CHECK_HAS(
      ddb(&t, "DeleteItem", DELETE_A "'ExpressionAttributeNames':{'n':'x'},'ConditionExpression':'n = :v'}"),
      "ExpressionAttributeNames contains invalid key: Syntax error; key: \\'n\\'");
  CHECK_HAS(
      ddb(&t, "DeleteItem", DELETE_A "'ExpressionAttributeNames':{'#n':''},'ConditionExpression':'#n = :v'}"),
      "1 to 65535 bytes for key #n");
  CHECK_HAS(ddb(&t, "DeleteItem",
                DELETE_A "'ExpressionAttributeValues':{':v':{'N':'x'}},'ConditionExpression':'n = :v'}"),
            "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a "
            "numeric value: x "
            "for key :v");
  bench_close(&t);
}

/* AND binds closer than OR, NOT closer than both: seen by what holds for an item without attributes. */
TEST(operators_bind_as_they_must) {
  static const struct {
    const char *text;
    int holds;
  } cases[] = {{"attribute_exists(k) OR attribute_exists(a) AND attribute_exists(a)", 1},
               {"(attribute_exists(k) OR attribute_exists(a)) AND attribute_exists(a)", 0},
               {"NOT attribute_exists(a) AND attribute_exists(k)", 1},
               {"NOT attribute_exists(k) OR attribute_exists(k)", 1},
               {"NOT (attribute_exists(k) OR attribute_exists(k))", 0},
               {"not attribute_exists(a) and NoT attribute_exists(b)", 1},
               {"NOT NOT NOT attribute_exists(k)", 0},
               {"(k) = :v OR k <> (:v)", 1},
               {"k BETWEEN :v AND :v AND attribute_exists(k) OR attribute_exists(k)", 1}};
  bench t;
  open_tab(&t, HASH_ONLY);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    int uses = strstr(cases[i].text, ":v") != NULL;
    put_a(&t, "");
    ddb(&t, "DeleteItem", DELETE_A "'ConditionExpression':'%s'%s}", cases[i].text, uses ? "," VALUES : "");
    if ((t.answer.status == 200) != cases[i].holds) CHECK_FAIL("%s: %d", cases[i].text, t.answer.status);
  }
  bench_close(&t);
}
