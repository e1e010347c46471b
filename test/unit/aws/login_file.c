/* login_file.c - the cache is locked, written anew, and left in every state. */
#include "aws/login_file.h"

#include "host/own_file.h"
#include "aws_fake_host.h"

#include <unistd.h>

static char folder[] = "/tmp/login-XXXXXX", path[100];
static fake_host f;
static slp_mem *mem;
static int answered, error;

static void on_done(void *arg, int e) {
  CHECK(arg == &f);
  answered++;
  error = e;
}

static void put(const char *text) {
  FILE *file = fopen(path, "w");
  CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static const char *content(void) {
  static char text[100];
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

static void begin(void) {
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/cache.json", folder);
  put("old");
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  answered = 0;
}

/* No lock and no half of a file stays behind. */
static void end(void) {
  CHECK(unlink(path) == 0);
  CHECK(rmdir(folder) == 0);
  fake_end(&f, mem);
}

static slp_login_file *locked(void) {
  slp_login_file *l = slp_login_file_new(&f.h, path);
  slp_login_file_lock(l, on_done, &f);
  fake_run(&f, 1000);
  CHECK_INT(error, 0);
  return l;
}

TEST(locked_and_written) {
  begin();
  slp_login_file *l = locked();
  CHECK_INT(slp_login_file_save(l, SLP_STR("new"), on_done, &f), 0);
  fake_run(&f, 1000);
  CHECK_INT(answered, 2);
  CHECK_STR(content(), "new");
  slp_login_file_leave(l);
  end();
}

TEST(another_process_has_it) {
  slp_own_file *other;
  begin();
  CHECK_INT(slp_own_file_open(mem, path, &other), 0);
  slp_login_file *l = slp_login_file_new(&f.h, path);
  slp_login_file_lock(l, on_done, &f);
  fake_run(&f, 1000);
  CHECK_INT(error, SLP_EBUSY);
  slp_login_file_leave(l);
  slp_own_file_close(other);
  end();
}

TEST(left_in_every_state) {
  begin();
  slp_login_file_leave(NULL);
  slp_login_file_leave(slp_login_file_new(&f.h, path));
  slp_login_file *l = slp_login_file_new(&f.h, path);
  slp_login_file_lock(l, on_done, &f);
  slp_login_file_leave(l); /* while it is being locked */
  l = locked();
  slp_login_file_leave(l);
  l = locked();
  CHECK_INT(slp_login_file_save(l, SLP_STR("kept"), on_done, &f), 0);
  slp_login_file_leave(l); /* what is being written is written */
  fake_run(&f, 1000);
  CHECK_INT(answered, 2); /* the two locks; nobody waits for the rest */
  CHECK_STR(content(), "kept");
  end();
}
