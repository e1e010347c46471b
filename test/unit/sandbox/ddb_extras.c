/* ddb_extras.c - tags and the switch of continuous backups. */
#include "sandbox_ddb.h"

#define ARN "'ResourceArn':'arn:aws:dynamodb:us-east-1:000000000000:table/tab'"

static void open_with_table(bench *t) {
  sloop_sandbox_opts_t o = free_opts();
  bench_open(t, &o);
  CHECK_HAS(ddb(t, "CreateTable", "{" HASH_ONLY "," DEMAND ",'Tags':[{'Key':'a','Value':'1'}]}"),
            "'CREATING'");
}

TEST(tags_of_a_table) {
  bench t;
  open_with_table(&t);
  CHECK_STR(ddb(&t, "ListTagsOfResource", "{" ARN "}"), "{'Tags':[{'Key':'a','Value':'1'}]}");
  ddb(&t, "TagResource", "{" ARN ",'Tags':[{'Key':'b','Value':''},{'Key':'a','Value':'2'}]}");
  CHECK_STR(ddb(&t, "ListTagsOfResource", "{" ARN "}"),
            "{'Tags':[{'Key':'a','Value':'2'},{'Key':'b','Value':''}]}");
  ddb(&t, "UntagResource", "{" ARN ",'TagKeys':['a','none']}");
  CHECK_STR(ddb(&t, "ListTagsOfResource", "{" ARN "}"), "{'Tags':[{'Key':'b','Value':''}]}");
  CHECK_HAS(ddb(&t, "TagResource", "{" ARN ",'Tags':[1]}"), "ValidationException");
  CHECK_HAS(ddb(&t, "TagResource", "{" ARN ",'Tags':[{'Key':''}]}"), "ValidationException");
  CHECK_HAS(ddb(&t, "TagResource", "{'ResourceArn':'tab','Tags':[]}"), "ResourceNotFoundException");
  bench_close(&t);
}

TEST(recovery_is_switched) {
  bench t;
  open_with_table(&t);
  CHECK_HAS(ddb(&t, "DescribeContinuousBackups", "{" TAB "}"), "'PointInTimeRecoveryStatus':'DISABLED'");
  CHECK_HAS(ddb(&t, "UpdateContinuousBackups",
                "{" TAB ",'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}"),
            "'RecoveryPeriodInDays':35");
  CHECK_HAS(ddb(&t, "DescribeContinuousBackups", "{" TAB "}"), "'EarliestRestorableDateTime'");
  CHECK_HAS(ddb(&t, "UpdateContinuousBackups",
                "{" TAB ",'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':false,"
                "'RecoveryPeriodInDays':3}}"),
            "ValidationException");
  CHECK_HAS(ddb(&t, "UpdateContinuousBackups", "{" TAB "}"), "ValidationException");
  CHECK_HAS(ddb(&t, "DescribeContinuousBackups", "{'TableName':'none'}"), "TableNotFoundException");
  bench_close(&t);
}
