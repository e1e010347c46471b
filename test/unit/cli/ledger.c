/* ledger.c - the demo's judge finds every kind of mistake; names and percentiles. */
#include "cli/ledger.h"
#include "check.h"
#include "cli/histogram.h"

static slp_mem *mem;
static slp_ledger book;
static int is_new;

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_ledger_init(&book, mem);
}
static void end(int proven) {
  CHECK_INT(slp_ledger_proven(&book), proven);
  slp_ledger_free(&book);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
static void put(const char *shard, const char *seq) {
  CHECK_INT(slp_ledger_put(&book, shard, seq, &is_new), 0);
}
static void got(const char *shard, const char *seq, int64_t at_ms) {
  slp_ledger_read(&book, shard, seq, strlen(seq), at_ms);
}

TEST(all_in_order_is_proven) {
  begin();
  put("a", "1"), put("b", "2"), put("a", "3");
  got("a", "1", 10), got("b", "2", 10), got("a", "3", 11);
  CHECK_INT(book.put, 3);
  end(1);
}
TEST(nothing_proves_nothing) {
  begin();
  end(0);
}
TEST(a_missing_record_is_seen) {
  begin();
  put("a", "1"), put("a", "2");
  got("a", "1", 10);
  CHECK_INT(slp_ledger_missing(&book), 1);
  end(0);
}
TEST(a_gap_is_seen) {
  begin();
  put("a", "1"), put("a", "2"), put("a", "3");
  got("a", "1", 10), got("a", "3", 10);
  CHECK_INT(slp_ledger_missing(&book), 1);
  CHECK_INT(book.skipped, 1);
  end(0);
}
TEST(a_repeat_is_seen) {
  begin();
  put("a", "1"), put("a", "2");
  got("a", "1", 10), got("a", "1", 10), got("a", "2", 10);
  CHECK_INT(book.wrong, 1);
  end(0);
}
TEST(a_swap_is_seen) {
  begin();
  put("a", "1"), put("a", "2");
  got("a", "2", 10), got("a", "1", 10);
  CHECK_INT(book.wrong, 1);
  end(0);
}
TEST(another_shard_s_record_is_seen) {
  begin();
  put("a", "1"), put("b", "2");
  got("b", "1", 10), got("nobody", "2", 10);
  CHECK_INT(book.wrong, 2);
  end(0);
}
TEST(time_going_back_is_seen) {
  begin();
  put("a", "1"), put("b", "2");
  got("b", "2", 11), got("a", "1", 10);
  CHECK_INT(book.time_back, 1);
  end(0);
}

static void put_family(void) {
  put("p", "1"), put("q", "2"), put("p", "3");
  CHECK_INT(slp_ledger_change(&book, "p", NULL), 0);
  put("p", "4"); /* the change takes a moment */
  CHECK_INT(book.phase, 0);
  put("c", "5");
  CHECK(is_new);
  CHECK_INT(book.phase, 1);
  put("d", "6"), put("q", "7");
  CHECK_INT(book.phase, 1);
  CHECK_INT(slp_ledger_change(&book, "d", "q"), 0);
  put("m", "8"), put("c", "9");
  CHECK_INT(book.phase, 2);
}
TEST(a_family_read_in_order_is_proven) {
  begin();
  put_family();
  got("p", "1", 1), got("q", "2", 2), got("p", "3", 3), got("p", "4", 4), got("c", "5", 5);
  got("d", "6", 6), got("q", "7", 7), got("m", "8", 8), got("c", "9", 9);
  CHECK_INT(book.children, 3);
  CHECK_INT(slp_ledger_width(&book, 0), 2);
  CHECK_INT(slp_ledger_width(&book, 1), 3);
  CHECK_INT(slp_ledger_width(&book, 2), 2);
  CHECK_INT(book.read_in[0], 4);
  CHECK_INT(book.read_in[1], 3);
  CHECK_INT(book.read_in[2], 2);
  end(1);
}
TEST(a_child_before_its_parent_is_seen) {
  begin();
  put_family();
  got("p", "1", 1), got("q", "2", 2), got("p", "3", 3), got("c", "5", 3), got("p", "4", 4);
  got("d", "6", 6), got("m", "8", 7), got("q", "7", 7), got("c", "9", 9);
  CHECK_INT(book.child_early, 2);
  CHECK_INT(book.wrong, 0);
  CHECK_INT(book.time_back, 0);
  end(0);
}
TEST(a_change_of_what_was_never_met_is_refused) {
  begin();
  CHECK_INT(slp_ledger_change(&book, "x", NULL), SLP_ENOENT);
  end(0);
}

TEST(many_shards_are_all_remembered) {
  begin();
  char shard[20];
  for (int i = 0; i < 100; i++) {
    snprintf(shard, sizeof shard, "s%d", i);
    put(shard, "1");
  }
  for (int i = 0; i < 100; i++) {
    snprintf(shard, sizeof shard, "s%d", i);
    got(shard, "1", 10);
  }
  CHECK_INT(book.put, 100);
  end(1);
}

TEST(names_are_numbered_as_they_come) {
  begin();
  slp_names names;
  slp_names_init(&names, mem);
  CHECK_INT(slp_names_find(&names, "x"), UINT32_MAX);
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 0; i < 5000; i++) {
      char name[40];
      snprintf(name, sizeof name, "shardId-%012u", i * 7);
      CHECK_INT(slp_names_number(&names, name), i);
    }
  CHECK_INT(names.n, 5000);
  CHECK_STR(names.name[3], "shardId-000000000021");
  CHECK_INT(slp_names_find(&names, "nobody"), UINT32_MAX);
  slp_names_free(&names);
  end(0);
}

TEST(percentiles_are_at_most_six_percent_high) {
  static slp_spread s;
  CHECK_INT(slp_spread_at(&s, 0.5), 0);
  for (uint64_t v = 1; v <= 100000; v++) slp_spread_add(&s, v);
  static const double p[] = {0.01, 0.5, 0.9, 0.99, 0.999};
  for (size_t i = 0; i < SLP_COUNT(p); i++) {
    double exact = p[i] * 100000, got_at = (double)slp_spread_at(&s, p[i]);
    CHECK(got_at >= exact && got_at <= exact * 1.07);
  }
  CHECK_INT(slp_spread_at(&s, 1.0), 100000);
  static slp_spread ends;
  slp_spread_add(&ends, 0);
  slp_spread_add(&ends, UINT64_MAX);
  CHECK_INT(slp_spread_at(&ends, 0.25), 0);
  CHECK(slp_spread_at(&ends, 1.0) == UINT64_MAX);
}
