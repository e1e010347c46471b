/* format.c - every token of -f, every escape, and what is refused with its place. */
#include "cli/format.h"

#include <stdlib.h>
#include <time.h>

#include "check.h"

static sloop_record_t record(const char *data, size_t data_n, const char *key, size_t key_n) {
  return (sloop_record_t){.stream = "orders",
                          .shard = "shardId-000000000003",
                          .seq = {"49512345678901234567890", 23},
                          .sub = 7,
                          .epoch = 12,
                          .key = {key, key_n},
                          .data = {data, data_n},
                          .arrived_at_ms = 1767225600123,
                          .attempt = 1};
}

static void check_output(const char *format, size_t format_n, const sloop_record_t *r, const char *want,
                         size_t want_n) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_format *f = NULL;
  char why[200] = "";
  CHECK_INT(slp_format_new(mem, (slp_str){format, format_n}, &f, why), 0);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_format_run(f, &b, r, 42, "me.1", 0), 0);
  CHECK_MEM(slp_buf_str(&b).p, b.n, want, want_n);
  slp_buf_free(&b);
  slp_format_free(f);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
#define CHECK_OUTPUT(format, r, want) check_output(format, sizeof(format) - 1, r, want, sizeof(want) - 1)

TEST(each_token_prints_its_field) {
  sloop_record_t r = record("pay\0load", 8, "k\0y", 3);
  CHECK_OUTPUT("%s", &r, "pay\0load");
  CHECK_OUTPUT("%S", &r, "8");
  CHECK_OUTPUT("%R", &r, "\0\0\0\10");
  CHECK_OUTPUT("%k", &r, "k\0y");
  CHECK_OUTPUT("%K", &r, "3");
  sloop_record_t keyless = r;
  keyless.key.len = 0;
  CHECK_OUTPUT("%k %K", &keyless, " 0");
  keyless.flags = SLOOP_REC_KEYLESS;
  CHECK_OUTPUT("%k %K", &keyless, " -1");
  CHECK_OUTPUT("%T", &r, "1767225600123");
  CHECK_OUTPUT("%t", &r, "orders");
  CHECK_OUTPUT("%p", &r, "shardId-000000000003");
  CHECK_OUTPUT("%o", &r, "49512345678901234567890");
  CHECK_OUTPUT("%u", &r, "7");
  CHECK_OUTPUT("%l", &r, "42");
  CHECK_OUTPUT("%%", &r, "%");
  CHECK_OUTPUT("%e %w", &r, "12 me.1");
  CHECK_OUTPUT("<%n>", &r, "<>");
  r.event = (sloop_str_t){"REMOVE", 6};
  CHECK_OUTPUT("<%n>", &r, "<REMOVE>");
}

TEST(delimiters_have_the_same_escapes) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  char why[200] = "";
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_unescape(&b, "%s\\n\\x00\\t", "-D", why), 0);
  CHECK_MEM(b.p, b.n, "%s\n\0\t", 5);
  CHECK_INT(slp_unescape(&b, "ab\\q", "-K", why), SLP_EINVAL);
  CHECK(strstr(why, "-K: \"ab\\q\": unknown escape at character 3"));
  CHECK_INT(slp_unescape(&b, "\\", "-K", why), SLP_EINVAL);
  CHECK_INT(slp_unescape(&b, "a\\033[1m", "-D", why), SLP_EINVAL); /* octal to others, and not here */
  CHECK(strstr(why, "-D: \"a\\033[1m\": unknown escape at character 2; known are "));
  CHECK(strstr(why, "\\xXX, and \\0 with no digit after it"));
  slp_buf_clear(&b);
  CHECK_INT(slp_unescape(&b, "\\0a\\0", "-D", why), 0);
  CHECK_MEM(b.p, b.n, "\0a\0", 3);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(a_length_of_four_bytes_is_big_end_first) {
  size_t n = 0x010203;
  char *data = calloc(1, n);
  sloop_record_t r = record(data, n, "k", 1);
  CHECK_OUTPUT("%R", &r, "\0\1\2\3");
  free(data);
}

TEST(text_and_escapes_stay_between_tokens) {
  sloop_record_t r = record("P", 1, "K", 1);
  CHECK_OUTPUT("", &r, "");
  CHECK_OUTPUT("abc", &r, "abc");
  CHECK_OUTPUT("%k=%s\\n", &r, "K=P\n");
  CHECK_OUTPUT("a\\r\\t\\0\\\\b", &r, "a\r\t\0\\b");
  CHECK_OUTPUT("\\x41\\x0a\\xfF%s", &r, "A\n\xffP");
  CHECK_OUTPUT("100%% %s%%", &r, "100% P%");
  CHECK_OUTPUT("%s%s\\x00%s", &r, "PP\0P");
}

TEST(no_arrival_time_prints_minus_one) {
  sloop_record_t r = record("", 0, "k", 1);
  r.arrived_at_ms = -1;
  CHECK_OUTPUT("%T|%S|%s|", &r, "-1|0||");
}

static void check_refused(const char *format, const char *part1, const char *part2) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_format *f = NULL;
  char why[200] = "";
  CHECK_INT(slp_format_new(mem, slp_str_of(format), &f, why), SLP_EINVAL);
  CHECK(f == NULL);
  if (!strstr(why, part1) || !strstr(why, part2))
    CHECK_FAIL("\"%s\" lacks \"%s\" or \"%s\"", why, part1, part2);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(an_unknown_token_is_named_with_its_place) {
  check_refused("%z", "%z", "character 1 ");
  check_refused("abc%s%h", "%h", "character 6 ");
  check_refused("%", "%", "character 1 ");
  check_refused("a%", "%", "character 2 ");
  check_refused("%\x01", "%<01>", "character 1 ");
  check_refused("\\q", "\\q", "character 1 ");
  check_refused("ab\\", "\\", "character 3 ");
  check_refused("\\x4", "\\x", "character 1 ");
  check_refused("\\xg1", "\\x", "character 1 ");
}

TEST(a_buffer_that_is_full_is_an_error_not_a_crash) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_format *f = NULL;
  char why[200];
  CHECK_INT(slp_format_new(mem, SLP_STR("%s%s%s"), &f, why), 0);
  slp_buf b;
  slp_buf_init(&b, mem, 10);
  sloop_record_t r = record("12345", 5, "k", 1);
  CHECK_INT(slp_format_run(f, &b, &r, 0, NULL, 0), SLP_ELIMIT);
  slp_buf_free(&b);
  slp_format_free(f);
  slp_mem_drop(mem);
}

static void check_time(const char *format, int64_t at_ms, int utc, const char *want) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_format *f = NULL;
  char why[200] = "";
  sloop_record_t r = record("x", 1, "k", 1);
  r.arrived_at_ms = at_ms;
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  tzset();
  CHECK_INT(slp_format_new(mem, slp_str_of(format), &f, why), 0);
  slp_format_set_utc(f, utc);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_format_run(f, &b, &r, 0, NULL, 0), 0);
  CHECK_STR(slp_buf_z(&b), want);
  slp_buf_free(&b);
  slp_format_free(f);
  slp_mem_drop(mem);
}

TEST(times_are_shown_in_any_form) {
  check_time("%{time} %s", 1769861405123, 0, "2026-01-31T13:10:05.123+01:00 x");
  check_time("%{time}", 1769861405123, 1, "2026-01-31T12:10:05.123Z");
  check_time("<%{time:%H:%M:%S.%3N}|%T>\\n", 1769861405123, 0, "<13:10:05.123|1769861405123>\n");
  check_time("%{time:}%{time:%%}%{time:\\n}", 1769861405123, 0, "%\\n"); /* no escapes within */
  check_time("%{time} %{time:%F}", -1, 0, "- -");
}

TEST(wrong_times_are_refused_with_their_place) {
  static const struct {
    const char *format, *part;
  } bad[] = {
      {"ab%{tim}", "unknown name in %{ at character 3 of the format; known are %{time} and %{time:FORM}"},
      {"%{time", "character 1 "},
      {"%{time:%H", "character 1 "},
      {"%{}", "character 1 "},
      {"x%{time:%H:%Q}", "unknown conversion in %{time:FORM} at character 12 of the format"}};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    slp_format *f = NULL;
    char why[200] = "";
    CHECK_INT(slp_format_new(mem, slp_str_of(bad[i].format), &f, why), SLP_EINVAL);
    if (!strstr(why, bad[i].part)) CHECK_FAIL("\"%s\" lacks \"%s\"", why, bad[i].part);
  }
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
