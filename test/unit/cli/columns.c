/* columns.c - tables as wide as they need to be, or as a terminal is. */
#include "cli/columns.h"
#include "check.h"

static slp_mem *mem;
static slp_buf b;

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 20);
}
static void end(void) {
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static void show(const slp_column *columns, size_t n, const char *const *cells, size_t cells_n,
                 size_t width) {
  slp_columns c;
  slp_columns_init(&c, mem, columns, n);
  for (size_t i = 0; i < cells_n; i++) slp_columns_add(&c, cells[i]);
  slp_buf_clear(&b);
  CHECK_INT(slp_columns_show(&c, &b, width), 0);
  slp_columns_free(&c);
}

static const slp_column three[] = {{"NAME", 6, 0}, {"N", 0, 1}, {"PLACE", 7, 0}};

TEST(columns_are_as_wide_as_what_is_in_them) {
  static const char *const cells[] = {"a", "1", "here", "longer name", "100", "there"};
  begin();
  show(three, 3, cells, 6, 0);
  CHECK_STR(slp_buf_z(&b),
            "NAME           N  PLACE\n"
            "a              1  here\n"
            "longer name  100  there\n");
  show(three, 3, NULL, 0, 0);
  CHECK_STR(slp_buf_z(&b), "NAME  N  PLACE\n");
  end();
}

TEST(the_widest_gives_way_first_and_none_below_its_minimum) {
  static const char *const cells[] = {"abcdefghij", "12345", "0123456789abcdefghij"};
  begin();
  show(three, 3, cells, 3, 30);
  CHECK_STR(slp_buf_z(&b), "NAME            N  PLACE\nabcdefghij  12345  012..efghij\n");
  show(three, 3, cells, 3, 10); /* it can't be so narrow */
  CHECK_STR(slp_buf_z(&b), "NAME        N  PLACE\na..hij  12345  0..ghij\n");
  end();
}

TEST(no_line_is_wider_than_asked) {
  static const char *const cells[] = {"abcdefghijklmnopqrstuvwxyz", "5",
                                      "0123456789abcdefghijklmnopqrstuvwxyz"};
  begin();
  for (size_t width = 20; width < 80; width++) {
    show(three, 3, cells, 3, width);
    for (const char *line = slp_buf_z(&b); *line;) {
      size_t n = strcspn(line, "\n");
      if (n > width) CHECK_FAIL("%zu columns, not %zu: %.*s", n, width, (int)n, line);
      line += n + 1;
    }
  }
  end();
}

TEST(a_cell_drives_no_terminal) {
  static const char *const cells[] = {"\033[31m", "\n", "\xc3\xa4\x7f"};
  begin();
  show(three, 3, cells, 3, 0);
  CHECK_STR(slp_buf_z(&b), "NAME   N  PLACE\n?[31m  ?  ???\n");
  end();
}

TEST(the_middle_is_left_out) {
  static const struct {
    const char *text;
    size_t width;
    const char *want;
  } all[] = {{"abcdefghij", 10, "abcdefghij"}, {"abcdefghij", 9, "ab..fghij"}, {"abcdefghij", 5, "a..ij"},
             {"abcdefghij", 4, "abcd"},        {"abcdefghij", 0, ""},          {"", 3, ""}};
  begin();
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    slp_buf_clear(&b);
    CHECK_INT(slp_elide(&b, all[i].text, all[i].width), 0);
    CHECK_STR(slp_buf_z(&b), all[i].want);
  }
  end();
}
