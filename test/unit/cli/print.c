/* print.c - records to text: decoding, omission, and data that can't be decoded. */
#include "cli/print.h"

#include "check.h"
#include "cli/perl.h"
#include "cpu.h"
#include "sanitized.h"

static slp_mem *mem;
static slp_args args;
static slp_printer p;
static slp_buf out;

#define OPEN(...) \
  open_with((int)SLP_COUNT(((const char *[]){"x", __VA_ARGS__})), (const char *[]){"x", __VA_ARGS__})
static void open_with(int argc, const char *const *argv) {
  char why[SLP_ARGS_WHY] = "";
  slp_surroundings around = {.clock = {0, NULL}};
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&out, mem, 1 << 20);
  if (slp_args_parse(&args, mem, argc, argv, &around, why) != 0) CHECK_FAIL("%s", why);
  if (slp_printer_open(&p, mem, &args, 0, 0, why) != 0) CHECK_FAIL("%s", why);
}
static void done(void) {
  slp_printer_close(&p);
  slp_buf_free(&out);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static int printed;
static int add(const char *key, const char *data) {
  sloop_record_t r = {.stream = "orders",
                      .shard = "shardId-000000000000",
                      .seq = {"495", 3},
                      .key = {key, strlen(key)},
                      .data = {data, strlen(data)},
                      .arrived_at_ms = 7};
  slp_buf_clear(&out);
  slp_printer_begin(&p, &r, 0);
  int more;
  do { /* as with one that keeps nothing from step to step */
    printed = 0;
    more = slp_printer_step(&p, &out, &printed);
  } while (more == 1);
  return more;
}
#define CHECK_PRINTS(key, data, want) \
  do {                                \
    CHECK_INT(add(key, data), 0);     \
    CHECK_STR(slp_buf_z(&out), want); \
    CHECK_INT(printed, *(want) != 0); \
  } while (0)

TEST(decoded_before_it_is_matched) {
  OPEN("-s", "base64", "--grep", "hello", "orders");
  CHECK_PRINTS("k", "aGVsbG8=", "hello\n");
  CHECK_PRINTS("k", "eA==", "");
  CHECK_INT(add("k", "hello"), SLP_EBADDATA);
  CHECK(strstr(p.why, "orders shardId-000000000000 495: base64: it is not base64"));
  CHECK_INT(out.n, 0);
  done();
}

/* What is written while a record is made goes away in front of its part. */
TEST(records_before_it_may_be_written_while_it_is_made) {
  static const char good[] =
      "{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":[{\"message\":\"a\"},{\"message\":\"b\"}]}",
                    bad[] = "{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":[{\"message\":\"a\"},7]}";
  char want[200];
  for (int i = 0; i < 2; i++) {
    const char *data = i ? bad : good;
    sloop_record_t r = {
        .stream = "orders", .shard = "shardId-0", .seq = {"495", 3}, .data = {data, strlen(data)}};
    OPEN("-E", "-s", "cwlogs", "orders");
    slp_buf_add_z(&out, "an earlier record\n");
    size_t earlier = out.n;
    slp_printer_begin(&p, &r, 0);
    int more;
    while ((more = slp_printer_step(&p, &out, &printed)) == 1)
      if (earlier && out.n > earlier) {
        memmove(out.p, out.p + earlier, out.n - earlier);
        out.n -= earlier;
        earlier = 0;
      }
    CHECK_INT(more, 0);
    CHECK_INT(earlier, 0);
    CHECK_INT(p.undecoded, i);
    snprintf(want, sizeof want, "%s\n", i ? bad : "a\nb");
    CHECK_STR(slp_buf_z(&out), want);
    done();
  }
}

/* A file of Avro with the numbers 1 and 2; and a message of the version whose id is sixteen times x. */
static const char numbers[] =
    "Obj\x01\x02\x16"
    "avro.schema\x0c\"long\"\0"
    "0123456789abcdef"
    "\x04\x04\x02\x04"
    "0123456789abcdef",
                  message[] = "\x03\0xxxxxxxxxxxxxxxx\x0e";
static sloop_record_t record_of(const char *data, size_t n) {
  return (sloop_record_t){.stream = "orders", .shard = "shardId-0", .seq = {"495", 3}, .data = {data, n}};
}
static int step_all(const sloop_record_t *r) {
  int more;
  slp_buf_clear(&out);
  slp_printer_begin(&p, r, 0);
  do more = slp_printer_step(&p, &out, &printed);
  while (more == 1);
  return more;
}

TEST(a_file_of_avro_is_a_line_a_datum) {
  sloop_record_t r = record_of(numbers, sizeof numbers - 1);
  OPEN("-s", "avro", "orders");
  CHECK_INT(step_all(&r), 0);
  CHECK_STR(slp_buf_z(&out), "1\n2\n");
  CHECK_INT(printed, 1);
  done();
  OPEN("-s", "auto", "--grepv", "1", "-D", "|", "orders");
  CHECK_INT(step_all(&r), 0);
  CHECK_STR(slp_buf_z(&out), "2|");
  done();
  OPEN("-s", "avro", "-J", "orders");
  CHECK_INT(step_all(&r), 0);
  CHECK(strstr(slp_buf_z(&out), "\"payload\":1}\n{"));
  CHECK(strstr(slp_buf_z(&out), "\"payload\":2}\n"));
  done();
  OPEN("-E", "-s", "avro", "orders"); /* damaged in its second block: no line of the first is printed */
  char damaged[sizeof numbers + 20];
  memcpy(damaged, numbers, sizeof numbers - 1);
  memcpy(damaged + sizeof numbers - 1,
         "\x02\x02\x80"
         "0123456789abcdef",
         19);
  r = record_of(damaged, sizeof numbers - 1 + 19);
  CHECK_INT(step_all(&r), 0);
  CHECK_INT(p.undecoded, 1);
  CHECK(out.n == r.data.len + 1 && memcmp(out.p, damaged, r.data.len) == 0);
  done();
}

static slp_version *asked;
static int ask(slp_schemas *s, slp_version *v, char why[SLP_DECODER_WHY]) {
  (void)s, (void)why;
  asked = v;
  return 0;
}

TEST(a_record_waits_for_its_schema) {
  sloop_record_t r = record_of(message, sizeof message - 1);
  OPEN("-s", "glue", "orders");
  p.schemas.ask = ask;
  CHECK_INT(step_all(&r), SLP_DECODE_WAITS);
  for (int i = 0; i < 3; i++) CHECK_INT(slp_printer_step(&p, &out, &printed), SLP_DECODE_WAITS);
  CHECK_INT(out.n, 0);
  slp_schemas_answer(&p.schemas, asked, SLP_STR("AVRO"), SLP_STR("\"long\""));
  int more;
  do more = slp_printer_step(&p, &out, &printed);
  while (more == 1);
  CHECK_INT(more, 0);
  CHECK_STR(slp_buf_z(&out), "7\n");
  CHECK_INT(printed, 1);
  CHECK_INT(step_all(&r), 0); /* the next one does not */
  done();
  OPEN("-E", "-s", "glue", "orders");
  p.schemas.ask = ask;
  CHECK_INT(step_all(&r), SLP_DECODE_WAITS);
  slp_schemas_refuse(&p.schemas, asked, "no such schema");
  do more = slp_printer_step(&p, &out, &printed);
  while (more == 1);
  CHECK_INT(more, 0);
  CHECK(strstr(p.why, "orders shardId-0 495: glue: no such schema"));
  CHECK_INT(p.undecoded, 1);
  done();
  OPEN("-s", "glue", "orders"); /* closed while it waits */
  p.schemas.ask = ask;
  CHECK_INT(step_all(&r), SLP_DECODE_WAITS);
  done();
}

TEST(what_can_t_be_decoded_is_printed_as_it_came_when_asked_to_go_on) {
  OPEN("-E", "-s", "hex", "--grepv", "secret", "orders");
  CHECK_PRINTS("k", "41", "A\n");
  CHECK_PRINTS("k", "4x", "4x\n");
  CHECK_PRINTS("k", "secret", "");
  CHECK_INT(p.undecoded, 2);
  done();
  OPEN("-EJ", "-s", "hex", "orders");
  CHECK_INT(add("k", "4x"), 0);
  CHECK(strstr(slp_buf_z(&out), "\"payload\":\"4x\",\"decode_error\":\"hex: it is not hex\"}\n"));
  done();
}

TEST(keys_are_decoded_too) {
  OPEN("-s", "key=ddb-json", "-K", "|", "orders");
  CHECK_PRINTS("{\"id\":{\"N\":\"1\"}}", "x", "{\"id\":1}|x\n");
  done();
  OPEN("-s", "key=plain-json", "-s", "plain-json", "-J", "orders");
  CHECK_INT(add("[ 1 ]", "{ }"), 0);
  CHECK(strstr(slp_buf_z(&out), "\"key\":[1],\"payload\":{}}\n"));
  done();
}

#define LOGS(events) "{\"messageType\":\"DATA_MESSAGE\",\"logGroup\":\"g\",\"logEvents\":[" events "]}"
TEST(a_record_of_logs_is_a_line_an_event) {
  OPEN("-s", "cwlogs", "--grepv", "b", "orders");
  CHECK_PRINTS("k", LOGS("{\"message\":\"a\"},{\"message\":\"b\"},{\"message\":\"c\"}"), "a\nc\n");
  CHECK_PRINTS("k", LOGS("{\"message\":\"b\"}"), "");
  CHECK_PRINTS("k", "{\"messageType\":\"CONTROL_MESSAGE\"}", "");
  /* one event of it is fine, and then it is not: nothing of it is printed */
  CHECK_INT(add("k", LOGS("{\"message\":\"a\"},7")), SLP_EBADDATA);
  CHECK_INT(out.n, 0);
  CHECK_INT(printed, 0);
  done();
}

TEST(no_empty_line_is_behind_an_event_whatever_ends_it) {
  OPEN("-s", "cwlogs", "--grep", "b$", "orders");
  CHECK_PRINTS("k", LOGS("{\"message\":\"b\\n\"},{\"message\":\"a\\n\"},{\"message\":\"a\\nb\\r\\n\"}"),
               "b\na\nb\n");
  done();
  OPEN("-s", "cwlogs", "--grep", "b$", "-J", "orders");
  CHECK_INT(add("k", LOGS("{\"message\":\"b\\r\\n\",\"extractedFields\":{\"@aws.account\":\"1\"}}")), 0);
  CHECK(strstr(slp_buf_z(&out),
               "\"payload\":\"b\\r\\n\",\"log\":{\"group\":\"g\",\"stream\":\"\",\"owner\":\"\",\"id\":\"\","
               "\"ts\":null,\"extractedFields\":{\"@aws.account\":\"1\"}}}\n"));
  done();
}

/* A record of which several lines are undecided counts once. A record that is printed as it came does not count. */
TEST(a_record_is_counted_undecided_once) {
  static const char *const expression = "^((a+)+)+\\2[b-c]";
  char data[9000], why[200];
  slp_grep *grep = NULL;
  mem = slp_mem_new(NULL, NULL);
  int r = slp_grep_new(mem, &(slp_grep_opts){.wanted = &expression, .wanted_n = 1}, &grep, why);
  slp_grep_free(grep);
  slp_mem_drop(mem);
  if (r) return; /* it needs PCRE2, and only that has bounds */
  OPEN("-E", "-s", "cwlogs", "--grep", expression, "orders");
  char as[2001];
  memset(as, 'a', sizeof as - 1);
  as[sizeof as - 1] = 0;
  for (int i = 0; i < 2; i++) {
    snprintf(data, sizeof data, LOGS("{\"message\":\"%s\"},%s%s%s"), as, i ? "7" : "{\"message\":\"",
             i ? "" : as, i ? "" : "\"}");
    CHECK_INT(add("k", data), 0);
    CHECK_INT(p.undecided, 1);
    CHECK_INT(p.undecoded, i);
  }
  done();
}

TEST(a_packed_record_that_is_not_of_logs_is_told_as_what_it_is) {
  OPEN("-s", "cwlogs", "orders");
  CHECK_INT(add("k", "\x28\xb5\x2f\xfdx"), SLP_EBADDATA);
  CHECK(strstr(p.why, slp_decoder_by_name(SLP_STR("zstd"))->needs
                          ? "cwlogs: it looks like zstd, which is not built in"
                          : "cwlogs: it looks like zstd: -s zstd,cwlogs"));
  CHECK_INT(add("k", "\x1f\x8b\x08x"), SLP_EBADDATA);
  CHECK(strstr(p.why, "cwlogs: it is not a record of a CloudWatch Logs subscription"));
  done();
}

TEST(control_messages_are_counted) {
  OPEN("-s", "cwlogs", "orders");
  CHECK_PRINTS(
      "k", "{\"messageType\":\"CONTROL_MESSAGE\",\"logEvents\":[{\"message\":\"CWL CONTROL MESSAGE\"}]}", "");
  CHECK_PRINTS("k", LOGS(""), "");
  CHECK_INT(p.controls, 1);
  done();
}

/* Members that the record has are written with each event, and bounded with it. */
TEST(what_is_handed_on_of_logs_is_bounded) {
  static char big[20000];
  OPEN("-JE", "-X", "decoded_bytes_max=20000", "-s", "cwlogs", "orders");
  size_t n = (size_t)snprintf(big, sizeof big, "{\"messageType\":\"DATA_MESSAGE\",\"x\":\"");
  memset(big + n, '\x7f', 5000); /* each becomes six bytes */
  snprintf(big + n + 5000, 100, "\",\"logEvents\":[{\"message\":\"m\"}]}");
  CHECK_INT(add("k", big), 0);
  CHECK(strstr(slp_buf_z(&out),
               "\"decode_error\":\"cwlogs: more than 20000 bytes; see -X decoded_bytes_max\""));
  memset(big + n, 'x', 5000);
  snprintf(
      big + n + 5000, 200,
      "\",\"logEvents\":[{\"message\":\"m\"},{\"message\":\"m\"},{\"message\":\"m\"},{\"message\":\"m\"}]}");
  CHECK_INT(add("k", big), 0);
  CHECK(strstr(slp_buf_z(&out),
               "\"decode_error\":\"cwlogs: more than 20000 bytes; see -X decoded_bytes_max\""));
  done();
}

/* A tombstone: what a delete leaves behind it. */
TEST(an_empty_record_is_an_empty_value_for_every_decoder) {
  for (size_t i = 0; slp_decoder_at(i); i++) {
    const slp_decoder *d = slp_decoder_at(i);
    if (d->needs) continue;
    char key[40];
    const char *empty = d->makes_json ? "null" : "\"\"";
    snprintf(key, sizeof key, "key=%s", d->name);
    OPEN("-s", d->name, "orders");
    CHECK_PRINTS("k", "", "\n");
    done();
    OPEN("-Z", "-s", d->name, "orders");
    CHECK_PRINTS("k", "", "NULL\n");
    done();
    OPEN("-JE", "-s", d->name, "orders");
    CHECK_INT(add("k", ""), 0);
    CHECK(strstr(slp_buf_z(&out), "\"key\":\"k\",\"payload\":"));
    CHECK(strstr(slp_buf_z(&out), empty) && !strstr(slp_buf_z(&out), "decode_error"));
    CHECK_INT(p.undecoded, 0);
    done();
    if (d->makes_events) continue;
    OPEN("-J", "-s", key, "orders");
    CHECK_INT(add("", "x"), 0);
    CHECK(strstr(slp_buf_z(&out), d->makes_json ? "\"key\":null," : "\"key\":\"\","));
    done();
  }
}

TEST(once_is_enough) {
  OPEN("--unique", "orders");
  CHECK_PRINTS("k", "v", "v\n");
  CHECK_PRINTS("k", "v", "");
  CHECK_PRINTS("l", "v", "v\n");
  done();
}

TEST(nothing_is_null_when_asked) {
  OPEN("-ZK:", "orders");
  CHECK_PRINTS("", "", "NULL:NULL\n");
  CHECK_PRINTS("k", "v", "k:v\n");
  done();
  OPEN("-Zf", "%k=%s;", "orders");
  CHECK_PRINTS("", "", "NULL=NULL;");
  done();
}

TEST(wrong_texts_are_refused_at_the_beginning) {
  static const char *const bad[][2] = {{"-f", "%y"}, {"-D", "\\q"}, {"-K", "\\q"}, {"--grep", "("}};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    char why[SLP_ARGS_WHY] = "";
    slp_surroundings around = {.clock = {0, NULL}};
    const char *argv[] = {"x", bad[i][0], bad[i][1], "orders"};
    mem = slp_mem_new(NULL, NULL);
    CHECK_INT(slp_args_parse(&args, mem, 4, argv, &around, why), 0);
    CHECK_INT(slp_printer_open(&p, mem, &args, 0, 0, why), SLP_EINVAL);
    if (strncmp(why, bad[i][0], 2) != 0) CHECK_FAIL("\"%s\" does not name %s", why, bad[i][0]);
    slp_printer_close(&p);
    CHECK_INT(mem->live_blocks, 0);
    slp_mem_drop(mem);
  }
}

TEST(a_record_does_not_drive_a_terminal) {
  OPEN("-f", "%k=%s;%S\\n", "orders");
  CHECK_PRINTS("a\x1b[2J",
               "\xc2\x9b"
               "2J\r\xe2\x80\xae.",
               "a\x1b[2J=\xc2\x9b"
               "2J\r\xe2\x80\xae.;9\n");
  p.terminal = 1;
  CHECK_PRINTS("a\x1b[2J",
               "\xc2\x9b"
               "2J\r\xe2\x80\xae.",
               "a\\x1B[2J=\\xC2\\x9B2J\\x0D\\xE2\\x80\\xAE.;9\n");
  done();
}

/* The longest step of a record of 4 MiB, and how many there were. */
static uint64_t longest_us(const char *of, uint32_t *ret_steps) {
  size_t n = 4 << 20, period = strlen(of);
  char *text = malloc(n);
  CHECK(text);
  for (size_t i = 0; i < n; i++) text[i] = of[i % period];
  sloop_record_t r = {.stream = "orders", .shard = "shardId-0", .key = {"k", 1}, .data = {text, n}};
  uint64_t longest = 0;
  int more;
  slp_buf_free(&out);
  slp_buf_init(&out, mem, 1 << 30);
  slp_printer_begin(&p, &r, 0);
  *ret_steps = 0;
  do {
    uint64_t from = cpu_us(), us;
    more = slp_printer_step(&p, &out, &printed);
    us = cpu_us() - from;
    longest = us > longest ? us : longest;
    ++*ret_steps;
  } while (more == 1);
  free(text);
  return longest;
}

/* 16 MiB are printed in up to 0.2 s, says -X decoded_bytes_max, so these in a quarter; a slow machine gets four times that,
 * and sanitizers five times more. */
#define LONGEST_US (SANITIZED ? 1000000u : 200000u)

TEST(a_large_record_does_not_hold_the_loop_for_long) {
  static const struct {
    const char *of, *args[3];
    int terminal;
  } all[] = {{"ab\n", {"-Z", "-O", "-u"}, 0},
             {"\x01\xff\"", {"-J", "-E", "-u"}, 0},
             {"\"\\\x01", {"-J", "-E", "-u"}, 0},
             {"ab\xff", {"-s", "utf8", "-u"}, 0},
             {"\x1b\xc2\x9b", {"-Z", "-O", "-u"}, 1},
             {"\x1b", {"-f", "%s", "-u"}, 1},
             {"ab ababba\n", {"--grep", "(?s)(a.*b.*){9}[y-z]{2}", "-u"}, 0}};
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    uint32_t steps;
    OPEN(all[i].args[0], all[i].args[1], all[i].args[2], "orders");
    p.terminal = (uint8_t)all[i].terminal;
    uint64_t us = longest_us(all[i].of, &steps);
    for (int again = 0; us > LONGEST_US && again < 2; again++) { /* a busy machine's caches cost time too */
      done();
      OPEN(all[i].args[0], all[i].args[1], all[i].args[2], "orders");
      p.terminal = (uint8_t)all[i].terminal;
      us = longest_us(all[i].of, &steps);
    }
    if (us > LONGEST_US) CHECK_FAIL("%zu: %llu us", i, (unsigned long long)us);
    if (p.grep) CHECK(steps >= 64);
    done();
  }
}

/* Its lines are made one by one, and the last step of it makes none. */
TEST(a_record_of_several_lines_counts_once) {
#define EVENTS(first, last)                                                                           \
  "{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":[{\"message\":\"" first "\"},{\"message\":\"" last \
  "\"}]"                                                                                              \
  "}"
  OPEN("-s", "cwlogs", "--grep", "a", "orders");
  CHECK_PRINTS("k", EVENTS("a1", "a2"), "a1\na2\n");
  CHECK_PRINTS("k", EVENTS("a1", "b"), "a1\n");
  CHECK_PRINTS("k", EVENTS("b", "a2"), "a2\n");
  CHECK_PRINTS("k", EVENTS("b", "c"), "");
  CHECK_PRINTS("k", "{\"messageType\":\"CONTROL_MESSAGE\",\"logEvents\":[{\"message\":\"a\"}]}", "");
  done();
}

TEST(keys_are_picked_before_payloads_are_decoded) {
  OPEN("--key", "^user-[12]$", "--key-is", "admin", "-s", "base64", "orders");
  CHECK_PRINTS("user-1", "aGVsbG8=", "hello\n");
  CHECK_PRINTS("user-3", "aGVsbG8=", "");
  CHECK_PRINTS("user-3", "no base64", ""); /* not decoded, so no error */
  CHECK_PRINTS("admin", "eA==", "x\n");
  CHECK_PRINTS("Admin", "eA==", "");
  CHECK_PRINTS("admin2", "eA==", "");
  CHECK_INT(add("user-1", "no base64"), SLP_EBADDATA);
  done();
  OPEN("--key", "USER", "-i", "--key-is", "", "--grep", "b", "orders");
  CHECK_PRINTS("user-1", "abc", "abc\n");
  CHECK_PRINTS("user-1", "ac", "");
  CHECK_PRINTS("", "abc", "abc\n");
  CHECK_PRINTS("x", "abc", "");
  sloop_record_t r = {.stream = "orders", .shard = "s", .data = {"abc", 3}, .flags = SLOOP_REC_KEYLESS};
  slp_buf_clear(&out);
  slp_printer_begin(&p, &r, 0);
  while (slp_printer_step(&p, &out, &printed) == 1) {
  }
  CHECK_STR(slp_buf_z(&out), ""); /* no key is not the empty key */
  done();
}

TEST(keys_are_matched_decoded_and_as_they_came_if_they_can_not_be) {
  OPEN("--key-is", "hello", "-s", "key=base64", "orders");
  CHECK_PRINTS("aGVsbG8=", "a", "a\n");
  CHECK_PRINTS("eA==", "a", "");
  CHECK_INT(add("hello", "a"), SLP_EBADDATA);
  done();
  OPEN("-E", "--key-is", "hello", "-s", "key=base64", "--grep", "a", "orders");
  CHECK_PRINTS("hello", "a", "a\n");
  CHECK_PRINTS("hello", "b", "");
  CHECK_PRINTS("jello", "a", "");
  CHECK_INT(p.undecoded, 3);
  done();
}

TEST(a_key_that_is_undecided_is_an_error_or_is_printed) {
  char why[SLP_ARGS_WHY] = "";
  static char key[2001];
  memset(key, 'a', sizeof key - 1);
  if (!slp_perl_known()) return;
  OPEN("--key", "^((a+)+)+\\2[b-c]", "orders");
  CHECK_INT(add(key, "x"), SLP_EBADDATA);
  CHECK(strstr(p.why, "--key \"") && strstr(p.why, "undecided"));
  done();
  OPEN("-E", "--key", "^((a+)+)+\\2[b-c]", "orders");
  CHECK_PRINTS(key, "x", "x\n");
  CHECK_INT(p.undecided, 1);
  done();
  slp_surroundings around = {.clock = {0, NULL}};
  mem = slp_mem_new(NULL, NULL);
  CHECK_INT(slp_args_parse(&args, mem, 4, (const char *[]){"x", "--key", "a(", "orders"}, &around, why), 0);
  CHECK_INT(slp_printer_open(&p, mem, &args, 0, 0, why), SLP_EINVAL);
  CHECK(strstr(why, "--key: \"a(\": "));
  slp_buf_init(&out, mem, 10);
  done();
}

TEST(times_stand_before_everything_else) {
  OPEN("--timestamps", "--utc", "-O", "-K:", "orders");
  CHECK_PRINTS("k", "x", "1970-01-01T00:00:00.007Z 495:k:x\n");
  done();
  OPEN("--timestamps", "--utc", "-s", "cwlogs", "orders");
  CHECK_PRINTS("k", LOGS("{\"message\":\"a\"},{\"message\":\"b\"}"),
               "1970-01-01T00:00:00.007Z a\n1970-01-01T00:00:00.007Z b\n");
  done();
}
