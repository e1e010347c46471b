/* executable.c - what keeps a program from being started; the shell is the second opinion on what starts. */
#include "host/executable.h"
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char folder[] = "/tmp/executable-XXXXXX";
static char path[SLP_EXECUTABLE_PATH], why[SLP_EXECUTABLE_WHY];

static const char *put(const char *name, const char *text, mode_t mode) {
  static char file[200];
  snprintf(file, sizeof file, "%s/%s", folder, name);
  FILE *f = fopen(file, "w");
  CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0 && chmod(file, mode) == 0);
  return file;
}

static int shell_starts(const char *file) {
  char line[300];
  snprintf(line, sizeof line, "'%s' 2>/dev/null", file);
  return system(line) == 0;
}

TEST(a_program_by_its_path) {
  CHECK(mkdtemp(folder) != NULL);
  const char *good = put("good", "#!/bin/sh -e\nexit 0\n", 0755);
  CHECK_INT(slp_executable_find(good, path, why), 1);
  CHECK_STR(path, good);
  CHECK_STR(why, "");
  CHECK(shell_starts(good));
  const char *blanks = put("blanks", "#! \t/bin/sh\nexit 0\n", 0755);
  CHECK_INT(slp_executable_find(blanks, path, why), 1);
  CHECK(shell_starts(blanks));
}

TEST(what_is_wrong_is_named) {
  static const struct {
    const char *text, *why;
    mode_t mode;
  } rows[] = {
      {"#!/nonexistent/python -u\n", "is a script whose interpreter /nonexistent/python can't be started",
       0755},
      {"#!/etc\n", "is a script whose interpreter /etc can't be started", 0755},
      {"#!/etc/passwd\n", "is a script whose interpreter /etc/passwd can't be started", 0755},
      {"#!/bin/sh\n", "may not be executed: see its mode", 0644},
  };
  CHECK(mkdtemp(folder) != NULL);
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    const char *file = put("bad", rows[i].text, rows[i].mode);
    CHECK_INT(slp_executable_find(file, path, why), 0);
    CHECK_STR(why, rows[i].why);
    CHECK(!shell_starts(file));
    unlink(file);
  }
  CHECK_INT(slp_executable_find(folder, path, why), 0);
  CHECK_STR(why, "is a folder");
  CHECK_INT(slp_executable_find("/nonexistent/tool", path, why), 0);
  CHECK_STR(why, "is not there");
}

TEST(a_program_in_path) {
  char folders[300];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(folders, sizeof folders, "/nonexistent:%s", folder);
  setenv("PATH", folders, 1);
  const char *tool = put("tool-of-this-test", "#!/bin/sh\n", 0644);
  CHECK_INT(slp_executable_find("tool-of-this-test", path, why), 0);
  CHECK_STR(why, "may not be executed: see its mode");
  CHECK_INT(chmod(tool, 0755), 0);
  CHECK_INT(slp_executable_find("tool-of-this-test", path, why), 1);
  CHECK_STR(path, tool);
  CHECK_INT(slp_executable_find("another-tool", path, why), 0);
  CHECK_STR(why, "is not in PATH");
  CHECK_STR(path, "another-tool");
}
