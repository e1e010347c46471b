/* multilang_file.c - finds and reads the .properties file and the program that it names, and tells what would
 * be done with them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/multilang.h"
#include "cli/say.h"
#include "host/local.h"

#define FILE_MAX (1 << 20)

int slp_multilang_load(slp_args *a, slp_ml_settings *s, slp_mem *mem) {
  slp_buf text;
  char why[SLP_ML_WHY] = "";
  *s = (slp_ml_settings){.initial_at_s = -1};
  slp_buf_init(&text, mem, FILE_MAX);
  int r = slp_local_read(a->multilang, &text);
  if (r) {
    slp_say("%s: %s", a->multilang, slp_local_why(r));
    slp_buf_free(&text);
    return r == SLP_ENOMEM ? SLP_EXIT_FAILED : SLP_EXIT_USAGE;
  }
  r = slp_ml_settings_read(s, mem, slp_buf_str(&text), why);
  slp_buf_free(&text);
  if (r) {
    slp_say("%s: %s", a->multilang, why);
    return r == SLP_EINVAL ? SLP_EXIT_USAGE : SLP_EXIT_FAILED;
  }
  slp_ml_settings_apply(s, &a->opts, &a->metrics);
  a->stream = a->streams[0] = a->opts.stream;
  a->streams_n = 1;
  return 0;
}

/* Returns NULL, or why the file can't be started. */
static const char *why_not(const char *path) {
  struct stat st;
  if (stat(path, &st)) return errno == ENOENT || errno == ENOTDIR ? "is not there" : "can't be looked at";
  if (S_ISDIR(st.st_mode)) return "is a folder";
  return !S_ISREG(st.st_mode) || access(path, X_OK) ? "can't be executed" : NULL;
}

/* As execvp does: 0 and the path, or why there is none. */
static const char *find_program(const char *name, char path[512]) {
  const char *folders = getenv("PATH"), *worst = "is not in PATH";
  snprintf(path, 512, "%s", name);
  if (strchr(name, '/')) return why_not(name);
  for (folders = folders ? folders : "/usr/bin:/bin"; *folders;) {
    size_t n = strcspn(folders, ":");
    snprintf(path, 512, "%.*s%s%s", (int)n, folders, n ? "/" : "", name);
    const char *why = why_not(path);
    if (!why) return NULL;
    if (strcmp(why, "is not there") != 0) worst = "can't be executed";
    folders += n + (folders[n] == ':');
  }
  return worst;
}

const char *slp_multilang_program(const slp_ml_settings *s, char path[512]) {
  return find_program(s->command[0], path);
}

static void put(slp_buf *b, const char *what, const char *value) { slp_say_to(b, "%-12s %s", what, value); }

static int describe(slp_buf *b, const slp_args *a, const slp_ml_settings *s, const char *path,
                    const char *missing) {
  const sloop_opts_t *o = &a->opts;
  put(b, "command", s->executable);
  slp_say_to(b, "%-12s %s%s%s", "program", missing ? s->command[0] : path, missing ? ": " : "",
             missing ? missing : "");
  put(b, "stream", o->stream);
  put(b, "application", o->app);
  slp_say_to(b, "%-12s %s, laid out as KCL does; its rows say by which version's rules", "lease table",
             s->table ? s->table : s->app);
  put(b, "region", o->region ? o->region : "AWS_REGION, or the profile's");
  if (o->endpoint) put(b, "Kinesis", o->endpoint);
  if (o->store_endpoint) put(b, "DynamoDB", o->store_endpoint);
  put(b, "credentials", s->profile ? "of a profile" : "the chain that AWS tools use");
  if (s->profile) put(b, "profile", s->profile);
  if (s->initial_at_s >= 0)
    slp_say_to(b, "%-12s at %lld (Unix seconds), when the application is new", "begins",
               (long long)s->initial_at_s);
  else
    slp_say_to(b, "%-12s at %s, when the application is new", "begins",
               s->initial == SLP_ML_OLDEST ? "TRIM_HORIZON" : "LATEST");
  if (s->retrieval == SLP_ML_FANOUT)
    slp_say_to(b, "%-12s pushed to the registered consumer %s, which AWS bills", "records",
               o->push_consumer ? o->push_consumer : o->app);
  else
    slp_say_to(b, "%-12s polled, %llu at most at once, every %llu ms at a shard's tip", "records",
               (unsigned long long)s->batch_records, (unsigned long long)s->poll_ms);
  if (s->metrics == SLP_ML_METRICS_NONE)
    put(b, "CloudWatch", "no metrics");
  else
    slp_say_to(b, "%-12s metrics in the namespace %s every %llu ms", "CloudWatch", s->app,
               (unsigned long long)s->cloudwatch_ms);
  if (s->timeout_s)
    slp_say_to(b, "%-12s %llu s for an answer, or its child is killed", "patience",
               (unsigned long long)s->timeout_s);
  return slp_buf_add_str(b, slp_buf_str(&s->notes));
}

int slp_multilang_check(slp_mem *mem, const slp_args *args, const slp_ml_settings *s) {
  char path[512];
  const char *missing = slp_multilang_program(s, path);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 22);
  int code = slp_print(&b, describe(&b, args, s, path, missing));
  if (missing) slp_say("executableName: %s %s", s->command[0], missing);
  return code ? code : missing ? SLP_EXIT_USAGE : SLP_EXIT_FINE;
}
