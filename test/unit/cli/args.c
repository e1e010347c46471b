/* args.c - the command line: every option, every way to write it, every refusal; -X. */
#include "cli/args.h"
#include "check.h"
#include "cli/help.h"
#include "cli/knobs.h"

#define NOW_MS INT64_C(1700000000000)

static slp_args args; /* large, and its strings point into itself */
static char why[SLP_ARGS_WHY];

static int parse(int argc, const char *const *argv) {
  static slp_mem *mem;
  slp_surroundings around = {.clock = {NOW_MS, NULL}};
  if (!mem) mem = slp_mem_new(NULL, NULL);
  slp_args_free(&args);
  return slp_args_parse(&args, mem, argc, argv, &around, why);
}
#define PARSE(...)                                                       \
  (parse((int)SLP_COUNT(((const char *[]){"stream-tail", __VA_ARGS__})), \
         (const char *[]){"stream-tail", __VA_ARGS__}))
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
    CHECK(strlen(why) < SLP_ARGS_WHY - 1);                                     \
  } while (0)

TEST(a_stream_is_enough) {
  CHECK_PARSES("orders");
  CHECK_INT(args.mode, SLP_MODE_TAIL);
  CHECK_STR(args.opts.stream, "orders");
  CHECK_INT(args.opts.start.kind, SLOOP_LATEST);
  CHECK_INT(args.opts.order_wait_ms, 1000);
}

TEST(short_options_join_and_take_values_both_ways) {
  CHECK_PARSES("-eJc5", "orders");
  CHECK(args.until_tip && args.json);
  CHECK_INT(args.count, 5);
  CHECK_PARSES("orders", "-c", "7", "-o", "oldest", "-q");
  CHECK_INT(args.count, 7);
  CHECK_INT(args.opts.start.kind, SLOOP_OLDEST);
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
  CHECK(!args.topic);
  CHECK_PARSES("orders", "-h", "-e");
  CHECK(!args.topic);
  CHECK_PARSES("-h", "groups", "--nonsense");
  CHECK_STR(args.topic, "groups");
  CHECK_PARSES("--help=all");
  CHECK_STR(args.topic, "all");
  CHECK_PARSES("-V");
  CHECK_INT(args.mode, SLP_MODE_VERSION);
  CHECK_PARSES("-X", "list");
  CHECK_INT(args.mode, SLP_MODE_KNOBS);
}

TEST(a_command_line_that_is_not_complete_is_taken_as_far_as_it_makes_sense) {
  static const char *const words[] = {"x",   "-b", "http://h", "--nonsense", "-c", "none",   "-G",
                                      "app", "-L", "orders",   "--watch",    "-z", "--reset"};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_surroundings around = {.config = "/nonexistent/file"};
  slp_args_parse_part(&args, mem, (int)SLP_COUNT(words), words, &around);
  CHECK_STR(args.opts.endpoint, "http://h");
  CHECK_STR(args.opts.app, "app");
  CHECK_STR(args.opts.stream, "orders");
  slp_args_free(&args);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(what_is_wrong_is_said) {
  CHECK_REFUSED("which stream?", "-e");
  CHECK_REFUSED("unknown option -z", "-z", "orders");
  CHECK_REFUSED("-h: there is no topic \"watchin\"; did you mean watching?", "-h", "watchin");
  CHECK_REFUSED("unknown option --frobnicate", "--frobnicate=3", "orders");
  CHECK_REFUSED("unknown option -t; what it is in kcat is here: STREAM, as many as you like", "-t", "orders");
  CHECK_REFUSED("unknown option -w; try stream-tail -h", "-w");
  CHECK_REFUSED("unknown option --lag: here it is: -G APP --leases STREAM shows it", "--lag", "orders");
  CHECK_REFUSED("which stream? --leases -G bill needs its name too", "-G", "bill", "--leases");
  CHECK_REFUSED("-c needs a value: N", "orders", "-c");
  CHECK_REFUSED("-c: \"x\" is not a whole number", "-c", "x", "orders");
  CHECK_REFUSED("-c: \"0\" is not", "-c0", "orders");
  CHECK_REFUSED("--quiet takes no value", "--quiet=1", "orders");
  CHECK_REFUSED("--order: \"random\" is not time|shard", "--order", "random", "orders");
  CHECK_REFUSED("--wire", "--wire", "xml", "orders");
  CHECK_REFUSED("one stream at a time", "--bench", "a", "b");
  CHECK_REFUSED("\"a\" is given twice", "a", "b", "a");
  CHECK_REFUSED("\"pay[\" is no pattern of names: a [ has no ]", "pay[");
  CHECK_REFUSED("--bench takes the name of one stream, and \"pay*\" is a pattern of names", "--bench",
                "pay*");
  CHECK_REFUSED("-o SHARD:SEQUENCE is about one stream, and \"pay*\"", "-o", "3:5", "pay*");
  CHECK_REFUSED("-p key:TEXT is about one stream, and \"pay*\"", "-p", "key:x", "pay*");
  CHECK_REFUSED("in one stream, but 2 are given", "-o", "3:5", "a", "b");
  CHECK_REFUSED("-K can't be combined with -J", "-J", "-K:", "a");
  CHECK_REFUSED("-O can't be combined with -f", "-f%s", "-O", "a");
  CHECK_REFUSED("-D can't be combined with -J", "-JD,", "a");
  CHECK_REFUSED("\"blue\" is not auto|always|never", "--color=blue", "a");
  CHECK_REFUSED("unknown decoder", "-s", "rot13", "a");
  CHECK_REFUSED("cwlogs makes several lines", "-s", "cwlogs,gzip", "a");
  CHECK_REFUSED("--until: \"soon\" is not a time", "--until", "soon", "a");
  CHECK_REFUSED("--since: \"\" is not a time", "--since=", "a");
  CHECK_REFUSED("only one end", "--until", "5m", "-o", "e@6m", "a");
  CHECK_REFUSED("-m: \"0\"", "-m0", "a");
  CHECK_REFUSED("-d: unknown part", "-d", "order,nothing", "a");
  CHECK_REFUSED("--save: \"\" is not", "--save=", "a");
  CHECK_REFUSED("another -p", "-p", "key:x", "-p", "3", "a");
  CHECK_REFUSED("--save", "-p", "key:x", "--save=f", "a");
  CHECK_REFUSED("--completion: \"tcsh\" is not bash|zsh", "--completion=tcsh");
  CHECK_REFUSED("the stream's name is empty", "");
  CHECK_REFUSED("-f can't be combined with -J", "-J", "-f%s", "orders");
  CHECK_REFUSED("--demo can't be combined with -L", "-L", "--demo");
  CHECK_REFUSED("-c can't be combined with -L", "-L", "-c1", "orders");
  CHECK_REFUSED("-e can't be combined with -M", "-M4", "-e");
  CHECK_REFUSED("-f can't be combined with --bench", "--bench", "-f%s");
  CHECK_REFUSED("--demo makes its own stream", "--demo", "orders");
  CHECK_REFUSED("-M: \"0\"", "-M0");
  CHECK_REFUSED("--timeout", "--timeout=-1", "orders");
  CHECK_REFUSED("-p: needs", "-p", "", "orders");
}

TEST(writing) {
  CHECK_PARSES("-P", "orders");
  CHECK_INT(args.mode, SLP_MODE_PRODUCE);
  CHECK_INT(args.files_n, 0);
  CHECK_PARSES("orders", "a", "-l", "a", "-P", "-K:", "-kall", "-D\\0", "--rate=5", "--rejects=f", "-c3");
  CHECK_INT(args.streams_n, 1);
  CHECK_INT(args.files_n, 2);
  CHECK_STR(args.files[1], "a");
  CHECK_STR(args.key, "all");
  CHECK_STR(args.key_delimiter, ":");
  CHECK_STR(args.rejects, "f");
  CHECK(args.lines && args.rate == 5 && args.count == 3);
  CHECK_PARSES("-PJ", "--speed=0.5x", "orders");
  CHECK_INT(args.speed_milli, 500);
  CHECK_PARSES("-PJ", "--speed=10", "orders");
  CHECK_INT(args.speed_milli, 10000);
  CHECK_PARSES("-P", "--key-from=.a", "--unordered", "-m3", "--timeout=4", "-b", "http://x", "orders");
  CHECK(args.unordered && args.contact_ms == 3000);
  CHECK_REFUSED("which stream?", "-P");
  CHECK_REFUSED("no stream of Kinesis", "-P", "dynamodb:orders");
  CHECK_REFUSED("--speed needs -J", "-P", "--speed=2x", "orders");
  CHECK_REFUSED("--speed can't be combined with --rate", "-PJ", "--speed=2x", "--rate=1", "orders");
  CHECK_REFUSED("--speed: \"fast\"", "-PJ", "--speed=fast", "orders");
  CHECK_REFUSED("--speed: \"0\"", "-PJ", "--speed=0", "orders");
  CHECK_REFUSED("-k can't be combined with -J", "-PJ", "-kx", "orders");
  CHECK_REFUSED("-K can't be combined with -J", "-PJ", "-K:", "orders");
  CHECK_REFUSED("--key-from can't be combined with -K", "-P", "-K:", "--key-from=.a", "orders");
  CHECK_REFUSED("-l needs a FILE", "-P", "-l", "orders");
  CHECK_REFUSED("-J needs lines", "-PJ", "orders", "f");
  CHECK_REFUSED("--rejects needs lines", "-P", "--rejects=r", "orders", "f");
  CHECK_REFUSED("-f can't be combined with -P", "-P", "-f%s", "orders");
  CHECK_REFUSED("-M can't be combined with -P", "-P", "-M4");
  CHECK_PARSES("-M4", "--feed=100");
  CHECK_INT(args.feed, 100);
  CHECK_REFUSED("--feed can't be combined with -P", "-P", "--feed=1", "orders");
  CHECK_REFUSED("sandbox.synthetic_bytes", "-M4", "--feed=1", "-X", "sandbox.synthetic_bytes=100");
}

TEST(metrics) {
  CHECK_PARSES("s");
  CHECK(!slp_args_want_metrics(&args));
  CHECK_INT(args.metrics.cloudwatch_ms, 60000);
  CHECK_PARSES("--metrics", "127.0.0.1:9100", "-Ga", "s");
  CHECK(slp_args_want_metrics(&args));
  CHECK_STR(args.metrics.listen, "127.0.0.1:9100");
  CHECK_PARSES("-X", "metrics=:1", "-X", "cloudwatch=Mine", "-X", "cloudwatch_ms=1000", "s", "t");
  CHECK_STR(args.metrics.listen, ":1");
  CHECK_STR(args.metrics.cloudwatch, "Mine");
  CHECK_INT(args.metrics.cloudwatch_ms, 1000);
  CHECK_PARSES("-X", "cloudwatch_as_motorway=1", "s");
  CHECK(slp_args_want_metrics(&args) && args.metrics.set_of_0_1 == 1);
  CHECK_STR(slp_args_cloudwatch(&args), "Motorway/Kinesis");
  CHECK_PARSES("-X", "cloudwatch_set=motorway", "s");
  CHECK(slp_args_want_metrics(&args));
  CHECK_STR(slp_args_cloudwatch(&args), "Motorway/Kinesis");
  CHECK_PARSES("-X", "cloudwatch_set=sloop", "-X", "cloudwatch=Mine", "s");
  CHECK_STR(slp_args_cloudwatch(&args), "Mine");
  CHECK_REFUSED("cloudwatch_ms", "-X", "cloudwatch_ms=999", "s");
  CHECK_REFUSED("--metrics can't be combined with -L", "-L", "--metrics=x", "s");
  CHECK_REFUSED("-p key:TEXT can't be combined with --metrics", "-pkey:x", "--metrics", ":1", "s");
  CHECK_REFUSED("-p key:TEXT can't be combined with -X cloudwatch", "-pkey:x", "-X", "cloudwatch=a", "s");
}

TEST(leases) {
  CHECK_PARSES("-G", "billing", "--store", "sqlite:f", "-X", "lease_ms=2000", "-X", "on_retry=park", "-c1",
               "s");
  CHECK_INT(args.mode, SLP_MODE_TAIL);
  CHECK_STR(args.opts.app, "billing");
  CHECK_STR(args.opts.store, "sqlite:f");
  CHECK_INT(args.opts.lease_ms, 2000);
  CHECK_INT(args.opts.on_retry, SLOOP_RETRY_PARK);
  CHECK_PARSES("-X", "app=billing", "-o", "oldest", "a", "b");
  CHECK_STR(args.opts.app, "billing");
  CHECK_PARSES("--iam", "-G", "billing", "s");
  CHECK_STR(args.opts.app, "billing");
  CHECK_REFUSED("-p can't be combined with -G", "-Ga", "-p1", "s");
  CHECK_REFUSED("-p can't be combined with -G", "-Ga", "-pkey:x", "s");
  CHECK_REFUSED("--save can't be combined with -G", "-Ga", "--save", "f", "s");
  CHECK_PARSES("-Ga", "-e", "s");
  CHECK_INT(args.until_tip, 1);
  CHECK_PARSES("-Ga", "-o", "e@5m", "s");
  CHECK_INT(args.until_given, 1);
  CHECK_REFUSED("-o SHARD:SEQUENCE can't be combined with -G", "-Ga", "-o1:2", "s");
  CHECK_REFUSED("-o @FILE can't be combined with -G", "-Ga", "-o@f", "s");
  CHECK_REFUSED("--migrate token:FILE", "-Ga", "-o@f", "s");
  CHECK_REFUSED("--reset SHARD --to SEQUENCE", "-Ga", "-o1:2", "s");
  CHECK_REFUSED("--store needs -G", "--store", "memory", "s");
  CHECK_REFUSED("-X worker needs -G", "-X", "worker=a", "s");
  CHECK_REFUSED("-G can't be combined with -L", "-L", "-Ga", "s");
  CHECK_REFUSED("-G: \"\" is not the name", "-G", "", "s");
}

TEST(leases_for_metrics) {
  CHECK_PARSES("--leases", "--metrics", ":9100", "-G", "a", "-G", "b", "-G", "a", "one", "two");
  CHECK(args.exports && args.apps_n == 2 && args.streams_n == 2 && args.leases_ms == 30000);
  CHECK_STR(args.apps[0], "a");
  CHECK_STR(args.apps[1], "b");
  CHECK_PARSES("--leases", "-X", "metrics=:9100", "-X", "app=a", "-X", "leases_ms=1000", "one");
  CHECK(args.exports && args.apps_n == 1 && args.leases_ms == 1000);
  CHECK_PARSES("--leases", "-G", "a", "-G", "b", "one"); /* of others the last one counts */
  CHECK(!args.exports && args.apps_n == 0);
  CHECK_STR(args.opts.app, "b");
  CHECK_REFUSED("--lag-over can't be combined with --metrics", "--leases", "-G", "a", "--metrics", ":1",
                "--lag-over", "5m", "one");
  CHECK_REFUSED("-m can't be combined with --metrics", "--leases", "-G", "a", "--metrics", ":1", "-m", "5",
                "one");
  CHECK_REFUSED("--leases needs -G APP", "--leases", "--metrics", ":1", "one");
  static char names[2][40][8];
  const char *words[120] = {"stream-tail", "--leases", "--metrics", ":1"};
  int n = 4;
  for (int i = 0; i < 13; i++) { /* 13 times 5 */
    snprintf(names[0][i], sizeof names[0][i], "a%d", i);
    words[n++] = "-G";
    words[n++] = names[0][i];
  }
  for (int i = 0; i < 5; i++) {
    snprintf(names[1][i], sizeof names[1][i], "s%d", i);
    words[n++] = names[1][i];
  }
  CHECK_INT(parse(n - 1, words), 0);
  CHECK_INT(args.apps_n, 13);
  CHECK_INT(parse(n, words), SLP_EINVAL);
  CHECK(strstr(why, "at most 64 pairs of application and stream"));
}

TEST(drains_and_pauses) {
  CHECK_PARSES("--drain", "-Ga", "one", "two");
  CHECK_INT(args.mode, SLP_MODE_DRAIN);
  CHECK_PARSES("--undrain", "-Ga", "--store", "sqlite:f", "--timeout", "9", "one");
  CHECK_INT(args.mode, SLP_MODE_UNDRAIN);
  CHECK_PARSES("--pause", "3", "-Ga", "one");
  CHECK_INT(args.mode, SLP_MODE_PAUSE);
  CHECK_STR(args.lease_name, "3");
  CHECK_PARSES("--resume=3", "-Ga", "one");
  CHECK_INT(args.mode, SLP_MODE_RESUME);
  CHECK_REFUSED("--drain needs -G APP", "--drain", "one");
  CHECK_REFUSED("--undrain can't be combined with --drain", "--drain", "--undrain", "-Ga", "one");
  CHECK_REFUSED("one stream at a time", "--pause", "3", "-Ga", "one", "two");
  CHECK_REFUSED("--pause: \"\" is not a shard", "--pause=", "-Ga", "one");
  CHECK_REFUSED("--force can't be combined with --drain", "--drain", "--force", "-Ga", "one");
  CHECK_REFUSED("leases in the memory of another process", "--drain", "-Ga", "--store", "memory", "one");
  CHECK_REFUSED("which stream?", "--drain", "-Ga");
}

TEST(how_far_behind_is_too_far) {
  CHECK_PARSES("--leases", "-G", "a", "--lag-over", "2h30m", "--no-read", "one");
  CHECK(args.no_read && args.lag_over_ms == 9000000);
  CHECK_STR(args.lag_over, "2h30m");
  CHECK_PARSES("--leases", "-G", "a", "--lag-over=0s", "one");
  CHECK(args.lag_over && args.lag_over_ms == 0);
  CHECK_REFUSED("is not a length of time", "--leases", "-G", "a", "--lag-over", "5", "one");
  CHECK_REFUSED("can't be combined", "-G", "a", "--lag-over", "5m", "one");
  CHECK_REFUSED("can't be combined", "-G", "a", "--no-read", "--watch", "one");
}

TEST(commands_about_leases) {
  CHECK_PARSES("--reset", "all", "--to=oldest", "-Ga", "-o", "oldest", "s");
  CHECK_INT(args.opts.start.kind, SLOOP_OLDEST);
  CHECK_REFUSED("-o SHARD:SEQUENCE can't be combined", "--leases", "-Ga", "-o", "3:5", "s");
  CHECK_PARSES("--leases", "-Ga", "-J", "s", "t");
  CHECK_INT(args.mode, SLP_MODE_LEASES);
  CHECK_PARSES("--explain", "3", "-Ga", "s");
  CHECK_INT(args.mode, SLP_MODE_EXPLAIN);
  CHECK_STR(args.lease_name, "3");
  CHECK_PARSES("--release=w.1", "-Ga", "s");
  CHECK_INT(args.mode, SLP_MODE_RELEASE);
  CHECK_PARSES("--reset", "all", "--to", "s@1767225600", "--force", "-Ga", "s");
  CHECK_INT(args.mode, SLP_MODE_RESET);
  CHECK(args.force && args.to.kind == SLOOP_AT_TIME && args.to.at_ms == INT64_C(1767225600000));
  CHECK_PARSES("--reset=3", "--to=4951.7", "-Ga", "s");
  CHECK(args.to.kind == SLOOP_AT_SEQ && args.to.sub == 7 && !args.force);
  CHECK_STR(args.to.seq, "4951");
  CHECK_STR(args.to.shard, "");
  CHECK_PARSES("--watch", "-Ga", "s");
  CHECK_INT(args.watch_ms, SLP_WATCH_MS);
  CHECK_PARSES("--watch=7", "-Ga", "s");
  CHECK_INT(args.watch_ms, 7000);
  CHECK_REFUSED("--leases needs -G", "--leases", "s");
  CHECK_REFUSED("which stream?", "--leases", "-Ga");
  CHECK_REFUSED("--watch: one stream at a time", "--watch", "-Ga", "s", "t");
  CHECK_REFUSED("in the memory of another process", "--leases", "-Ga", "--store=memory", "s");
  CHECK_REFUSED("--reset needs --to", "--reset=all", "-Ga", "s");
  CHECK_REFUSED("is a position in one shard", "--reset=all", "--to=5", "-Ga", "s");
  CHECK_REFUSED("--to: \"1:5\" is not a position", "--reset=1", "--to=1:5", "-Ga", "s");
  CHECK_REFUSED("--to: \"@f\" is not a position", "--reset=1", "--to=@f", "-Ga", "s");
  CHECK_REFUSED("--to: \"e@5m\" is not a position", "--reset=1", "--to=e@5m", "-Ga", "s");
  CHECK_REFUSED("--force can't be combined with --release", "--release=1", "--force", "-Ga", "s");
  CHECK_REFUSED("--reset can't be combined with --release", "--release=1", "--reset=1", "-Ga", "s");
  CHECK_REFUSED("--explain: \"\" is not a shard", "--explain", "", "-Ga", "s");
}

TEST(several_streams_in_the_order_given) {
  CHECK_PARSES("a", "-e", "dynamodb:b", "arn:aws:kinesis:eu-west-1:1:stream/c");
  CHECK_INT(args.streams_n, 3);
  CHECK_STR(args.streams[1], "dynamodb:b");
  CHECK_STR(args.opts.stream, "a");
}

TEST(begin_and_end) {
  CHECK_PARSES("-o", "s@10m", "-o", "e@5m", "s");
  CHECK_INT(args.opts.start.kind, SLOOP_AT_TIME);
  CHECK_INT(args.opts.start.at_ms, NOW_MS - 600000);
  CHECK(args.until_given);
  CHECK_INT(args.until_ms, NOW_MS - 300000);
  CHECK_INT(args.opts.order_wait_ms, UINT32_MAX);
  CHECK_PARSES("--since", "10m", "--until=5m", "s");
  CHECK_INT(args.opts.start.at_ms, NOW_MS - 600000);
  CHECK_INT(args.until_ms, NOW_MS - 300000);
  CHECK_PARSES("-o", "3:495.7", "s");
  CHECK_STR(args.opts.start.shard, "shardId-000000000003");
  CHECK_INT(args.opts.start.sub, 7);
}

TEST(flags_of_kcat) {
  CHECK_PARSES("-CuEZOK", "\\t", "-D,", "-m5", "-d", "shard,order", "-s", "value=base64,gzip", "-skey=hex",
               "s");
  CHECK(args.unbuffered && args.keep_going && args.show_null && args.show_offset);
  CHECK_STR(args.key_delimiter, "\\t");
  CHECK_STR(args.delimiter, ",");
  CHECK_INT(args.contact_ms, 5000);
  CHECK_INT(args.opts.log_level, SLOOP_LOG_DEBUG);
  CHECK_INT(args.decode.n, 2);
  CHECK_STR(args.decode.step[1]->name, "gzip");
  CHECK_STR(args.decode_key.step[0]->name, "hex");
  CHECK_PARSES("--grep", "a", "--grep", "b", "--grepv=c", "--unique", "--color", "never", "--save", "f", "s");
  CHECK_INT(args.grep_n, 2);
  CHECK_STR(args.grepv[0], "c");
  CHECK(args.unique && args.color == SLP_COLOR_NEVER);
  CHECK_STR(args.save, "f");
  CHECK_PARSES("-p", "key:user-7", "s");
  CHECK_STR(args.shard_key, "user-7");
  CHECK_INT(args.opts.shards_n, 0);
}

TEST(some_answer_at_once_whatever_else_is_there) {
  CHECK_PARSES("--man", "--nonsense");
  CHECK_INT(args.mode, SLP_MODE_MAN);
  CHECK_PARSES("--kcat");
  CHECK_INT(args.mode, SLP_MODE_KCAT);
  CHECK_PARSES("--completion", "zsh");
  CHECK_STR(args.completion, "zsh");
  CHECK_PARSES("-X", "dump", "-e");
  CHECK_INT(args.mode, SLP_MODE_DUMP);
  CHECK_PARSES("--iam", "s");
  CHECK_INT(args.mode, SLP_MODE_IAM);
  CHECK_INT(args.try_rights, 0);
}

TEST(aggregates_are_for_what_is_put) {
  CHECK_PARSES("-P", "--aggregate", "orders");
  CHECK_INT(args.aggregate, 1);
  CHECK_PARSES("--iam", "-P", "--aggregate", "orders");
  CHECK_REFUSED("--aggregate needs -P", "--iam", "--aggregate", "orders");
  CHECK_REFUSED("--aggregate can't be combined with", "--aggregate", "orders");
}

TEST(rights_to_put_records) {
  CHECK_PARSES("--iam", "-P", "orders");
  CHECK(args.mode == SLP_MODE_IAM && args.iam_of == SLP_MODE_PRODUCE);
  CHECK_PARSES("-P", "orders", "--iam");
  CHECK(args.mode == SLP_MODE_IAM && args.iam_of == SLP_MODE_PRODUCE);
  CHECK_REFUSED("is no stream of Kinesis", "--iam", "-P", "dynamodb:t");
  CHECK_REFUSED("-P can't be combined with --consumers", "--iam", "--consumers", "-P", "orders");
}

TEST(rights_are_tried_beside_iam_only) {
  CHECK_PARSES("--iam", "--try", "-J", "-b", "http://x", "-m", "3", "s");
  CHECK_INT(args.mode, SLP_MODE_IAM);
  CHECK_INT(args.try_rights, 1);
  CHECK_REFUSED("--try can't be combined with following a stream", "--try", "s");
  CHECK_REFUSED("--try can't be combined with -L", "-L", "--try", "s");
  CHECK_REFUSED("-J can be used with --iam only if --try", "--iam", "-J", "s");
  CHECK_REFUSED("-b can be used with --iam only if --try", "--iam", "-b", "http://x", "s");
}

TEST(settings) {
  CHECK_PARSES("-X", "poll_ms=250", "-Xregion=eu-west-1", "-X", "on_trimmed=stop", "-X",
               "buffered_bytes_max=100000", "s");
  CHECK_INT(args.opts.poll_ms, 250);
  CHECK_STR(args.opts.region, "eu-west-1");
  CHECK_INT(args.opts.on_trimmed, SLOOP_TRIMMED_STOP);
  CHECK_INT(args.opts.buffered_bytes_max, 100000);
  CHECK_PARSES("-X", "log_level=debug", "-X", "order_wait_ms=max", "-X", "ca_bundle=", "s");
  CHECK_INT(args.opts.log_level, SLOOP_LOG_DEBUG);
  CHECK_INT(args.opts.order_wait_ms, UINT32_MAX);
  CHECK_PARSES("-X", "aggregates=keep", "-X", "buffered_records_per_shard_max=5", "s");
  CHECK_INT(args.opts.aggregates, SLOOP_AGGREGATES_KEEP);
  CHECK_INT(args.opts.buffered_records_per_shard_max, 5);
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
  CHECK_REFUSED("from 65536 to 4611686018427387903", "-X", "buffered_bytes_max=18446744073709551616", "s");
  CHECK_REFUSED("stop|continue", "-X", "on_trimmed=maybe", "s");
  CHECK_REFUSED("stop|continue", "-X", "on_trimmed=", "s");
  CHECK_REFUSED("0 to 65535", "-X", "sandbox.port=65536", "-M1");
  CHECK_REFUSED("not one of 0|1", "-X", "sandbox.cbor_indefinite=2", "-M1");
}

TEST(help_and_the_list_of_settings_are_readable) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_help(&b, "all"), 0);
  CHECK_INT(slp_knobs_list(&b), 0);
  static const char *const must[] = {
      "-o, --start POSITION",        "--demo[=SECONDS]", "-X, --set NAME=VALUE", "%R length",
      "buffered_bytes_max=67108864", "sandbox.port",     "aggregates=expand",    "130"};
  for (size_t i = 0; i < SLP_COUNT(must); i++)
    if (!strstr(slp_buf_z(&b), must[i])) CHECK_FAIL("lacks \"%s\"", must[i]);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(a_key_is_put_with_p_and_matched_without) {
  CHECK_PARSES("--key", "a+", "-kb", "--key-is", "c", "orders");
  CHECK_INT(args.mode, SLP_MODE_TAIL);
  CHECK_INT(args.key_grep_n, 2);
  CHECK_STR(args.key_grep[1], "b");
  CHECK_STR(args.key_is[0], "c");
  CHECK_PARSES("-k", "a", "-P", "orders");
  CHECK_STR(args.key, "a");
  CHECK_REFUSED("--key-is can't be combined with -P", "-P", "--key-is", "a", "orders");
  CHECK_REFUSED("-k can't be combined with -L", "-L", "--key", "a", "orders");
}

TEST(timestamps_are_a_part_of_a_plain_line) {
  CHECK_PARSES("--timestamps", "--utc", "orders");
  CHECK(args.timestamps && args.utc);
  CHECK_REFUSED("--timestamps can't be combined with -J", "-J", "--timestamps", "orders");
  CHECK_REFUSED("--timestamps can't be combined with -f", "-f%s", "--timestamps", "orders");
  CHECK_REFUSED("--timestamps can't be combined with -P", "-P", "--timestamps", "orders");
}

TEST(the_last_records) {
  CHECK_PARSES("-n", "50", "orders");
  CHECK_INT(args.last, 50);
  CHECK(args.last_ends);
  CHECK_INT(args.opts.order_wait_ms, UINT32_MAX);
  CHECK_PARSES("-o", "-50", "orders");
  CHECK_INT(args.last, 50);
  CHECK(!args.last_ends && !args.start_given);
  CHECK_PARSES("-o-7", "orders", "-e");
  CHECK_INT(args.last, 7);
  CHECK_PARSES("-o", "-50", "-o", "oldest", "orders");
  CHECK_INT(args.last, 0);
  CHECK_INT(args.opts.start.kind, SLOOP_OLDEST);
  CHECK_PARSES("-o", "oldest", "-o", "-50", "--save", "f", "orders");
  CHECK_INT(args.opts.start.kind, SLOOP_LATEST);
  CHECK_REFUSED("-n: \"0\" is not a whole number from 1 to 1000000", "-n0", "orders");
  CHECK_REFUSED("-n: \"1000001\" is not", "-n1000001", "orders");
  CHECK_REFUSED("-o: \"-0\" is not -N, the last N records, from -1 to -1000000", "-o", "-0", "orders");
  CHECK_REFUSED("-o: \"-5x\" is not -N", "-o", "-5x", "orders");
  CHECK_REFUSED("-o: \"-\" is not -N", "-o", "-", "orders");
  CHECK_REFUSED("-n can't be combined with -o", "-n5", "-o", "oldest", "orders");
  CHECK_REFUSED("-n can't be combined with -o", "-o", "-5", "-n5", "orders");
  CHECK_REFUSED("-n can't be combined with -o", "--since", "1h", "-n5", "orders");
  CHECK_REFUSED("-n can't be combined with --until", "-n5", "--until", "1h", "orders");
  CHECK_REFUSED("-n can't be combined with --save", "-n5", "--save", "f", "orders");
  CHECK_REFUSED("-n can't be combined with -G", "-n5", "-G", "app", "orders");
  CHECK_REFUSED("-o -N can't be combined with -G", "-o", "-5", "-G", "app", "orders");
  CHECK_REFUSED("-o -N can't be combined with -p key:TEXT", "-o", "-5", "-p", "key:a", "orders");
  CHECK_REFUSED("-o -N can't be combined with --order shard", "-o", "-5", "--order", "shard", "orders");
  CHECK_REFUSED("-o -N can't be combined with --bench", "-o", "-5", "--bench", "orders");
  CHECK_REFUSED("-o -N can't be combined with --leases", "-o", "-5", "--leases", "-G", "a", "orders");
  CHECK_REFUSED("--to: \"-5\" is not a position", "--reset", "0", "--to", "-5", "-G", "a", "orders");
}
