/* config.c - the configuration file: its content, refusals with file and line, and precedence. */
#include "cli/config.h"

#include <fcntl.h>

#include "check.h"

static slp_args args; /* its strings point into itself */
static char path[] = "/tmp/config-XXXXXX", why[SLP_ARGS_WHY];
static slp_mem *mem;

/* Parses the command line with that file as the configuration. */
static int parse(const char *content, const char *const *words, int n) {
  slp_surroundings around = {.clock = {INT64_C(1700000000000), NULL}, .config = path};
  const char *argv[20] = {"stream-tail"};
  if (!mem) {
    mem = slp_mem_new(NULL, NULL);
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
  }
  slp_args_free(&args);
  FILE *f = fopen(path, "w");
  CHECK(f && fwrite(content, 1, strlen(content), f) == strlen(content));
  fclose(f);
  for (int i = 0; i < n; i++) argv[i + 1] = words[i];
  int r = slp_args_parse(&args, mem, n + 1, argv, &around, why);
  unlink(path);
  return r;
}
#define WORDS(...) (const char *const[]){__VA_ARGS__}, (int)SLP_COUNT(((const char *[]){__VA_ARGS__}))
#define CHECK_TAKES(content, ...) \
  if (parse(content, WORDS(__VA_ARGS__)) != 0) CHECK_FAIL("refused: %s", why)

TEST(long_names_and_settings) {
  CHECK_TAKES(
      "# ours\n"
      "wire=json\n"
      "  count = 7  \n"
      "\n"
      "poll_ms =250\r\n"
      "exit-at-tip\n"
      "quiet = no\n"
      "json=yes\n"
      "shard=1\nshard=2\n"
      "endpoint=http://127.0.0.1:1/?a=b c\n"
      "grep = a#b\n"
      "user_agent=last line without its end",
      "orders");
  CHECK_INT(args.opts.wire, SLOOP_WIRE_JSON);
  CHECK_INT(args.count, 7);
  CHECK_INT(args.opts.poll_ms, 250);
  CHECK(args.until_tip && args.json && !args.quiet);
  CHECK_INT(args.opts.shards_n, 2);
  CHECK_STR(args.opts.endpoint, "http://127.0.0.1:1/?a=b c");
  CHECK_STR(args.grep[0], "a#b");
  CHECK_STR(args.opts.user_agent, "last line without its end");
}

/* As git, systemd and the shell's users write them. */
TEST(quotes_and_comments) {
  CHECK_TAKES(
      "; ours too\n"
      "format = \"%k # %s\\n\"\n"
      "exit-at-tip # then leave\n"
      "grep = ' \"a\": # ' # a comment\n"
      "grep=\"it's\"\t#\r\n"
      "grep=a\"b\"\n"
      "grep=''\n"
      "poll_ms = \"250\" # a quarter\n"
      "quiet = 'yes'\n",
      "orders");
  CHECK_STR(args.format, "%k # %s\\n");
  CHECK(args.until_tip && args.quiet);
  CHECK_STR(args.grep[0], " \"a\": # ");
  CHECK_STR(args.grep[1], "it's");
  CHECK_STR(args.grep[2], "a\"b\"");
  CHECK_STR(args.grep[3], "");
  CHECK_INT(args.opts.poll_ms, 250);
}

TEST(the_command_line_comes_after_it) {
  CHECK_TAKES("count=7\npoll_ms=250\n", "-c9", "-Xpoll_ms=300", "orders");
  CHECK_INT(args.count, 9);
  CHECK_INT(args.opts.poll_ms, 300);
}

TEST(an_end_on_the_command_line_replaces_the_file_s) {
  static const char *const files[] = {"until=10m\n", "start=e@10m\n"}, *const ends[] = {"--until=5m",
                                                                                        "-oe@5m"};
  for (size_t i = 0; i < SLP_COUNT(files); i++) {
    slp_buf b;
    CHECK_TAKES(files[i], ends[1 - i], "orders");
    CHECK_INT(args.until_ms, INT64_C(1700000000000) - 300000);
    slp_buf_init(&b, mem, 1 << 20);
    CHECK_INT(slp_config_dump(&b, &args), 0);
    CHECK(!strstr(slp_buf_z(&b), "10m") && strstr(slp_buf_z(&b), "5m\n")); /* one end, also when read again */
    slp_buf_free(&b);
  }
  CHECK_INT(parse("until=10m\nuntil=5m\n", WORDS("orders")), SLP_EINVAL);
  CHECK_INT(parse("until=10m\n", WORDS("--until", "5m", "--until", "4m", "orders")), SLP_EINVAL);
}

TEST(what_makes_no_sense_in_a_mode_is_left_alone_there) {
  CHECK_TAKES("exit-at-tip\ngrep=x\n", "-L", "orders");
  CHECK_INT(args.mode, SLP_MODE_LIST);
}

TEST(a_byte_order_mark_is_passed_over) {
  CHECK_TAKES(
      "\xef\xbb\xbf"
      "count=7\n",
      "orders");
  CHECK_INT(args.count, 7);
}

static void refused(const char *content, const char *line, const char *part) {
  char place[100];
  CHECK_INT(parse(content, WORDS("orders")), SLP_EINVAL);
  snprintf(place, sizeof place, "%s:%s: ", path, line);
  if (strncmp(why, place, strlen(place)) != 0) CHECK_FAIL("\"%s\" does not begin with %s", why, place);
  if (!strstr(why, part)) CHECK_FAIL("\"%s\" lacks \"%s\"", why, part);
}

TEST(what_is_wrong_names_file_and_line) {
  refused("count=7\n\nspead=9\n", "3", "unknown setting \"spead\"");
  refused("count=x\n", "1", "-c: \"x\" is not");
  refused("count\n", "1", "count needs a value: count=N");
  refused("=5\n", "1", "unknown setting \"\"");
  refused("quiet=maybe\n", "1", "quiet: \"maybe\" is neither yes nor no");
  refused("poll_ms=fast\n", "1", "-X poll_ms: \"fast\"");
  refused("poll_ms\n", "1", "needs a value");
  refused("config=other\n", "1", "--config can't be set in a file");
  refused("set=poll_ms=5\n", "1", "--set can't be set in a file");
  refused("help\n", "1", "--help can't");
  refused("write=yes\n", "1", "--write can't"); /* --migrate without it promises to write nothing */
  refused("migrate=sloop:a\n", "1", "--migrate can't");
  refused("check=app.properties\n", "1", "--check can't");
  refused("consumers\n", "1", "--consumers can't");
  refused("deregister=one\n", "1", "--deregister can't");
  refused("c=7\n", "1", "unknown setting \"c\""); /* long names only */
  refused("json\ngrep = a # b\n", "2", "put the value between quotes");
  refused("poll_ms = 500 # half a second\n", "1", "a line of its own");
  refused("poll_ms = #\n", "1", "a line of its own");
  refused("grep = \"a\n", "1", "a quote is not closed");
  refused("grep = \"a\" or \"b\"\n", "1", "the whole value between two '");
  refused("grep = 'a'b\n", "1", "the whole value between two \"");
  refused("grep = 'a'#b\n", "1", "something follows");
  refused("--since 10m\n", "1", "without dashes");
  refused("since 10m\n", "1", "since = ...");
  refused("poll_ms 10\n", "1", "poll_ms = ...");
  refused("[default]\n", "1", "no sections");
  refused("since = 30\n", "1", "30s, 30m");
}

TEST(a_file_that_is_not_there) {
  slp_surroundings around = {.clock = {0, NULL}, .config = "/nonexistent/c", .config_may_be_absent = 1};
  const char *argv[] = {"stream-tail", "orders"};
  mem = slp_mem_new(NULL, NULL);
  CHECK_INT(slp_args_parse(&args, mem, 2, argv, &around, why), 0);
  around.config_may_be_absent = 0;
  CHECK_INT(slp_args_parse(&args, mem, 2, argv, &around, why), SLP_EINVAL);
  CHECK(strstr(why, "STREAM_TAIL_CONFIG: can't read /nonexistent/c: /nonexistent is not there"));
  const char *named[] = {"stream-tail", "orders", "-F", "/nonexistent/d"};
  around.config_may_be_absent = 1;
  CHECK_INT(slp_args_parse(&args, mem, 4, named, &around, why), SLP_EINVAL);
  CHECK(strstr(why, "/nonexistent/d: "));
  const char *empty[] = {"stream-tail", "orders", "-F", ""};
  CHECK_INT(slp_args_parse(&args, mem, 4, empty, &around, why), SLP_EINVAL);
  CHECK_STR(why, "-F: \"\" is not the name of a file");
  const char *help[] = {"stream-tail", "-h", "-F", "/nonexistent/d"};
  CHECK_INT(slp_args_parse(&args, mem, 4, help, &around, why), 0);
  CHECK_INT(args.mode, SLP_MODE_HELP);
}

TEST(a_dumped_value_is_read_as_it_was) {
  static const char *const values[] = {"plain", " blanks around ", "a # b", "#",     "'a",
                                       "\"a\"", "it's # \"both\"", "",      "a'b\"c"};
  for (size_t i = 0; i < SLP_COUNT(values); i++) {
    slp_buf b;
    char setting[100];
    snprintf(setting, sizeof setting, "user_agent=%s", values[i]);
    CHECK_TAKES("", "--grep", values[i], "-X", setting, "-X", "dump");
    slp_buf_init(&b, mem, 1 << 20);
    CHECK_INT(slp_config_dump(&b, &args), 0);
    char *text = strdup(slp_buf_z(&b));
    slp_buf_free(&b);
    if (strchr(values[i], '\'') && strchr(values[i], '"') && values[i][0] == 'i') {
      CHECK(strstr(text, "\n# grep: a file can't hold this value\n# user_agent: a file can't"));
    } else {
      if (parse(text, WORDS("orders"))) CHECK_FAIL("%s", why);
      CHECK_STR(args.grep[0], values[i]);
      CHECK_STR(args.opts.user_agent, values[i]);
    }
    free(text);
  }
}

TEST(what_was_given_can_be_dumped_and_read_again) {
  CHECK_TAKES("json\npoll_ms=250\n", "-c9", "-X", "buffered_bytes_max=70000", "--grep", "a=b", "-X",
              "sandbox.secret_key=hidden", "-X", "dump");
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_config_dump(&b, &args), 0);
  char *text = strdup(slp_buf_z(&b));
  CHECK(strstr(text, "\njson\npoll_ms=250\ncount=9\nbuffered_bytes_max=70000\ngrep=a=b\n"));
  CHECK(strstr(text, "\n# buffered_bytes_max=70000\n") && strstr(text, "\n# list_ms=60000\n"));
  CHECK(!strstr(text, "hidden"));
  CHECK_TAKES(text, "orders");
  CHECK_INT(args.count, 9);
  CHECK_INT(args.opts.buffered_bytes_max, 70000);
  CHECK_STR(args.grep[0], "a=b");
  free(text);
  slp_buf_free(&b);
  slp_args_free(&args);
  CHECK_INT(mem->live_blocks, 0);
}
