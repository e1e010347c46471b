/* name_cache.c - names for completions are kept for a minute, for the same service only. */
#include "cli/name_cache.h"
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/names-XXXXXX";
static slp_mem *mem;
static slp_args args;
static const slp_surroundings around;

static void begin(const char *const *argv, int argc) {
  if (!mem) {
    CHECK(mkdtemp(folder) != NULL);
    setenv("XDG_CACHE_HOME", folder, 1);
    mem = slp_mem_new(NULL, NULL);
  } else {
    slp_args_free(&args);
  }
  slp_args_parse_part(&args, mem, argc, argv, &around);
}

static void end(void) {
  char command[60];
  slp_args_free(&args);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK_INT(system(command), 0);
}

/* Returns what the cache has for the words, "-" if it has nothing. */
static const char *kept(const char *kind, int64_t now_ms) {
  static char text[200];
  slp_name_cache c;
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 16);
  CHECK_INT(slp_name_cache_init(&c, mem, kind, &args), 0);
  snprintf(text, sizeof text, "%s", slp_name_cache_read(&c, now_ms, &b) ? slp_buf_z(&b) : "-");
  slp_buf_free(&b);
  return text;
}

static void keep(const char *kind, int64_t until_ms, const char *names) {
  slp_name_cache c;
  CHECK_INT(slp_name_cache_init(&c, mem, kind, &args), 0);
  slp_name_cache_write(&c, mem, until_ms, slp_str_of(names));
}

#define WORDS(...)                                  \
  do {                                              \
    const char *const words[] = {"x", __VA_ARGS__}; \
    begin(words, (int)SLP_COUNT(words));            \
  } while (0)

TEST(names_are_kept_until_their_time) {
  WORDS("-b", "http://a", "orders");
  CHECK_STR(kept("streams", 1000), "-");
  keep("streams", 61000, "one\ntwo\n");
  CHECK_STR(kept("streams", 1000), "one\ntwo\n");
  CHECK_STR(kept("streams", 60999), "one\ntwo\n");
  CHECK_STR(kept("streams", 61000), "-");
  CHECK_STR(kept("streams", 999), "-"); /* the clock was set back: the file would live too long */
  keep("streams", 61000, "");
  CHECK_STR(kept("streams", 1000), ""); /* that there are none is known as well */
  struct stat st;
  char path[60];
  snprintf(path, sizeof path, "%s/stream-tail", folder);
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700);
  end();
}

TEST(names_of_another_service_are_not_used) {
  WORDS("-b", "http://a");
  keep("streams", 61000, "one\n");
  WORDS("-b", "http://b");
  CHECK_STR(kept("streams", 1000), "-");
  WORDS("-b", "http://a", "-e", "--grep", "x");
  CHECK_STR(kept("streams", 1000), "one\n");
  CHECK_STR(kept("shards", 1000), "-");
  setenv("AWS_PROFILE", "other", 1);
  CHECK_STR(kept("streams", 1000), "-");
  unsetenv("AWS_PROFILE");
  setenv("AWS_SECRET_ACCESS_KEY", "a secret is in no key", 1);
  CHECK_STR(kept("streams", 1000), "one\n");
  WORDS("orders");
  keep("shards", 61000, "0\n");
  WORDS("payments");
  CHECK_STR(kept("shards", 1000), "-");
  end();
}

TEST(a_file_that_makes_no_sense_and_a_folder_that_is_none_are_no_cache) {
  WORDS("orders");
  keep("streams", 61000, "one\n");
  slp_name_cache c;
  CHECK_INT(slp_name_cache_init(&c, mem, "streams", &args), 0);
  static const char *const junk[] = {"", "\n", "x", " 61000\none\n"};
  for (size_t i = 0; i < SLP_COUNT(junk); i++) {
    FILE *f = fopen(c.path, "w");
    CHECK(f && fputs(junk[i], f) >= 0 && fclose(f) == 0);
    CHECK_STR(kept("streams", 1000), "-");
  }
  setenv("XDG_CACHE_HOME", "/dev/null/x", 1);
  keep("streams", 61000, "one\n");
  CHECK_STR(kept("streams", 1000), "-");
  unsetenv("XDG_CACHE_HOME");
  char home[60];
  snprintf(home, sizeof home, "%s/gone", folder); /* a home folder is not made */
  setenv("HOME", home, 1);
  keep("streams", 61000, "one\n");
  CHECK_STR(kept("streams", 1000), "-");
  CHECK(access(home, F_OK) != 0);
  setenv("HOME", folder, 1);
  keep("streams", 61000, "one\n");
  CHECK_STR(kept("streams", 1000), "one\n");
  unsetenv("HOME");
  keep("streams", 61000, "one\n");
  CHECK_STR(kept("streams", 1000), "-");
  end();
}
