/* cli_args.c - the command line: every option, every way to write it, every refusal; positions; -X. */
#include "cli/args.h"
#include "check.h"
#include "cli/knobs.h"

#define NOW_MS INT64_C(1700000000000)

static slp_args args; /* large, and its strings point into itself */
static char why[200];

#define PARSE(...)                                                                       \
  (slp_args_parse(&args, (int)SLP_COUNT(((const char *[]){"stream-tail", __VA_ARGS__})), \
                  (const char *[]){"stream-tail", __VA_ARGS__}, NOW_MS, why))
#define CHECK_PARSES(...)                                        \
  do {                                                           \
    why[0] = 0;                                                  \
    if (PARSE(__VA_ARGS__) != 0) CHECK_FAIL("refused: %s", why); \
  } while (0)
#define CHECK_REFUSED(part, ...)                                               \
  do {                                                                         \
    why[0] = 0;                                                                \
    if (PARSE(__VA_ARGS__) != SLP_EINVAL) CHECK_FAIL("not refused: %s", part); \
    if (!strstr(why, part)) CHECK_FAIL("\"%s\" lacks \"%s\"", why, part);      \
    CHECK(strlen(why) < 199);                                                  \
  } while (0)

TEST(a_stream_is_enough) {
  CHECK_PARSES("orders");
  CHECK_INT(args.mode, SLP_MODE_TAIL);
  CHECK_STR(args.opts.stream, "orders");
  CHECK_INT(args.opts.start, SLOOP_LATEST);
  CHECK_INT(args.opts.order_wait_ms, 1000);
}

TEST(short_options_join_and_take_values_both_ways) {
  CHECK_PARSES("-eJc5", "orders");
  CHECK(args.until_tip && args.json);
  CHECK_INT(args.count, 5);
  CHECK_PARSES("orders", "-c", "7", "-o", "oldest", "-q");
  CHECK_INT(args.count, 7);
  CHECK_INT(args.opts.start, SLOOP_OLDEST);
  CHECK(args.quiet);
  CHECK_PARSES("-vvv", "orders");
  CHECK_INT(args.verbose, 3);
  CHECK_INT(args.opts.log_level, SLOOP_LOG_DEBUG);
}

TEST(long_options_take_values_both_ways) {
  CHECK_PARSES("--count=9", "--order", "shard", "--wire=json", "--timeout=3", "orders");
  CHECK_INT(args.count, 9);
  CHECK_INT(args.opts.order, SLOOP_ORDER_SHARD);
  CHECK_INT(args.opts.wire, SLOOP_WIRE_JSON);
  CHECK_INT(args.timeout_ms, 3000);
  CHECK_PARSES("-b", "http://127.0.0.1:1", "-f", "%s", "--", "-strange");
  CHECK_STR(args.opts.endpoint, "http://127.0.0.1:1");
  CHECK_STR(args.stream, "-strange");
}

TEST(shards_add_up) {
  CHECK_PARSES("-p", "1", "-p3", "orders");
  CHECK_INT(args.opts.shards_n, 2);
  CHECK_STR(args.opts.shards[0], "1");
  CHECK_STR(args.opts.shards[1], "3");
}

TEST(a_definite_set_waits_for_ever_unless_told_otherwise) {
  CHECK_PARSES("-e", "orders");
  CHECK_INT(args.opts.order_wait_ms, UINT32_MAX);
  CHECK_PARSES("-c1", "orders");
  CHECK_INT(args.opts.order_wait_ms, UINT32_MAX);
  CHECK_PARSES("-e", "-X", "order_wait_ms=5", "orders");
  CHECK_INT(args.opts.order_wait_ms, 5);
}

TEST(modes) {
  CHECK_PARSES("-L", "orders");
  CHECK_INT(args.mode, SLP_MODE_LIST);
  CHECK_PARSES("-M", "4");
  CHECK_INT(args.mode, SLP_MODE_SERVE);
  CHECK_INT(args.serve_shards, 4);
  CHECK_PARSES("--demo");
  CHECK_INT(args.mode, SLP_MODE_DEMO);
  CHECK_INT(args.seconds, 0);
  CHECK_PARSES("--demo=3");
  CHECK_INT(args.seconds, 3);
  CHECK_PARSES("--bench");
  CHECK_INT(args.mode, SLP_MODE_BENCH);
  CHECK_PARSES("--bench=20", "orders");
  CHECK_INT(args.seconds, 20);
  CHECK_STR(args.opts.stream, "orders");
  CHECK_PARSES("-h");
  CHECK_INT(args.mode, SLP_MODE_HELP);
  CHECK_PARSES("-V");
  CHECK_INT(args.mode, SLP_MODE_VERSION);
  CHECK_PARSES("-X", "list");
  CHECK_INT(args.mode, SLP_MODE_KNOBS);
}

TEST(what_is_wrong_is_said) {
  CHECK_REFUSED("which stream?", "-e");
  CHECK_REFUSED("unknown option -z", "-z", "orders");
  CHECK_REFUSED("unknown option --frobnicate", "--frobnicate=3", "orders");
  CHECK_REFUSED("-c needs a value: N", "orders", "-c");
  CHECK_REFUSED("-c: \"x\" is not a whole number", "-c", "x", "orders");
  CHECK_REFUSED("-c: \"0\" is not", "-c0", "orders");
  CHECK_REFUSED("--quiet takes no value", "--quiet=1", "orders");
  CHECK_REFUSED("--order: \"random\" is not time or shard", "--order", "random", "orders");
  CHECK_REFUSED("--wire", "--wire", "xml", "orders");
  CHECK_REFUSED("one stream at a time", "a", "b");
  CHECK_REFUSED("the stream's name is empty", "");
  CHECK_REFUSED("-f does not go together with -J", "-J", "-f%s", "orders");
  CHECK_REFUSED("only one of", "-L", "--demo");
  CHECK_REFUSED("-c does not go together with -L", "-L", "-c1", "orders");
  CHECK_REFUSED("-e does not go together with -M", "-M4", "-e");
  CHECK_REFUSED("-f does not go together with --bench", "--bench", "-f%s");
  CHECK_REFUSED("--demo makes its own stream", "--demo", "orders");
  CHECK_REFUSED("-M: \"0\"", "-M0");
  CHECK_REFUSED("--timeout", "--timeout=-1", "orders");
  CHECK_REFUSED("-p: needs", "-p", "", "orders");
}

static void check_time(const char *text, int64_t want_ms) {
  int64_t ms = -7;
  if (slp_time_parse(slp_str_of(text), NOW_MS, &ms) != 0) CHECK_FAIL("\"%s\" is refused", text);
  if (ms != want_ms) CHECK_FAIL("\"%s\" is %lld", text, (long long)ms);
}

TEST(times) {
  check_time("1700000000", NOW_MS);
  check_time("1700000000123", NOW_MS + 123);
  check_time("99999999999", INT64_C(99999999999000));
  check_time("100000000000", INT64_C(100000000000));
  check_time("0", 0);
  check_time("10m", NOW_MS - 600000);
  check_time("2h30m", NOW_MS - 9000000);
  check_time("1w2d3h4m5s", NOW_MS - (((7 + 2) * 24 + 3) * 60 + 4) * INT64_C(60000) - 5000);
  check_time("2023-11-14T22:13:20Z", NOW_MS);
  check_time("2023-11-14T23:13:20.5+01:00", NOW_MS + 500);
  check_time("2023-11-14", INT64_C(1699920000000));
  check_time("1000000w", 0); /* before the epoch: from the beginning */
  static const char *const bad[] = {"",
                                    "m",
                                    "10",
                                    "x",
                                    "10x",
                                    "10m5h",
                                    "10m10m",
                                    "-5m",
                                    "10 m",
                                    "2023-13-01",
                                    "5m3",
                                    "99999999999999999999",
                                    "9223372036854775807w",
                                    "1.5h",
                                    "2023-11-14T25:00:00Z"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    int64_t ms;
    if (strcmp(bad[i], "10") == 0) continue; /* ten seconds after the epoch */
    if (slp_time_parse(slp_str_of(bad[i]), NOW_MS, &ms) == 0) CHECK_FAIL("\"%s\" is taken", bad[i]);
  }
}

TEST(positions) {
  CHECK_PARSES("-o", "beginning", "s");
  CHECK_INT(args.opts.start, SLOOP_OLDEST);
  CHECK_PARSES("-o", "end", "s");
  CHECK_INT(args.opts.start, SLOOP_LATEST);
  CHECK_PARSES("-o", "s@10m", "s");
  CHECK_INT(args.opts.start, SLOOP_AT_TIME);
  CHECK_INT(args.opts.start_at_ms, NOW_MS - 600000);
  CHECK_PARSES("-o", "3:495", "s");
  CHECK_INT(args.opts.start, SLOOP_AT_SEQ);
  CHECK_STR(args.opts.start_shard, "shardId-000000000003");
  CHECK_STR(args.opts.start_seq, "495");
  CHECK_PARSES("-o", "my_shard.1-x:0", "s");
  CHECK_STR(args.opts.start_shard, "my_shard.1-x");
  CHECK_PARSES("-o", "123456789012:5", "s");
  CHECK_STR(args.opts.start_shard, "shardId-123456789012");
  CHECK_REFUSED("is not a position", "-o", "newest", "s");
  CHECK_REFUSED("is not a position", "-o", "", "s");
  CHECK_REFUSED("is not a time", "-o", "s@", "s");
  CHECK_REFUSED("is not a time", "-o", "s@yesterday", "s");
  CHECK_REFUSED("not a shard id", "-o", ":5", "s");
  CHECK_REFUSED("not a shard id", "-o", "a b:5", "s");
  CHECK_REFUSED("not a sequence number", "-o", "3:", "s");
  CHECK_REFUSED("not a sequence number", "-o", "3:05", "s");
  CHECK_REFUSED("not a sequence number", "-o", "3:5:5", "s");
}

TEST(settings) {
  CHECK_PARSES("-X", "poll_ms=250", "-Xregion=eu-west-1", "-X", "on_trimmed=stop", "-X",
               "held_bytes_max=1000", "s");
  CHECK_INT(args.opts.poll_ms, 250);
  CHECK_STR(args.opts.region, "eu-west-1");
  CHECK_INT(args.opts.on_trimmed, SLOOP_TRIMMED_STOP);
  CHECK_INT(args.opts.held_bytes_max, 1000);
  CHECK_PARSES("-X", "log_level=debug", "-X", "order_wait_ms=max", "-X", "ca_bundle=", "s");
  CHECK_INT(args.opts.log_level, SLOOP_LOG_DEBUG);
  CHECK_INT(args.opts.order_wait_ms, UINT32_MAX);
  CHECK_PARSES("-M2", "-X", "sandbox.port=0", "-X", "sandbox.clock_offset_ms=-5000", "-X",
               "sandbox.cbor_indefinite=0", "-X", "sandbox.access_key=a=b");
  CHECK_INT(args.sandbox.clock_offset_ms, -5000);
  CHECK_INT(args.sandbox.cbor_indefinite, 0);
  CHECK_STR(args.sandbox.access_key, "a=b");
  CHECK_REFUSED("unknown setting \"speed\"", "-X", "speed=9", "s");
  CHECK_REFUSED("needs a value", "-X", "poll_ms", "s");
  CHECK_REFUSED("from 1 to", "-X", "poll_ms=0", "s");
  CHECK_REFUSED("from 1 to 10000", "-X", "fetch_records_max=10001", "s");
  CHECK_REFUSED("from 1 to", "-X", "poll_ms=4294967296", "s");
  CHECK_REFUSED("from 1 on", "-X", "held_bytes_max=18446744073709551616", "s");
  CHECK_REFUSED("stop|continue", "-X", "on_trimmed=maybe", "s");
  CHECK_REFUSED("stop|continue", "-X", "on_trimmed=", "s");
  CHECK_REFUSED("0 to 65535", "-X", "sandbox.port=65536", "-M1");
  CHECK_REFUSED("not one of 0|1", "-X", "sandbox.cbor_indefinite=2", "-M1");
}

TEST(help_and_the_list_of_settings_are_readable) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_args_help(&b), 0);
  CHECK_INT(slp_knobs_list(&b), 0);
  static const char *const must[] = {"-o, --start POSITION",
                                     "--demo[=SECONDS]",
                                     "-X, --set NAME=VALUE",
                                     "%R length",
                                     "held_bytes_max                     67108864",
                                     "sandbox.port",
                                     "130"};
  for (size_t i = 0; i < SLP_COUNT(must); i++)
    if (!strstr(slp_buf_z(&b), must[i])) CHECK_FAIL("lacks \"%s\"", must[i]);
  for (char *line = b.p; *line;) {
    size_t n = strcspn(line, "\n");
    if (n > 160) CHECK_FAIL("too long: %.*s", (int)n, line);
    line += n + (line[n] == '\n');
  }
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

CHECK_MAIN()
