/* ddb_rows.c - order of keys, versions for reads of the past, and items whose time is over. */
#include "sandbox_ddb.h"

static int seen(bench *t, int consistent) { /* the number in item a; -1: not there */
  const char *got =
      ddb(t, "GetItem", "{" TAB ",'Key':{'k':{'S':'a'}},'ConsistentRead':%s}", consistent ? "true" : "false");
  const char *at = strstr(got, "'v':{'N':'");
  return at ? atoi(at + 10) : -1;
}

TEST(stale_reads_see_any_version_of_the_last_while) {
  bench t;
  int counts[64] = {0}, gone = 0;
  open_tab(&t, HASH_ONLY);
  slp_table *tab = slp_table_find(t.box, SLP_STR("tab"));
  slp_table_stale(tab, 1000);
  char number[40];
  for (int i = 0; i < 50; i++) {
    t.now_ms += 100;
    snprintf(number, sizeof number, "'v':{'N':'%d'}", i);
    put_a(&t, number);
    CHECK_INT(seen(&t, 1), i);
    int old = seen(&t, 0);
    CHECK(old <= i && old >= i - 10);
    counts[i - (old < 0 ? i : old)]++;
  }
  CHECK(counts[0] < 25 && counts[3] > 0 && counts[8] > 0);
  ddb(&t, "DeleteItem", "{" TAB ",'Key':{'k':{'S':'a'}}}");
  CHECK_INT(seen(&t, 1), -1);
  for (int i = 0; i < 50; i++) gone += seen(&t, 0) < 0;
  CHECK(gone < 50); /* it is still seen by some */
  CHECK_INT(tab->items, 0);
  t.now_ms += 5000;
  for (int i = 0; i < 20; i++) CHECK_INT(seen(&t, 0), -1);
  CHECK_INT(tab->rows_n, 0); /* and not kept for ever */
  bench_close(&t);
}

TEST(sort_keys_are_in_order_and_rows_are_found) {
  bench t;
  static const char *const numbers[] = {"-10", "-1.5", "-1e-5", "0", "1e-5", "2", "10", "1e20"};
  open_tab(&t, HASH_AND_SORT);
  for (size_t i = 0; i < SLP_COUNT(numbers); i++) {
    size_t pick = i * 3 % SLP_COUNT(numbers);
    for (int k = 0; k < 40; k++)
      ddb(&t, "PutItem", "{" TAB ",'Item':{'k':{'S':'p%d'},'n':{'N':'%s'}}}", k, numbers[pick]);
  }
  slp_table *tab = slp_table_find(t.box, SLP_STR("tab"));
  CHECK_INT(tab->rows_n, 40 * SLP_COUNT(numbers));
  for (size_t i = 0; i + 1 < tab->rows_n; i++)
    CHECK(slp_row_key_cmp(&tab->rows[i]->key, &tab->rows[i + 1]->key) < 0);
  for (size_t i = 0; i < tab->rows_n; i++) CHECK(slp_row_find(tab, &tab->rows[i]->key) == tab->rows[i]);
  const char *all =
      ddb(&t, "Query",
          "{" TAB ",'KeyConditionExpression':'k = :k','ExpressionAttributeValues':{':k':{'S':'p7'}}}");
  const char *at = all;
  static const char *const plain[] = {"'-10'",     "'-1.5'", "'-0.00001'", "'0'",
                                      "'0.00001'", "'2'",    "'10'",       "'100000000000000000000'"};
  for (size_t i = 0; i < SLP_COUNT(plain); i++) {
    at = strstr(at, plain[i]);
    if (!at) CHECK_FAIL("%s is not in its place in %s", plain[i], all);
  }
  bench_close(&t);
}

TEST(time_to_live) {
  bench t;
  char until[80];
  open_tab(&t, HASH_ONLY);
  ddb(&t, "UpdateTimeToLive", "{" TAB ",'TimeToLiveSpecification':{'Enabled':true,'AttributeName':'u'}}");
  snprintf(until, sizeof until, "'u':{'N':'%lld'}", (long long)(t.now_ms / 1000 + 10));
  put_a(&t, until);
  t.now_ms += 10000;
  CHECK_HAS(item_a(&t), "'u'");
  t.now_ms += 2000;
  CHECK_STR(item_a(&t), "");
  put_a(&t, "'u':{'S':'1'}");
  t.now_ms += 2000;
  CHECK_HAS(item_a(&t), "'u'"); /* a text is no time */
  snprintf(until, sizeof until, "'u':{'N':'%lld'}", (long long)(t.now_ms / 1000 - 6 * 365 * 86400LL));
  put_a(&t, until);
  t.now_ms += 2000;
  CHECK_HAS(item_a(&t), "'u'"); /* nor is what is five years ago */
  bench_close(&t);
}
