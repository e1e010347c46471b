/* watch_style.c - a screen as control sequences: styles begin and end, and none is on where a line ends. */
#include "cli/watch_style.h"
#include "check.h"

static slp_mem *mem;

static void check_frame(const char *screen, int colours, const char *want) {
  slp_buf b;
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 16);
  CHECK_INT(slp_watch_add_frame(&b, slp_str_of(screen), colours), 0);
  CHECK_STR(slp_buf_z(&b), want);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(styles_begin_and_end) {
  check_frame("one\ntwo", 1, "\033[0m\033[Hone\033[K\r\ntwo\033[K\033[J");
  check_frame("a " SLP_STYLE_RED "b" SLP_STYLE_OFF " c", 1, "\033[0m\033[Ha \033[31mb\033[0m c\033[K\033[J");
  check_frame("a " SLP_STYLE_RED "b" SLP_STYLE_OFF " c", 0, "\033[0m\033[Ha b c\033[K\033[J");
  /* a line that was cut has lost its end of the style */
  check_frame(SLP_STYLE_GREEN "a\nb", 1, "\033[0m\033[H\033[32ma\033[0m\033[K\r\nb\033[K\033[J");
  check_frame(SLP_STYLE_FAINT "a", 1, "\033[0m\033[H\033[2ma\033[0m\033[K\033[J");
}

TEST(a_line_in_reverse_stays_so_to_its_end) {
  check_frame(SLP_STYLE_REVERSE "a " SLP_STYLE_RED "b" SLP_STYLE_OFF " c\nd", 1,
              "\033[0m\033[H\033[7ma \033[31mb\033[0m\033[7m c\033[0m\033[K\r\nd\033[K\033[J");
  check_frame(SLP_STYLE_REVERSE "a " SLP_STYLE_RED "b" SLP_STYLE_OFF " c\nd", 0,
              "\033[0m\033[H\033[7ma b c\033[0m\033[K\r\nd\033[K\033[J");
}

TEST(styles_take_no_column) {
  CHECK_INT(slp_watch_width(SLP_STR("")), 0);
  CHECK_INT(slp_watch_width(SLP_STR(SLP_STYLE_RED "ab" SLP_STYLE_OFF "\xe2\x96\x88")), 3);
}
