/* executable.c - finds a program as execvp() does, and says why it can't be started. */
#include "host/executable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* how much of a script's first line is read; Linux reads as much (BINPRM_BUF_SIZE) */
#define FIRST_LINE_MAX 256

/* Reads the interpreter out of a script's first line: /bin/sh of "#!/bin/sh -e". Returns 1, or 0 if the file
 * has no such line. */
static int read_interpreter(const char *path, char interpreter[FIRST_LINE_MAX]) {
  char line[FIRST_LINE_MAX + 1];
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return 0;
  ssize_t n = read(fd, line, FIRST_LINE_MAX);
  close(fd);
  if (n < 3 || line[0] != '#' || line[1] != '!') return 0;
  line[n] = 0;
  const char *from = line + 2 + strspn(line + 2, " \t");
  int length = (int)strcspn(from, " \t\r\n");
  snprintf(interpreter, FIRST_LINE_MAX, "%.*s", length, from);
  return length > 0;
}

static int may_be_executed(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

static int is_there(const char *why) { return strcmp(why, "is not there") != 0; }

/* Returns 1 if the file can be started, or 0 with the reason in `why`. */
static int can_be_started(const char *path, char why[SLP_EXECUTABLE_WHY]) {
  char interpreter[FIRST_LINE_MAX];
  struct stat st;
  const char *text = NULL;
  if (stat(path, &st))
    text = errno == ENOENT || errno == ENOTDIR ? "is not there"
           : errno == EACCES                   ? "is in a folder that may not be entered"
                                               : "can't be examined";
  else if (S_ISDIR(st.st_mode))
    text = "is a folder";
  else if (!may_be_executed(path))
    text = "may not be executed: see its mode";
  snprintf(why, SLP_EXECUTABLE_WHY, "%s", text ? text : "");
  if (text) return 0;
  if (!read_interpreter(path, interpreter) || may_be_executed(interpreter)) return 1;
  snprintf(why, SLP_EXECUTABLE_WHY, "is a script whose interpreter %.60s can't be started", interpreter);
  return 0;
}

int slp_executable_find(const char *name, char path[SLP_EXECUTABLE_PATH], char why[SLP_EXECUTABLE_WHY]) {
  const char *folders = getenv("PATH");
  char worst[SLP_EXECUTABLE_WHY] = "is not in PATH";
  snprintf(path, SLP_EXECUTABLE_PATH, "%s", name);
  if (strchr(name, '/')) return can_be_started(name, why);
  for (folders = folders ? folders : "/usr/bin:/bin"; *folders;) {
    size_t n = strcspn(folders, ":");
    snprintf(path, SLP_EXECUTABLE_PATH, "%.*s%s%s", (int)n, folders, n ? "/" : "", name);
    if (can_be_started(path, why)) return 1;
    if (is_there(why)) memcpy(worst, why, sizeof worst);
    folders += n + (folders[n] == ':');
  }
  snprintf(path, SLP_EXECUTABLE_PATH, "%s", name);
  memcpy(why, worst, sizeof worst);
  return 0;
}
