/* watch_ui.c - keys of --watch: what each does on each page, and bytes that come in pieces. */
#include "cli/watch_ui.h"
#include "check.h"

static slp_watch_ui ui;
static void begin(void) {
  ui = (slp_watch_ui){.has_keys = 1};
  strcpy(ui.shard, "shardId-000000000000");
}
static void type(const char *keys) { slp_watch_ui_take(&ui, keys, strlen(keys)); }

TEST(pages_are_entered_and_left) {
  begin();
  type("w");
  CHECK_INT(ui.page, SLP_WATCH_WORKERS);
  type("?");
  CHECK_INT(ui.page, SLP_WATCH_HELP);
  type("x");
  CHECK_INT(ui.page, SLP_WATCH_WORKERS);
  type("w\r");
  CHECK_INT(ui.page, SLP_WATCH_WHY);
  type("h\r");
  CHECK_INT(ui.page, SLP_WATCH_WHY);
  type("\033");
  CHECK_INT(ui.page, SLP_WATCH_WHY); /* an arrow may still come of it */
  slp_watch_ui_settle(&ui);
  CHECK_INT(ui.page, SLP_WATCH_SHARDS);
  ui.shard[0] = 0; /* there are no shards */
  type("\r");
  CHECK_INT(ui.page, SLP_WATCH_SHARDS);
  for (const char *page = "w?\r"; *page; page++) {
    begin();
    slp_watch_ui_take(&ui, page, 1);
    type("q");
    CHECK(ui.quit);
  }
}

TEST(a_filter_is_typed_changed_and_dropped) {
  begin();
  type("/q?w s");
  CHECK_INT(ui.page, SLP_WATCH_TYPING);
  CHECK_STR(ui.filter, "q?w s");
  type("\177\b");
  CHECK_STR(ui.filter, "q?w");
  type("\r");
  CHECK_INT(ui.page, SLP_WATCH_SHARDS);
  CHECK_STR(ui.filter, "q?w");
  type("/x\033[A"); /* an arrow has no effect on a filter */
  CHECK_STR(ui.filter, "q?wx");
  for (int i = 0; i < 100; i++) type("y");
  CHECK_INT(strlen(ui.filter), SLP_WATCH_FILTER_BYTES);
  type("\303\244\001"); /* only ASCII that can be shown: ids have nothing else */
  CHECK_INT(strlen(ui.filter), SLP_WATCH_FILTER_BYTES);
  for (int i = 0; i < 100; i++) type("\177");
  CHECK_STR(ui.filter, "");
  type("abc\033");
  slp_watch_ui_settle(&ui);
  CHECK_STR(ui.filter, "");
  CHECK_INT(ui.page, SLP_WATCH_SHARDS);
}

TEST(orders_follow_each_other) {
  begin();
  static const char *const words[] = {"urgent", "lag", "shard", "worker", "rate", "urgent"};
  for (size_t i = 0; i < SLP_COUNT(words); i++) {
    CHECK_STR(slp_watch_sort_word(ui.sort), words[i]);
    type("s");
  }
}

TEST(every_form_of_a_key_that_moves) {
  static const struct {
    const char *keys;
    int32_t step;
  } rows[] = {{"\033[A", -1},
              {"\033OA", -1},
              {"k", -1},
              {"\033[B", 1},
              {"\033OB", 1},
              {"j", 1},
              {"\033[5~", -10},
              {"\033[6~", 10},
              {" ", 10},
              {"\033[B\033[B\033[A", 1},
              {"\033[H", INT32_MIN / 2},
              {"\033[4~", INT32_MAX / 2},
              {"\033[1;5C", 0},
              {"\033[200~", 0},
              {"\033\033[B", 1},
              {"\033[\033[B", 1}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    begin();
    type(rows[i].keys);
    if (ui.step != rows[i].step) CHECK_FAIL("row %d: %d", (int)i, (int)ui.step);
    CHECK_INT(ui.page, SLP_WATCH_SHARDS);
    CHECK_INT(ui.picks, rows[i].step != 0);
    begin(); /* the same, byte by byte */
    for (const char *c = rows[i].keys; *c; c++) slp_watch_ui_take(&ui, c, 1);
    CHECK_INT(ui.step, rows[i].step);
  }
  begin();
  for (int i = 0; i < 100000; i++) type("G"); /* steps that nobody draws do not overflow */
  CHECK(ui.step > 0);
}

TEST(any_bytes_leave_it_whole) {
  uint32_t random = 1;
  begin();
  for (int i = 0; i < 300000; i++) {
    static const char likely[] = "\033\033[O;5~AB\r/ws?jk q\177";
    random = random * 1664525u + 1013904223u;
    char c = (random >> 24) & 1 ? (char)(random >> 16) : likely[(random >> 16) % (sizeof likely - 1)];
    slp_watch_ui_take(&ui, &c, 1);
    if (random % 7 == 0) slp_watch_ui_settle(&ui);
    CHECK(ui.page <= SLP_WATCH_HELP && ui.sort < SLP_SORTS && ui.sequence_n <= sizeof ui.sequence);
    CHECK(strlen(ui.filter) <= SLP_WATCH_FILTER_BYTES);
    ui.quit = 0;
  }
}

TEST(the_end_of_a_long_key_is_no_text) {
  begin();
  type("/\033[27;6;13~");
  CHECK_STR(ui.filter, "");
}
