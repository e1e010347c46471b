/* provider_process.c - credential_process: words, output, and every way to fail; nothing of the output is
 * told. */
#include "aws_sources.h"

#define KEYS(more) \
  "{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"SESAME\",\"SessionToken\":\"C\"" more "}"

static const fake_pair env[] = {
    {"HOME", "/h"}, {"AWS_PROFILE", "p"}, {"AWS_EC2_METADATA_DISABLED", "true"}, {NULL, NULL}};

static void run(const char *command, const fake_program *program, const char *want) {
  char config[500];
  snprintf(config, sizeof config, "[profile p]\ncredential_process = %s\n", command);
  const fake_pair files[] = {{"/h/.aws/config", config}, {NULL, NULL}};
  sources_open(env, files, NULL);
  f.program = program;
  const char *got = sources_ask();
  int same = want[0] == '!'
                 ? strstr(got, want + 1) != NULL && strstr(got, "profile p (/h/.aws/config)") != NULL
                 : strcmp(got, want) == 0;
  if (!same) CHECK_FAIL("%s: got \"%s\", not \"%s\"", command, got, want);
  if (got[0] == '!' && strstr(got, "SESAME")) CHECK_FAIL("a secret is told: %s", got);
  sources_close();
}

TEST(words_become_arguments) {
  static const fake_program good = {.out = KEYS("")};
  run("/opt/my\\ tool --name \"a b\" 'c \"d\"' x\"\"y ''", &good, "A/SESAME/C");
  CHECK_STR(f.argv, "</opt/my tool><--name><a b><c \"d\"><xy><>");
  run("tool $HOME ~ *.c; rm x | y", &good, "A/SESAME/C");
  CHECK_STR(f.argv, "<tool><$HOME><~><*.c;><rm><x><|><y>");
}

TEST(output_of_all_kinds) {
  static const struct {
    fake_program program;
    const char *want;
  } rows[] = {
      {{.out = KEYS(",\"Expiration\":\"" SOON "\",\"AccountId\":\"1\"")}, "A/SESAME/C"},
      {{.out = "{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"SESAME\"}"}, "A/SESAME/"},
      {{.out = KEYS("") "\n\n"}, "A/SESAME/C"},
      {{.out = ""}, "!wrote nothing"},
      {{.out = "SESAME junk"}, "!wrote something that is not"},
      {{.out = "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"SESAME\"}"}, "!wrote no \"Version\": 1"},
      {{.out = "{\"Version\":2,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"SESAME\"}"},
       "!wrote no \"Version\": 1"},
      {{.out = "{\"Version\":1,\"AccessKeyId\":\"SESAME\"}"}, "!lacks SecretAccessKey"},
      {{.out = KEYS(",\"Expiration\":\"SESAME\"")}, "!Expiration"},
      {{.out = KEYS(""), .status = 1}, "!exited with status 1"},
      {{.out = KEYS(""), .status = 255, .said = "vault is sealed"},
       "!exited with status 255: vault is sealed"},
      {{.out = KEYS(""), .signal = 11}, "!was ended by signal 11"},
      {{.error = SLP_ENOENT}, "!can't be started (No such file"},
      {{.error = SLP_ETIMEDOUT, .said = "waiting"}, "!did not end within 60 seconds and was killed: waiting"},
      {{.error = SLP_E2BIG}, "!wrote more than 65536 bytes"},
      {{.error = SLP_ELIMIT}, "!wrote more than 1048576 bytes to standard error"},
      {{.status = 1, .said = "open /dev/tty: no such device"},
       "!it has no terminal here: log in by itself first): open /dev/tty"},
  };
  for (size_t i = 0; i < SLP_COUNT(rows); i++) run("tool", &rows[i].program, rows[i].want);
}

TEST(commands_that_are_none) {
  run("'open", NULL, "!a quote is not closed");
  run("tool \\", NULL, "!ends with a backslash");
  run("''", NULL, "!can't be started");
}

TEST(expired_keys_are_not_used) {
  static const fake_program program = {.out = KEYS(",\"Expiration\":\"2026-01-01T00:00:00Z\"")};
  const fake_pair files[] = {{"/h/.aws/config", "[profile p]\ncredential_process = x\n"}, {NULL, NULL}};
  sources_open(env, files, NULL);
  f.program = &program;
  sources_expect("!the credentials of profile p have expired already, 97445 s ago by this machine's clock");
  sources_close();
}

TEST(the_chains_end_kills_it) {
  static const fake_program program = {.hang = 1};
  const fake_pair files[] = {{"/h/.aws/config", "[profile p]\ncredential_process = x\n"}, {NULL, NULL}};
  sources_open(env, files, NULL);
  f.program = &program;
  CHECK_STR(sources_ask_for(1000000), "wait");
  slp_aws_drop(aws);
  CHECK_INT(f.cancelled_n, 1);
  fake_end(&f, mem);
}

TEST(without_an_end_it_runs_once) {
  static const fake_program program = {.out = KEYS("")};
  const fake_pair files[] = {{"/h/.aws/config", "[profile p]\ncredential_process = x\n"}, {NULL, NULL}};
  sources_open(env, files, NULL);
  f.program = &program;
  sources_expect("A/SESAME/C");
  f.mono_us += 48 * 3600000000ull;
  CHECK_STR(sources_look(), "A/SESAME/C");
  fake_run(&f, 1000000);
  CHECK_INT(f.spawned_n, 1);
  sources_close();
}

static void secret_program(void) {
  static const fake_program program = {.out = KEYS("")};
  f.program = &program;
}

TEST(what_was_secret_is_wiped_before_its_memory_is_given_back) {
  const fake_pair files[] = {{"/h/.aws/config", "[profile p]\ncredential_process = x\n"}, {NULL, NULL}};
  sources_wiped(env, files, secret_program);
}
