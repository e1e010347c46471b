/* record_formats.c - the JSON line (each against the line expected byte for byte) and the plain forms. */
#include "cli/record_formats.h"

#include <stdio.h>

#include "base/clean.h"
#include "check.h"
#include "cli/list_shards.h"

static sloop_record_t record(const char *data, size_t n) {
  return (sloop_record_t){.stream = "orders",
                          .shard = "shardId-000000000003",
                          .seq = {"495", 3},
                          .key = {"key", 3},
                          .data = {data, n},
                          .arrived_at_ms = 1700000000000,
                          .attempt = 1};
}

typedef int (*show_fn)(slp_buf *b, const sloop_record_t *r);
static slp_line_memo memo;
static slp_show_style style = {.delimiter = {"\n", 1}};
static int show_json(slp_buf *b, const sloop_record_t *r) { return slp_show_json(b, r, NULL, &memo); }
static int show_plain(slp_buf *b, const sloop_record_t *r) { return slp_show_plain(b, r, &style); }
static int show_plain_tty(slp_buf *b, const sloop_record_t *r) { return slp_show_terminal(b, r, &style); }
static int show_colour_tty(slp_buf *b, const sloop_record_t *r) {
  slp_show_style colour = style;
  colour.colour = 1;
  return slp_show_terminal(b, r, &colour);
}

static void check_shown(show_fn show, const sloop_record_t *r, const char *want, size_t want_n) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(show(&b, r), 0);
  if (b.n != want_n || memcmp(b.p, want, want_n) != 0) CHECK_FAIL("got  %.*s  want %s", (int)b.n, b.p, want);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}
#define CHECK_SHOWN(show, r, want) check_shown(show, r, want, sizeof(want) - 1)

#define HEAD                                                                                    \
  "{\"stream\":\"orders\",\"shard\":\"shardId-000000000003\",\"seq\":\"495\",\"sub\":0,\"ts\":" \
  "1700000000000,"

TEST(a_json_line_has_the_seven_members_in_order) {
  sloop_record_t r = record("hello", 5);
  CHECK_SHOWN(show_json, &r, HEAD "\"key\":\"key\",\"payload\":\"hello\"}\n");
}

TEST(a_sequence_number_that_is_no_number_is_escaped) {
  sloop_record_t r = record("hello", 5);
  r.seq = (sloop_str_t){"1234567890123456\"", 17};
  CHECK_SHOWN(
      show_json, &r,
      "{\"stream\":\"orders\",\"shard\":\"shardId-000000000003\",\"seq\":\"1234567890123456\\\"\",\"sub\":0,"
      "\"ts\":1700000000000,\"key\":\"key\",\"payload\":\"hello\"}\n");
}

static int show_leased(slp_buf *b, const sloop_record_t *r) {
  return slp_show_json(b, r, &(slp_show_extra){.worker = "w.1"}, &memo);
}

TEST(with_leases_who_printed_it_is_there) {
  sloop_record_t r = record("hello", 5);
  r.epoch = 12;
  CHECK_SHOWN(show_leased, &r,
              HEAD "\"key\":\"key\",\"payload\":\"hello\",\"epoch\":12,\"worker\":\"w.1\"}\n");
}

TEST(a_line_stays_one_line) {
  sloop_record_t r = record("a\nb\r\t\0\x1f\x7f\"\\\xe2\x80\xa8\xe2\x80\xa9\xc2\x85", 18);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_show_json(&b, &r, NULL, &memo), 0);
  CHECK(memchr(b.p, '\n', b.n) == b.p + b.n - 1);
  for (size_t i = 0; i + 1 < b.n; i++) CHECK((unsigned char)b.p[i] >= 0x20 && b.p[i] != 0x7f);
  CHECK(strstr(slp_buf_z(&b), "\\u2028\\u2029"));
  CHECK(strstr(slp_buf_z(&b), "\\u0000"));
  CHECK(!strstr(slp_buf_z(&b), "\xe2\x80\xa8"));
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

/* Each character that moves a terminal, ends a line or turns its direction, in every text that others choose. */
TEST(no_json_steers_a_terminal) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  size_t unsafe = 0;
  for (uint32_t c = 0x7f; c < 0x3000; c++) {
    char text[40], json[80], u[4] = {(char)c};
    if (c >= 0x800)
      u[0] = (char)(0xe0 | c >> 12), u[1] = (char)(0x80 | (c >> 6 & 63)), u[2] = (char)(0x80 | (c & 63));
    else if (c >= 0x80)
      u[0] = (char)(0xc0 | c >> 6), u[1] = (char)(0x80 | (c & 63));
    int n = snprintf(text, sizeof text, "a%sb", u);
    int json_n = snprintf(json, sizeof json, "{\"a%s\":[\"%s\"]}", u, u);
    sloop_record_t change = record(json, (size_t)json_n), r = record(text, (size_t)n);
    change.event = change.event_id = r.key = (sloop_str_t){text, (size_t)n};
    change.user = change.data;
    slp_log_event event = {.group = {text, (size_t)n}, .stream = {text, (size_t)n}};
    event.owner = event.id = event.group;
    slp_show_extra extra = {.event = &event, .worker = text, .error = text}, value = {.data_is_json = 1};
    slp_buf_clear(&b);
    CHECK_INT(slp_show_json(&b, &change, NULL, &memo), 0);
    CHECK_INT(slp_show_json(&b, &r, &extra, &memo), 0);
    r.data = change.data;
    CHECK_INT(slp_show_json(&b, &r, &value, &memo), 0);
    for (size_t i = 0; i < b.n; i += slp_safe_length(b.p + i, b.n - i))
      if (b.p[i] != '\n' && slp_unsafe_length(b.p + i, b.n - i)) CHECK_FAIL("U+%04X: %.*s", c, (int)b.n, b.p);
    unsafe += slp_unsafe_length(u, strlen(u)) > 0;
    CHECK((strstr(slp_buf_z(&b), u) == NULL) == (slp_unsafe_length(u, strlen(u)) > 0));
  }
  CHECK(unsafe > 40);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(bytes_that_are_not_utf8_come_as_base64) {
  sloop_record_t r = record("\xff\x00\x01", 3);
  CHECK_SHOWN(show_json, &r, HEAD "\"key\":\"key\",\"payload_b64\":\"/wAB\"}\n");
  r = record("x", 1);
  r.key = (sloop_str_t){"\xc0\x80", 2};
  CHECK_SHOWN(show_json, &r, HEAD "\"key_b64\":\"wIA=\",\"payload\":\"x\"}\n");
  r.key.len = 0;
  CHECK_SHOWN(show_json, &r, HEAD "\"key\":\"\",\"payload\":\"x\"}\n");
  r.flags = SLOOP_REC_KEYLESS;
  CHECK_SHOWN(show_json, &r, HEAD "\"key\":null,\"payload\":\"x\"}\n");
  r.flags = 0;
}

TEST(late_and_raw_are_there_only_when_so) {
  sloop_record_t r = record("", 0);
  r.flags = SLOOP_REC_REDELIVERED;
  CHECK_SHOWN(show_json, &r, HEAD "\"key\":\"key\",\"payload\":\"\"}\n");
  r.flags = SLOOP_REC_LATE;
  CHECK_SHOWN(show_json, &r, HEAD "\"key\":\"key\",\"payload\":\"\",\"late\":true}\n");
  r.flags = SLOOP_REC_LATE | SLOOP_REC_RAW;
  CHECK_SHOWN(show_json, &r, HEAD "\"key\":\"key\",\"payload\":\"\",\"late\":true,\"raw\":true}\n");
}

TEST(no_time_is_null_and_sub_is_a_number) {
  sloop_record_t r = record("", 0);
  r.arrived_at_ms = -1;
  r.sub = 12;
  CHECK_SHOWN(
      show_json, &r,
      "{\"stream\":\"orders\",\"shard\":\"shardId-000000000003\",\"seq\":\"495\",\"sub\":12,\"ts\":null,"
      "\"key\":\"key\",\"payload\":\"\"}\n");
}

TEST(plain_is_every_byte_and_a_newline) {
  sloop_record_t r = record("a\0\x1b[31m\xff", 8);
  CHECK_SHOWN(show_plain, &r, "a\0\x1b[31m\xff\n");
}

TEST(a_terminal_gets_no_control_characters) {
  sloop_record_t r = record("a\x1b[2J\tb\r\n\xc2\x9bZ\xc3\xa9", 14);
  CHECK_SHOWN(show_plain_tty, &r, "a\\x1B[2J\tb\\x0D\\x0A\\xC2\\x9BZ\xc3\xa9\n");
  r = record("\xff", 1);
  CHECK_SHOWN(show_plain_tty, &r, "/w==\n");
}

TEST(a_colour_shows_the_shard) {
  sloop_record_t r = record("x", 1);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(show_colour_tty(&b, &r), 0);
  CHECK(strncmp(slp_buf_z(&b), "\033[", 2) == 0);
  CHECK(strstr(slp_buf_z(&b), "m3\033[0m x\n"));
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(a_late_record_is_reversed_and_a_stream_named_when_asked) {
  sloop_record_t r = record("x", 1);
  r.flags = SLOOP_REC_LATE;
  style.streams = 1;
  CHECK_SHOWN(show_colour_tty, &r, "\033[7;33morders/3\033[0m x\n");
  r.flags = 0;
  CHECK_SHOWN(show_colour_tty, &r, "\033[33morders/3\033[0m x\n");
  CHECK_SHOWN(show_plain_tty, &r, "orders/3 x\n");
  CHECK_SHOWN(show_plain, &r, "x\n"); /* data only */
}

TEST(delimiters_keys_and_offsets) {
  sloop_record_t r = record("x\n", 2);
  style.delimiter = (slp_str){"\0", 1};
  CHECK_SHOWN(show_plain, &r, "x\n\0");
  style.offset = 1;
  CHECK_SHOWN(show_plain, &r, "495\tx\n\0");
  style.key_delimiter = SLP_STR(": ");
  CHECK_SHOWN(show_plain, &r, "495: key: x\n\0");
  r.sub = 4;
  CHECK_SHOWN(show_plain, &r, "495.4: key: x\n\0");
  r.key = (sloop_str_t){"\x1b", 1};
  CHECK_SHOWN(show_plain_tty, &r, "495.4: \\x1B: x\\x0A\0");
  style.offset = 0;
  style.key_delimiter = (slp_str){"", 0};
  CHECK_SHOWN(show_plain, &r, "\x1bx\n\0");
}

#define CHANGE_HEAD \
  "{\"stream\":\"orders\",\"shard\":\"shardId-000000000003\",\"seq\":\"495\",\"ts\":1700000000000,"

TEST(a_change_of_dynamodb_has_its_own_members) {
  sloop_record_t r = record("{\"Keys\":{\"id\":{\"N\":\"1.0\"}}}", 27);
  r.event = (sloop_str_t){"MODIFY", 6};
  r.event_id = (sloop_str_t){"e\"1", 3};
  CHECK_SHOWN(show_json, &r,
              CHANGE_HEAD
              "\"event\":\"MODIFY\",\"id\":\"e\\\"1\",\"change\":{\"Keys\":{\"id\":{"
              "\"N\":\"1.0\"}}}}\n");
  r.user = (sloop_str_t){"{\"a\":1}", 7};
  r.data = (sloop_str_t){"{ \"a\" :\n1.50e+1,\"b\":\"\xe2\x80\xa8\"}",
                         26}; /* one line it is, and the same value */
  CHECK_SHOWN(show_json, &r,
              CHANGE_HEAD
              "\"event\":\"MODIFY\",\"id\":\"e\\\"1\",\"change\":{\"a\":1.50e+1,\"b\":"
              "\"\\u2028\"},\"user\":{\"a\":1}}\n");
}

/* The service promised JSON; the line stays JSON whatever came. */
TEST(a_change_that_is_no_json_is_a_text_or_null) {
  sloop_record_t r = record("{\n", 2);
  r.event = (sloop_str_t){"MODIFY", 6};
  r.event_id = (sloop_str_t){"e", 1};
  CHECK_SHOWN(show_json, &r, CHANGE_HEAD "\"event\":\"MODIFY\",\"id\":\"e\",\"change\":\"{\\n\"}\n");
  r.data = (sloop_str_t){"\n\xff", 2};
  CHECK_SHOWN(show_json, &r, CHANGE_HEAD "\"event\":\"MODIFY\",\"id\":\"e\",\"change\":null}\n");
}

static slp_show_extra extra;
static int show_extra(slp_buf *b, const sloop_record_t *r) { return slp_show_json(b, r, &extra, &memo); }

TEST(what_happened_on_the_way_is_shown) {
  sloop_record_t r = record("[1, 2]", 6);
  extra.data_is_json = 1;
  CHECK_SHOWN(show_extra, &r, HEAD "\"key\":\"key\",\"payload\":[1, 2]}\n");
  extra = (slp_show_extra){.error = "hex: no"};
  r.flags = SLOOP_REC_FOREIGN;
  CHECK_SHOWN(show_extra, &r,
              HEAD "\"key\":\"key\",\"payload\":\"[1, 2]\",\"foreign\":true,\"decode_error\":\"hex: no\"}\n");
  slp_log_event e = {{"g", 1}, {"s", 1}, {"12", 2}, {"i", 1}, -1, {"m", 1}};
  extra = (slp_show_extra){.event = &e};
  r.flags = 0;
  CHECK_SHOWN(show_extra, &r,
              HEAD
              "\"key\":\"key\",\"payload\":\"[1, 2]\",\"log\":{\"group\":\"g\",\"stream\":\"s\",\"owner\":"
              "\"12\",\"id\":\"i\",\"ts\":null}}\n");
}

TEST(shard_ids_have_a_short_form) {
  CHECK_STR(slp_shard_short("shardId-000000000000"), "0");
  CHECK_STR(slp_shard_short("shardId-000000000120"), "120");
  CHECK_STR(slp_shard_short("shardId-"), "shardId-");
  CHECK_STR(slp_shard_short("shardId-00x"), "shardId-00x");
  CHECK_STR(slp_shard_short("other"), "other");
  CHECK_STR(slp_shard_short("shardId-00000001795292410065-69e87ba0"), "69e87ba0");
  CHECK_STR(slp_shard_short("shardId-0001-"), "shardId-0001-");
  CHECK_STR(slp_shard_short("shardId--a"), "shardId--a");
}

TEST(listed_shards_are_a_table_that_fits) {
  const char *hash = "340282366920938463463374607431768211455",
             *seq = "49680679135007506382212957534494568881467000";
  sloop_shard_t s = {
      "shardId-000000000002", "shardId-000000000000", "shardId-000000000001", "0", hash, seq, "", 0};
  const sloop_shard_t *const shards[] = {&s};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_list_table(&b, shards, 1, 80), 0);
  CHECK_STR(slp_buf_z(&b),
            "SHARD                 STATE  PARENTS    SEQ-FROM  SEQ-TO  HASH-FROM      HASH-TO\n"
            "shardId-000000000002  open   0,1      49..467000       -          0  340..211455\n");
  slp_buf_clear(&b);
  CHECK_INT(slp_list_table(&b, shards, 1, 0), 0);
  CHECK(strstr(slp_buf_z(&b), hash) && strstr(slp_buf_z(&b), seq)); /* whole, where nothing must fit */
  slp_buf_clear(&b);
  s.hash_start = s.hash_end = s.adjacent_parent = ""; /* a table's stream */
  CHECK_INT(slp_list_table(&b, shards, 1, 60), 0);
  CHECK_STR(slp_buf_z(&b),
            "SHARD                 STATE  PARENTS        SEQ-FROM  SEQ-TO\n"
            "shardId-000000000002  open   0        4968..81467000       -\n");
  slp_buf_clear(&b);
  s.hash_start = "0";
  s.hash_end = "5";
  s.adjacent_parent = "shardId-000000000001";
  s.seq_start = "49520";
  s.closed = 1;
  s.seq_end = "49530";
  CHECK_INT(slp_list_json(&b, "orders", &s), 0);
  CHECK_STR(slp_buf_z(&b),
            "{\"stream\":\"orders\",\"shard\":\"shardId-000000000002\",\"state\":\"closed\",\"parent\":"
            "\"shardId-000000000000\",\"adjacent_parent\":\"shardId-000000000001\",\"hash_start\":\"0\","
            "\"hash_end\":"
            "\"5\",\"seq_start\":\"49520\",\"seq_end\":\"49530\"}\n");
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

static slp_span payload_spans[3], key_spans[1];
static int show_matches(slp_buf *b, const sloop_record_t *r) {
  slp_show_style marked = style;
  marked.colour = 1;
  marked.key_delimiter = SLP_STR(":");
  marked.matches = (slp_spans){payload_spans, 2};
  marked.key_matches = (slp_spans){key_spans, 1};
  return slp_show_terminal(b, r, &marked);
}

TEST(keys_and_matches_have_colours_and_nothing_else_escapes) {
  sloop_record_t r = record("a\x1b[31mb c", 9);
  payload_spans[0] = (slp_span){1, 3}; /* a match that cuts a control sequence */
  payload_spans[1] = (slp_span){8, 9};
  key_spans[0] = (slp_span){0, 1};
  CHECK_SHOWN(show_matches, &r,
              "\033[33m3\033[0m \033[1;34m\033[1;31mk\033[0m\033[1;34mey\033[0m:"
              "a\033[1;31m\\x1B[\033[0m31mb \033[1;31mc\033[0m\n");
  r = record(
      "a\xff"
      "b",
      3); /* shown in base64, so nothing of it is marked */
  payload_spans[0] = (slp_span){0, 1};
  payload_spans[1] = (slp_span){2, 3};
  CHECK_SHOWN(show_matches, &r, "\033[33m3\033[0m \033[1;34m\033[1;31mk\033[0m\033[1;34mey\033[0m:Yf9i\n");
}
