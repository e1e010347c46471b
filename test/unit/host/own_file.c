/* own_file.c - a file replaced whole or not at all by the one process that has it; nothing else in its folder is
 * touched. */
#include "host/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char folder[] = "/tmp/own-XXXXXX";
static slp_mem *mem;
static slp_own_file *f;

static const char *in_folder(const char *name) {
  static char path[8][200];
  static int which;
  char *to = path[which++ % 8];
  snprintf(to, 200, "%s/%s", folder, name);
  return to;
}

static void begin(void) {
  CHECK(mkdtemp(folder) != NULL);
  mem = slp_mem_new(NULL, NULL);
}
static void end(void) {
  slp_own_file_close(f);
  f = NULL;
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  CHECK_INT(rmdir(folder), 0); /* nothing was left in it */
}

static void put(const char *path, const char *text) {
  FILE *to = fopen(path, "w");
  CHECK(to && fputs(text, to) >= 0 && fclose(to) == 0);
}
static const char *text_of(const char *path) {
  static char text[100];
  FILE *from = fopen(path, "r");
  if (!from) return "(none)";
  text[fread(text, 1, sizeof text - 1, from)] = 0;
  fclose(from);
  return text;
}
static int open_it(const char *name) { return slp_own_file_open(mem, in_folder(name), &f); }

TEST(new_content_and_nothing_beside) {
  begin();
  CHECK_INT(open_it("f"), 0);
  CHECK_STR(text_of(in_folder("f")), "(none)"); /* it is not made before there is content */
  CHECK_INT(slp_own_file_replace(f, SLP_STR("one")), 0);
  CHECK_STR(text_of(in_folder("f")), "one");
  CHECK_INT(slp_own_file_replace(f, SLP_STR("")), 0);
  CHECK_STR(text_of(in_folder("f")), "");
  unlink(in_folder("f"));
  end();
}

/* The program's own fsync, in place of libc's: what was synced last, and how often a folder was. */
static int synced_n, folders_synced_n;
int fsync(int fd) {
  struct stat st;
  synced_n++;
  folders_synced_n += fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
  return (int)syscall(SYS_fsync, fd);
}

/* A new name is lost with the power when its folder was not synced. */
TEST(the_file_is_synced_and_then_its_folder) {
  begin();
  CHECK_INT(open_it("place"), 0);
  synced_n = folders_synced_n = 0;
  CHECK_INT(slp_own_file_replace(f, SLP_STR("a")), 0);
  CHECK_INT(synced_n, 2);
  CHECK_INT(folders_synced_n, 1);
  CHECK_INT(unlink(in_folder("place")), 0);
  end();
}

TEST(what_others_have_beside_it_stays) {
  begin();
  put(in_folder("f.tmp"), "mine");
  put(in_folder("target"), "target");
  char next[100];
  snprintf(next, sizeof next, ".f.%ld-0", (long)getpid()); /* the very name that it would take */
  CHECK_INT(symlink("target", in_folder(next)), 0);
  CHECK_INT(open_it("f"), 0);
  CHECK_INT(slp_own_file_replace(f, SLP_STR("new")), 0);
  CHECK_STR(text_of(in_folder("f")), "new");
  CHECK_STR(text_of(in_folder("f.tmp")), "mine");
  CHECK_STR(text_of(in_folder("target")), "target");
  unlink(in_folder("f"));
  unlink(in_folder("f.tmp"));
  unlink(in_folder("target"));
  CHECK_INT(unlink(in_folder(next)), 0);
  end();
}

TEST(a_mode_and_a_link_stay) {
  begin();
  put(in_folder("f"), "a");
  CHECK_INT(chmod(in_folder("f"), 0600), 0);
  int root = chown(in_folder("f"), 1234, 2345) == 0; /* root only; else the owner is ours anyway */
  CHECK_INT(symlink("f", in_folder("l")), 0);
  CHECK_INT(open_it("l"), 0);
  CHECK_INT(slp_own_file_replace(f, SLP_STR("b")), 0);
  struct stat st;
  CHECK_INT(lstat(in_folder("l"), &st), 0);
  CHECK(S_ISLNK(st.st_mode));
  CHECK_INT(stat(in_folder("f"), &st), 0);
  CHECK_INT(st.st_mode & 07777, 0600);
  if (root) CHECK(st.st_uid == 1234 && st.st_gid == 2345);
  CHECK_STR(text_of(in_folder("f")), "b");
  unlink(in_folder("f"));
  unlink(in_folder("l"));
  end();
}

TEST(a_link_to_nothing_yet_names_the_file) {
  begin();
  CHECK_INT(mkdir(in_folder("d"), 0700), 0);
  CHECK_INT(symlink("d/second", in_folder("l")), 0);
  CHECK_INT(symlink("../f", in_folder("d/second")), 0);
  CHECK_INT(open_it("l"), 0);
  CHECK_INT(slp_own_file_replace(f, SLP_STR("b")), 0);
  CHECK_STR(text_of(in_folder("f")), "b");
  slp_own_file_close(f);
  f = NULL;
  unlink(in_folder("f"));
  unlink(in_folder("d/second"));
  CHECK_INT(symlink("../l", in_folder("d/second")), 0); /* in a circle */
  CHECK_INT(open_it("l"), -ELOOP);
  unlink(in_folder("d/second"));
  unlink(in_folder("l"));
  rmdir(in_folder("d"));
  end();
}

TEST(what_is_no_file_is_refused_and_nothing_hangs) {
  begin();
  alarm(10);
  CHECK_INT(open_it("no/f"), SLP_ENOENT);
  CHECK_INT(open_it(""), -EISDIR);
  CHECK_INT(mkdir(in_folder("d"), 0700), 0);
  CHECK_INT(open_it("d"), -EISDIR);
  CHECK_INT(mkfifo(in_folder("p"), 0600), 0);
  CHECK_INT(open_it("p"), SLP_EINVAL);
  CHECK_INT(slp_own_file_open(mem, "/dev/null", &f), SLP_EINVAL);
  /* where the lock would be */
  CHECK_INT(mkfifo(in_folder(".f.lock"), 0600), 0);
  CHECK_INT(open_it("f"), SLP_EINVAL);
  unlink(in_folder(".f.lock"));
  CHECK_INT(mkdir(in_folder(".f.lock"), 0700), 0);
  CHECK_INT(open_it("f"), -EISDIR);
  rmdir(in_folder(".f.lock"));
  put(in_folder("target"), "target");
  CHECK_INT(symlink("target", in_folder(".f.lock")), 0);
  CHECK_INT(open_it("f"), -ELOOP);
  CHECK_STR(text_of(in_folder("target")), "target");
  unlink(in_folder(".f.lock"));
  unlink(in_folder("target"));
  unlink(in_folder("p"));
  rmdir(in_folder("d"));
  end();
}

TEST(it_is_one_process_s) {
  begin();
  CHECK_INT(symlink("f", in_folder("l")), 0);
  CHECK_INT(open_it("f"), 0);
  for (int i = 0; i < 2; i++) { /* by another name too */
    slp_own_file *other = NULL;
    CHECK_INT(slp_own_file_open(mem, in_folder(i ? "l" : "f"), &other), SLP_EBUSY);
    CHECK_INT(slp_own_file_replace(f, SLP_STR("mine")),
              0); /* also with a file that is another one each time */
  }
  slp_own_file_close(f);
  CHECK(access(in_folder(".f.lock"), F_OK) != 0);
  /* The lock that a process left that was killed is no obstacle, and stays. */
  put(in_folder(".f.lock"), "");
  CHECK_INT(open_it("f"), 0);
  slp_own_file_close(f);
  f = NULL;
  CHECK_INT(unlink(in_folder(".f.lock")), 0);
  unlink(in_folder("f"));
  unlink(in_folder("l"));
  end();
}

/* The other one has ended: what the file holds is still its, and the free lock is not for us. */
TEST(what_another_has_taken_is_never_ours_again) {
  begin();
  CHECK_INT(open_it("f"), 0);
  CHECK_INT(slp_own_file_replace(f, SLP_STR("ours")), 0);
  CHECK_INT(unlink(in_folder(".f.lock")), 0);
  slp_own_file *other = NULL;
  CHECK_INT(slp_own_file_open(mem, in_folder("f"), &other), 0);
  CHECK_INT(slp_own_file_lost_by(f), SLP_OWN_FILE_NOT_LOST);
  CHECK_INT(slp_own_file_keep(f), SLP_EBUSY);
  CHECK_INT(slp_own_file_lost_by(f), SLP_OWN_FILE_LOCK_LOST);
  CHECK_INT(slp_own_file_replace(other, SLP_STR("theirs")), 0);
  slp_own_file_close(other);
  CHECK_INT(slp_own_file_keep(f), SLP_EBUSY);
  CHECK_INT(slp_own_file_replace(f, SLP_STR("ours")), SLP_EBUSY);
  CHECK_STR(text_of(in_folder("f")), "theirs");
  CHECK(access(in_folder(".f.lock"), F_OK) != 0);
  slp_own_file_close(f);
  CHECK_INT(open_it("f"), 0); /* one that begins anew reads what is there */
  unlink(in_folder("f"));
  end();
}

/* It came and went between two looks. */
TEST(what_another_has_written_and_left_is_not_overwritten) {
  begin();
  for (int story = 0; story < 4; story++) {
    if (story == 1) put(in_folder("f"), "before");
    CHECK_INT(open_it("f"),
              0); /* there is nothing; something is found; something is made: the same inode comes back */
    for (int i = 1; i < story; i++) CHECK_INT(slp_own_file_replace(f, SLP_STR("ours")), 0);
    slp_own_file *other = NULL;
    CHECK_INT(unlink(in_folder(".f.lock")), 0);
    CHECK_INT(slp_own_file_open(mem, in_folder("f"), &other), 0);
    for (int i = 0; i < story + 1; i++) CHECK_INT(slp_own_file_replace(other, SLP_STR("theirs")), 0);
    slp_own_file_close(other);
    CHECK_INT(story % 2 ? slp_own_file_keep(f) : slp_own_file_replace(f, SLP_STR("ours")), SLP_EBUSY);
    CHECK_INT(slp_own_file_lost_by(f), SLP_OWN_FILE_CHANGED);
    CHECK(access(in_folder(".f.lock"), F_OK) != 0); /* the next one is not kept out */
    CHECK_INT(slp_own_file_replace(f, SLP_STR("ours")), SLP_EBUSY);
    CHECK_STR(text_of(in_folder("f")), "theirs");
    slp_own_file_close(f);
    CHECK_INT(unlink(in_folder("f")), 0);
  }
  f = NULL;
  /* One that has written nothing has left nothing to be overwritten; nor has one that removes all of it. */
  CHECK_INT(open_it("f"), 0);
  for (int i = 0; i < 2; i++) {
    slp_own_file *other = NULL;
    CHECK_INT(slp_own_file_replace(f, SLP_STR("ours")), 0);
    CHECK_INT(unlink(in_folder(".f.lock")), 0);
    CHECK_INT(slp_own_file_open(mem, in_folder("f"), &other), 0);
    slp_own_file_close(other);
    if (i) CHECK_INT(unlink(in_folder("f")), 0);
    CHECK_INT(slp_own_file_replace(f, SLP_STR("ours, again")), 0);
    CHECK_STR(text_of(in_folder("f")), "ours, again");
  }
  unlink(in_folder("f"));
  end();
}

TEST(a_file_that_another_locks_itself_is_not_ours_though_our_lock_is_there) {
  begin();
  CHECK_INT(open_it("f"), 0);
  CHECK_INT(slp_own_file_replace(f, SLP_STR("ours")), 0);
  int fd = open(in_folder("f"), O_RDWR | O_CLOEXEC);
  CHECK_INT(flock(fd, LOCK_EX | LOCK_NB), 0);
  CHECK_INT(slp_own_file_keep(f), 0);
  CHECK_INT(slp_own_file_replace(f, SLP_STR("ours, again")), SLP_EBUSY);
  CHECK_INT(slp_own_file_lost_by(f), SLP_OWN_FILE_LOCKED_ITSELF);
  CHECK_INT(access(in_folder(".f.lock"), F_OK), 0);
  close(fd);
  CHECK_INT(slp_own_file_keep(f), SLP_EBUSY);
  CHECK_STR(text_of(in_folder("f")), "ours");
  unlink(in_folder("f"));
  end();
}

/* Somebody cleans up, in /tmp say. */
TEST(a_lock_that_was_removed_is_made_anew_or_another_s) {
  begin();
  CHECK_INT(open_it("f"), 0);
  CHECK_INT(slp_own_file_keep(f), 0);
  slp_own_file *other = NULL;
  for (int i = 0; i < 2; i++) {
    CHECK_INT(unlink(in_folder(".f.lock")), 0);
    CHECK_INT(i ? slp_own_file_keep(f) : slp_own_file_replace(f, SLP_STR("mine")), 0);
    CHECK_INT(slp_own_file_open(mem, in_folder("f"), &other), SLP_EBUSY);
  }
  CHECK_INT(unlink(in_folder(".f.lock")), 0);
  CHECK_INT(slp_own_file_open(mem, in_folder("f"), &other), 0);
  for (int i = 0; i < 2; i++) { /* it stays another's, however often we ask */
    CHECK_INT(slp_own_file_replace(f, SLP_STR("ours")), SLP_EBUSY);
    CHECK_INT(slp_own_file_keep(f), SLP_EBUSY);
  }
  CHECK_STR(text_of(in_folder("f")), "mine");
  slp_own_file_close(f);
  f = other;
  CHECK_INT(slp_own_file_replace(f, SLP_STR("theirs")), 0);
  CHECK_INT(access(in_folder(".f.lock"), F_OK), 0);
  slp_own_file_close(f);
  CHECK(access(in_folder(".f.lock"), F_OK) != 0);
  /* without its folder it is nobody's */
  CHECK_INT(mkdir(in_folder("d"), 0700), 0);
  CHECK_INT(open_it("d/f"), 0);
  CHECK_INT(unlink(in_folder("d/.f.lock")), 0);
  CHECK_INT(rmdir(in_folder("d")), 0);
  CHECK_INT(slp_own_file_keep(f), SLP_ENOENT);
  unlink(in_folder("f"));
  end();
}

TEST(what_a_killed_process_left_is_removed_and_nothing_else) {
  begin();
  pid_t dead = fork();
  if (dead == 0) _exit(0);
  CHECK(dead > 0 && waitpid(dead, NULL, 0) == dead);
  static const char *const left[] = {".f.%ld-0", ".f.%ld-4294967295"}, *const stays[] = {
                                                                           ".f.%ld",
                                                                           ".f.0%ld-1",
                                                                           ".f.%ld-00",
                                                                           ".f.%ld-1x",
                                                                           ".f.-%ld-1",
                                                                           ".f. %ld-1",
                                                                           ".f.%ld-",
                                                                           ".f.%ld--1",
                                                                           ".f.%ld-1-1",
                                                                           ".g.%ld-0",
                                                                           ".f.x.%ld-0",
                                                                           "f.%ld-0",
                                                                           ".f.9%ld99999999999999999999-0"};
  char name[100];
  for (size_t i = 0; i < SLP_COUNT(left) + SLP_COUNT(stays); i++) {
    const char *form = i < SLP_COUNT(left) ? left[i] : stays[i - SLP_COUNT(left)];
    snprintf(name, sizeof name, form, (long)dead);
    put(in_folder(name), "x");
  }
  put(in_folder(".f.1-0"), "of the living");
  snprintf(name, sizeof name, ".f.%ld-7",
           (long)getpid()); /* in a container the next process has its number */
  put(in_folder(name), "x");
  snprintf(name, sizeof name, ".f.%ld-8", (long)dead);
  CHECK_INT(symlink("f", in_folder(name)), 0);
  snprintf(name, sizeof name, ".f.%ld-9", (long)dead);
  CHECK_INT(mkdir(in_folder(name), 0700), 0);
  snprintf(name, sizeof name, ".f.%ld-6", (long)dead);
  int root = geteuid() == 0;
  if (root) put(in_folder(name), "somebody's");
  if (root) CHECK_INT(chown(in_folder(name), 1234, 2345), 0);
  CHECK_INT(open_it("f"), 0);

  for (size_t i = 0; i < SLP_COUNT(left); i++) {
    snprintf(name, sizeof name, left[i], (long)dead);
    CHECK(access(in_folder(name), F_OK) != 0);
  }
  snprintf(name, sizeof name, ".f.%ld-7", (long)getpid());
  CHECK(access(in_folder(name), F_OK) != 0);
  for (size_t i = 0; i < SLP_COUNT(stays); i++) {
    snprintf(name, sizeof name, stays[i], (long)dead);
    CHECK_INT(unlink(in_folder(name)), 0);
  }
  CHECK_INT(unlink(in_folder(".f.1-0")), 0);
  for (int i = 6 + !root; i < 10; i++) {
    snprintf(name, sizeof name, ".f.%ld-%d", (long)dead, i);
    if (i != 7) CHECK_INT(i == 9 ? rmdir(in_folder(name)) : unlink(in_folder(name)), 0);
  }
  end();
}

TEST(many_processes_are_never_two_owners) {
  begin();
  put(in_folder("f"), "0");
  enum { N = 8, ROUNDS = 200 };
  pid_t pids[N];
  for (int i = 0; i < N; i++) {
    pids[i] = fork();
    CHECK(pids[i] >= 0);
    if (pids[i]) continue;
    int wins = 0;
    for (int k = 0; k < 100 * ROUNDS && wins < ROUNDS; k++) {
      if (open_it("f") != 0) continue;
      char text[20];
      snprintf(text, sizeof text, "%d", atoi(text_of(in_folder("f"))) + 1);
      if (slp_own_file_replace(f, slp_str_of(text)) != 0) _exit(255);
      slp_own_file_close(f);
      wins++;
    }
    _exit(wins);
  }
  int all = 0;
  for (int i = 0; i < N; i++) {
    int status = 0;
    CHECK(waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) && WEXITSTATUS(status) < 255);
    all += WEXITSTATUS(status);
  }
  CHECK(all > 0);
  CHECK_INT(atoi(text_of(in_folder("f"))), all);
  unlink(in_folder("f"));
  unlink(in_folder(".f.lock"));
  end();
}

TEST(a_full_disk_leaves_what_was_there) {
  begin();
  put(in_folder("f"), "old");
  CHECK_INT(open_it("f"), 0);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = {4096, 4096}; /* a larger file can't be written, as on a full disk */
  CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
  static char large[10000];
  CHECK_INT(slp_own_file_replace(f, (slp_str){large, sizeof large}), -EFBIG);
  CHECK_STR(text_of(in_folder("f")), "old");
  unlink(in_folder("f"));
  end();
}
