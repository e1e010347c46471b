/* ddb_eval.c - comparisons and functions over every type, and projections. */
#include "sandbox_ddb.h"

#define ITEM                                                                                                 \
  "'s':{'S':'abc'},'i':{'N':'10'},'b':{'B':'AAEC'},'t':{'BOOL':true},'z':{'NULL':true},'ss':{'SS':['x','y']" \
  "},"                                                                                                       \
  "'ns':{'NS':['1','2']},'l':{'L':[{'N':'1'},{'S':'x'},{'M':{'d':{'S':'deep'}}}]},'m':{'M':{'d':{'N':'5'},'" \
  "e':{"                                                                                                     \
  "'L':[]}}}"

static int holds(bench *t, const char *condition, const char *value) {
  const char *said = ddb(t, "Scan", "{" TAB ",'FilterExpression':'%s'%s%s%s}", condition,
                         value[0] ? ",'ExpressionAttributeValues':{':v':" : "", value, value[0] ? "}" : "");
  if (t->answer.status != 200) CHECK_FAIL("%s: %s", condition, said);
  return strstr(said, "'Count':1") != NULL;
}

TEST(conditions_over_all_types) {
  static const struct {
    const char *text, *value;
    int holds;
  } cases[] = {
      {"s = :v", "{'S':'abc'}", 1},
      {"s = :v", "{'B':'YWJj'}", 0},
      {"s < :v", "{'S':'abd'}", 1},
      {"s < :v", "{'S':'ab'}", 0},
      {"s >= :v", "{'N':'1'}", 0},
      {"s <> :v", "{'N':'1'}", 1},
      {"gone <> :v", "{'N':'1'}", 1},
      {"gone = :v", "{'N':'1'}", 0},
      {"gone < :v", "{'N':'1'}", 0},
      {"i = :v", "{'N':'1e1'}", 1},
      {"i > :v", "{'N':'9'}", 1},
      {"i > :v", "{'N':'9.99999999999999999999'}", 1},
      {"b > :v", "{'B':'AAE='}", 1},
      {"t = :v", "{'BOOL':true}", 1},
      {"t <> :v", "{'BOOL':false}", 1},
      {"z = :v", "{'NULL':true}", 1},
      {"ss = :v", "{'SS':['y','x']}", 1},
      {"ss = :v", "{'SS':['y']}", 0},
      {"ns = :v", "{'NS':['2.0','1']}", 1},
      {"l[0] = :v", "{'N':'1'}", 1},
      {"l[3] = :v", "{'N':'1'}", 0},
      {"l[2].d = :v", "{'S':'deep'}", 1},
      {"m = :v", "{'M':{'e':{'L':[]},'d':{'N':'5'}}}", 1},
      {"m.d IN (l[0], :v)", "{'N':'5'}", 1},
      {"m.d IN (l[0], :v)", "{'S':'5'}", 0},
      {"i BETWEEN m.d AND :v", "{'N':'10'}", 1},
      {"i BETWEEN :v AND m.d", "{'N':'1'}", 0},
      {"size(s) = :v", "{'N':'3'}", 1},
      {"size(b) = :v", "{'N':'3'}", 1},
      {"size(ss) = :v", "{'N':'2'}", 1},
      {"size(l) = :v", "{'N':'3'}", 1},
      {"size(m) = :v", "{'N':'2'}", 1},
      {"size(i) = :v", "{'N':'2'}", 0},
      {"size(gone) < :v", "{'N':'2'}", 0},
      {"contains(s, :v)", "{'S':'bc'}", 1},
      {"contains(s, :v)", "{'S':''}", 1},
      {"contains(ss, :v)", "{'S':'x'}", 1},
      {"contains(ns, :v)", "{'N':'2.0'}", 1},
      {"contains(ns, :v)", "{'S':'2'}", 0},
      {"contains(l, :v)", "{'S':'x'}", 1},
      {"contains(b, :v)", "{'B':'AQ=='}", 1},
      {"contains(m, :v)", "{'S':'d'}", 0},
      {"begins_with(s, :v)", "{'S':'ab'}", 1},
      {"begins_with(s, :v)", "{'S':'abcd'}", 0},
      {"begins_with(b, :v)", "{'B':'AAE='}", 1},
      {"begins_with(i, :v)", "{'S':'1'}", 0},
      {"attribute_type(l, :v)", "{'S':'L'}", 1},
      {"attribute_type(l, :v)", "{'S':'M'}", 0},
      {"attribute_type(gone, :v)", "{'S':'M'}", 0},
      {"attribute_exists(l[2].d)", "", 1},
      {"attribute_exists(l.d)", "", 0},
      {"attribute_exists(s[0])", "", 0},
      {"attribute_not_exists(m.gone.deeper)", "", 1},
  };
  bench t;
  open_tab(&t, HASH_ONLY);
  put_a(&t, ITEM);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    if (holds(&t, cases[i].text, cases[i].value) != cases[i].holds)
      CHECK_FAIL("%s with %s is not %d", cases[i].text, cases[i].value, cases[i].holds);
  }
  bench_close(&t);
}

TEST(projections_keep_the_shape) {
  static const char *const cases[][2] = {
      {"s", "{'s':{'S':'abc'}}"},
      {"m.d, k", "{'k':{'S':'a'},'m':{'M':{'d':{'N':'5'}}}}"},
      {"l[2], l[0]", "{'l':{'L':[{'N':'1'},{'M':{'d':{'S':'deep'}}}]}}"},
      {"l[2].d", "{'l':{'L':[{'M':{'d':{'S':'deep'}}}]}}"},
      {"gone, l[7], m.x, s.t", "{}"},
      {"m.e", "{'m':{'M':{'e':{'L':[]}}}}"},
  };
  bench t;
  char want[300];
  open_tab(&t, HASH_ONLY);
  put_a(&t, ITEM);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    snprintf(want, sizeof want, "{'Item':%s}", cases[i][1]);
    CHECK_STR(ddb(&t, "GetItem", "{" TAB ",'Key':{'k':{'S':'a'}},'ProjectionExpression':'%s'}", cases[i][0]),
              want);
  }
  CHECK_HAS(ddb(&t, "GetItem", "{" TAB ",'Key':{'k':{'S':'a'}},'ProjectionExpression':'m, m.d'}"),
            "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
            "one: [m], path "
            "two: [m, d]");
  bench_close(&t);
}
