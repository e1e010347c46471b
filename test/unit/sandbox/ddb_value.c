/* ddb_value.c - values of all types go through storage as they came, and bad ones are refused. */
#include "sandbox_ddb.h"

TEST(values_go_round) {
  static const char *const cases[][2] = {
      {"{'S':''}", NULL},
      {"{'S':'\\u00fc\\ud83d\\udea2'}", "{'S':'\xc3\xbc\xf0\x9f\x9a\xa2'}"},
      {"{'N':'-0.50'}", "{'N':'-0.5'}"},
      {"{'B':'AAECAw=='}", NULL},
      {"{'B':''}", NULL},
      {"{'BOOL':false}", NULL},
      {"{'NULL':true}", NULL},
      {"{'SS':['b','a','']}", "{'SS':['','a','b']}"},
      {"{'NS':['10','9','-1']}", "{'NS':['-1','9','10']}"},
      {"{'BS':['AQ==','AA==']}", "{'BS':['AA==','AQ==']}"},
      {"{'L':[]}", NULL},
      {"{'M':{}}", NULL},
      {"{'M':{'z':{'L':[{'M':{'y':{'NULL':true}}}]},'a':{'N':'1'}}}",
       "{'M':{'a':{'N':'1'},'z':{'L':[{'M':{'y':{'NULL':true}}}]}}}"},
  };
  bench t;
  char put[600], want[600];
  open_tab(&t, HASH_ONLY);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    snprintf(put, sizeof put, "'v':%s", cases[i][0]);
    snprintf(want, sizeof want, "{'k':{'S':'a'},'v':%s}", cases[i][1] ? cases[i][1] : cases[i][0]);
    put_a(&t, put);
    CHECK_STR(item_a(&t), want);
  }
  bench_close(&t);
}

TEST(bad_values_are_refused) {
  static const char *const cases[][2] = {
      {"{}", "must contain exactly one of the supported datatypes"},
      {"{'X':'1'}", "must contain exactly one of the supported datatypes"},
      {"{'S':'1','N':'1'}", "more than one datatypes set"},
      {"{'N':'abc'}", "The parameter cannot be converted to a numeric value: abc"},
      {"{'N':''}", "The parameter cannot be converted to a numeric value"},
      {"{'NULL':false}", "Null attribute value types must have the value of true"},
      {"{'SS':[]}", "An string set  may not be empty"},
      {"{'NS':[]}", "An number set  may not be empty"},
      {"{'BS':[]}", "Binary sets should not be empty"},
      {"{'SS':['a','b','a']}", "Input collection [a, b, a] contains duplicates."},
      {"{'NS':['1','1.0']}", "Input collection contains duplicates"},
      {"{'M':{'a':{'NULL':true},'a':{'NULL':true}}}", "given twice"},
      {"{'S':1}", "SerializationException"},
      {"{'B':'*'}", "SerializationException"},
      {"{'L':{}}", "SerializationException"},
      {"'text'", "SerializationException"},
  };
  bench t;
  open_tab(&t, HASH_ONLY);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    CHECK_HAS(ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},'v':%s}}", cases[i][0]), cases[i][1]);
  }
  CHECK_STR(item_a(&t), "");
  bench_close(&t);
}

TEST(depth_and_size_have_limits) {
  bench t;
  char deep[2000];
  static char big[420000];
  open_tab(&t, HASH_ONLY);
  for (int levels = 31; levels <= 33; levels++) {
    size_t n = (size_t)snprintf(deep, sizeof deep, "'v':");
    for (int i = 1; i < levels; i++) n += (size_t)snprintf(deep + n, sizeof deep - n, "{'L':[");
    n += (size_t)snprintf(deep + n, sizeof deep - n, "{'S':'x'}");
    for (int i = 1; i < levels; i++) n += (size_t)snprintf(deep + n, sizeof deep - n, "]}");
    ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},%s}}", deep);
    CHECK_INT(t.answer.status, levels <= 32 ? 200 : 400);
  }
  CHECK_HAS(slp_buf_z(&t.answer.body), "Nesting Levels have exceeded supported limits");
  for (size_t over = 0; over < 2; over++) { /* k, a, v and the text */
    size_t n = 400 * 1024 - 3 + over;
    memset(big, 'x', n);
    big[n] = 0;
    ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'a'},'v':{'S':'%s'}}}", big);
    CHECK_INT(t.answer.status, over ? 400 : 200);
  }
  CHECK_HAS(slp_buf_z(&t.answer.body), "Item size has exceeded the maximum allowed size");
  CHECK_HAS(ddb(&t, "UpdateItem",
                "{" TAB ",'Key':{'k':{'S':'a'}},'UpdateExpression':'SET w = :w',"
                "'ExpressionAttributeValues':{':w':{'N':'1'}}}"),
            "Item size to update has exceeded the maximum allowed size");
  bench_close(&t);
}
