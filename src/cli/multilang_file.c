/* multilang_file.c - reads the .properties file of --multilang, finds the program of its key executableName,
 * and prints for --check what the daemon would do. */
#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/multilang.h"
#include "cli/multilang_properties.h"
#include "cli/people_lines.h"
#include "host/executable.h"
#include "program/local.h"

#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_MAX (1 << 20)

int slp_multilang_load(slp_args *a, slp_ml_settings *s, slp_mem *mem) {
  slp_buf text;
  char why[SLP_ML_WHY] = "";
  *s = (slp_ml_settings){.initial_at_s = -1};
  slp_buf_init(&text, mem, FILE_MAX);
  int r = slp_local_read(a->multilang, &text);
  if (r) {
    char trouble[SLP_LOCAL_WHY];
    slp_local_explain(a->multilang, r, 0, trouble);
    slp_say("--multilang: can't read %s: %s", a->multilang, trouble);
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

int slp_multilang_program(const slp_ml_settings *s, char path[SLP_EXECUTABLE_PATH],
                          char why[SLP_EXECUTABLE_WHY]) {
  return slp_executable_find(s->command[0], path, why);
}

static void put_check_line(slp_buf *b, const char *what, const char *value) {
  slp_say_to(b, "%-12s %s", what, value);
}

/* Prints the region and its origin. The origins are tried in the same order as in aws/endpoint.c. The region
 * of a profile is not printed, because it is read only when the daemon runs. */
static void put_region(slp_buf *b, const sloop_opts_t *o, const slp_ml_settings *s) {
  static const char *const names[] = {"AWS_REGION", "AWS_DEFAULT_REGION"};
  slp_str of_arn = slp_ml_stream_region(s);
  if (o->region) {
    put_check_line(b, "region", o->region);
    return;
  }
  if (of_arn.n) {
    slp_say_to(b, "%-12s %.*s, of the stream's ARN", "region", (int)of_arn.n, of_arn.p);
    return;
  }
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    const char *value = getenv(names[i]);
    if (!value || !*value) continue;
    slp_say_to(b, "%-12s %s, of %s", "region", value, names[i]);
    return;
  }
  put_check_line(b, "region", "the profile's; regionName, AWS_REGION and AWS_DEFAULT_REGION are not given");
}

static int describe_daemon(slp_buf *b, const slp_args *a, const slp_ml_settings *s, const char *path,
                           const char *missing) {
  const sloop_opts_t *o = &a->opts;
  put_check_line(b, "command", s->executable);
  slp_say_to(b, "%-12s %s%s%s", "program", missing ? s->command[0] : path, missing ? ": " : "",
             missing ? missing : "");
  put_check_line(b, "stream", o->stream);
  put_check_line(b, "application", o->app);
  slp_say_to(b, "%-12s %s, laid out as KCL does; its rows say by which version's rules", "lease table",
             s->table ? s->table : s->app);
  put_region(b, o, s);
  if (o->endpoint) put_check_line(b, "Kinesis", o->endpoint);
  if (o->store_endpoint) put_check_line(b, "DynamoDB", o->store_endpoint);
  put_check_line(b, "credentials", s->profile ? "of a profile" : "the default chain of the AWS tools");
  if (s->profile) put_check_line(b, "profile", s->profile);
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
  if (slp_ml_reads_table(s))
    put_check_line(b, "data", "the whole record of a change, eventName and dynamodb; no partitionKey");
  if (s->metrics == SLP_ML_METRICS_NONE)
    put_check_line(b, "CloudWatch", "no metrics");
  else
    slp_say_to(b, "%-12s metrics in the namespace %s every %llu ms", "CloudWatch", s->app,
               (unsigned long long)s->cloudwatch_ms);
  if (s->timeout_s)
    slp_say_to(b, "%-12s %llu s for an answer, or its child is killed", "patience",
               (unsigned long long)s->timeout_s);
  return slp_buf_add_str(b, slp_buf_str(&s->notes));
}

static void on_closed(slp_cli_consumer *c) { slp_app_close(c->user); }

/* Opens a consumer and closes it again, so that the library reports options that it refuses. The consumer is
 * never started, so no service is called. Returns the exit code. */
static int try_options(slp_mem *mem, const slp_args *args) {
  slp_app app = {.mem = mem};
  slp_cli_consumer c = {.user = &app, .on_closed = on_closed};
  if (slp_app_open(&app, mem, args)) return slp_app_run(&app);
  if (slp_cli_consumer_open_idle(&c, &app, &args->opts))
    slp_app_close(&app);
  else
    slp_cli_consumer_close(&c);
  return slp_app_run(&app);
}

int slp_multilang_check(slp_mem *mem, const slp_args *args, const slp_ml_settings *s) {
  char path[SLP_EXECUTABLE_PATH], why[SLP_EXECUTABLE_WHY];
  const char *missing = slp_multilang_program(s, path, why) ? NULL : why;
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 22);
  int refused = try_options(mem, args);
  int code = slp_print(&b, describe_daemon(&b, args, s, path, missing));
  if (missing) slp_say("executableName: %s %s", s->command[0], missing);
  return code ? code : refused ? refused : missing ? SLP_EXIT_USAGE : SLP_EXIT_FINE;
}
