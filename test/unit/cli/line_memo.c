/* line_memo.c - what is kept from line to line is never another shard's or another second's. */
#include "cli/line_memo.h"

#include <stdio.h>

#include "check.h"

static const char *head_of(slp_line_memo *m, slp_buf *b, const char *stream, const char *shard) {
  sloop_record_t r = {.stream = stream, .shard = shard};
  slp_buf_clear(b);
  slp_line_memo_add_head(m, b, &r);
  return slp_buf_z(b);
}

TEST(a_name_that_changes_at_its_address_is_seen) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_line_memo m = {.second = 0};
  slp_buf b;
  char stream[300] = "orders", shard[200] = "shardId-000000000001";
  slp_buf_init(&b, mem, 1 << 16);
  for (int twice = 0; twice < 2; twice++)
    CHECK_STR(head_of(&m, &b, stream, shard), "{\"stream\":\"orders\",\"shard\":\"shardId-000000000001\"");
  shard[19] = '2';
  CHECK_STR(head_of(&m, &b, stream, shard), "{\"stream\":\"orders\",\"shard\":\"shardId-000000000002\"");
  stream[5] = 'd';
  CHECK_STR(head_of(&m, &b, stream, shard), "{\"stream\":\"orderd\",\"shard\":\"shardId-000000000002\"");
  shard[19] = 0;
  for (int twice = 0; twice < 2; twice++)
    CHECK_STR(head_of(&m, &b, stream, shard), "{\"stream\":\"orderd\",\"shard\":\"shardId-00000000000\"");
  /* the same bytes, cut elsewhere */
  snprintf(stream, sizeof stream, "a");
  snprintf(shard, sizeof shard, "bc");
  CHECK_STR(head_of(&m, &b, stream, shard), "{\"stream\":\"a\",\"shard\":\"bc\"");
  snprintf(stream, sizeof stream, "ab");
  snprintf(shard, sizeof shard, "c");
  CHECK_STR(head_of(&m, &b, stream, shard), "{\"stream\":\"ab\",\"shard\":\"c\"");
  snprintf(shard, sizeof shard, "\"");
  for (int twice = 0; twice < 2; twice++)
    CHECK_STR(head_of(&m, &b, stream, shard), "{\"stream\":\"ab\",\"shard\":\"\\\"\"");
  memset(stream, 's', 255);
  for (int twice = 0; twice < 2; twice++) {
    const char *text = head_of(&m, &b, stream, shard);
    CHECK_INT(strlen(text), 255 + 25);
  }
  CHECK_STR(head_of(&m, &b, NULL, "x"), "{\"stream\":\"\",\"shard\":\"x\"");
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(times_are_what_printf_writes) {
  static const int64_t times[] = {0,
                                  1,
                                  999,
                                  1000,
                                  1001,
                                  1700000000,
                                  99999999999,
                                  999999999999,
                                  1000000000000,
                                  1700000000000,
                                  1700000000007,
                                  1700000000999,
                                  1700000001000,
                                  1700000000998,
                                  9999999999999,
                                  10000000000000,
                                  10000000000001,
                                  INT64_MAX,
                                  INT64_MAX - 1,
                                  -1,
                                  -1700000000000};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_line_memo m = {.second = 0};
  slp_buf b;
  slp_buf_init(&b, mem, 100);
  for (size_t i = 0; i < SLP_COUNT(times); i++) {
    for (size_t k = 0; k < SLP_COUNT(times); k++) {
      char want[32];
      int64_t at = k & 1 ? times[i] : times[k];
      snprintf(want, sizeof want, "%lld", (long long)at);
      slp_buf_clear(&b);
      slp_line_memo_add_ms(&m, &b, at);
      CHECK_STR(slp_buf_z(&b), want);
    }
  }
  slp_buf_free(&b);
  slp_buf_init(&b, mem, 12);
  slp_line_memo_add_ms(&m, &b, 1700000000000);
  CHECK_INT(slp_buf_failed(&b), SLP_ELIMIT);
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
