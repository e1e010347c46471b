/* main.c - main() of stream-tail: reads the command line and runs the mode that it chooses. */
#include "aws/ask_code.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/bench.h"
#include "cli/config.h"
#include "cli/demo.h"
#include "cli/exit.h"
#include "cli/help.h"
#include "cli/iam.h"
#include "cli/idle_settings.h"
#include "cli/knobs.h"
#include "cli/lease_command.h"
#include "cli/lease_exporter.h"
#include "cli/list_apps.h"
#include "cli/list_shards.h"
#include "cli/list_streams.h"
#include "cli/matched_streams.h"
#include "cli/migrate_command.h"
#include "cli/multilang.h"
#include "cli/multilang_properties.h"
#include "cli/options.h"
#include "cli/people_lines.h"
#include "cli/produce.h"
#include "cli/propose.h"
#include "cli/serve.h"
#include "cli/tail.h"
#include "cli/try_rights.h"
#include "cli/watch.h"
#include "program/local.h"
#include "program/notify.h"
#include "program/program.h"

#include <signal.h>
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>

static int make_version(slp_buf *b) { return slp_buf_addf(b, "stream-tail (sloop) %s\n", sloop_version()); }

static int run_mode(slp_mem *mem, slp_args *args, const slp_ml_settings *settings) {
  slp_buf b;
  int go_on = 1, code = slp_matched_wanted(args) ? slp_matched_resolve(mem, args, &go_on) : SLP_EXIT_FINE;
  if (!go_on) return code;
  slp_buf_init(&b, mem, 1 << 24);
  switch (args->mode) {
    case SLP_MODE_TAIL: return slp_tail_run(mem, args);
    case SLP_MODE_LIST:
      if (!args->stream) return slp_list_streams_run(mem, args);
      return slp_list_run(mem, args);
    case SLP_MODE_APPS: return slp_list_apps_run(mem, args);
    case SLP_MODE_CONSUMERS:
    case SLP_MODE_DEREGISTER: return slp_list_run(mem, args);
    case SLP_MODE_SERVE: return slp_serve_run(mem, args);
    case SLP_MODE_PRODUCE: return slp_produce_run(mem, args);
    case SLP_MODE_DEMO: return slp_demo_run(mem, args);
    case SLP_MODE_BENCH: return slp_bench_run(mem, args);
    case SLP_MODE_IAM: return args->try_rights ? slp_rights_run(mem, args) : slp_print(&b, slp_iam(&b, args));
    case SLP_MODE_LEASES:
      if (args->exports) return slp_lease_exporter_run(mem, args);
      return slp_lease_command_run(mem, args);
    case SLP_MODE_EXPLAIN:
    case SLP_MODE_RELEASE:
    case SLP_MODE_DRAIN:
    case SLP_MODE_UNDRAIN:
    case SLP_MODE_PAUSE:
    case SLP_MODE_RESUME:
    case SLP_MODE_RESET: return slp_lease_command_run(mem, args);
    case SLP_MODE_MIGRATE: return slp_migrate_run(mem, args);
    case SLP_MODE_WATCH: return slp_watch_mode_run(mem, args);
    case SLP_MODE_MULTILANG: return slp_multilang_run(mem, args, settings);
    case SLP_MODE_CHECK: return slp_multilang_check(mem, args, settings);
    case SLP_MODE_HELP: return slp_print(&b, slp_help(&b, args->topic));
    case SLP_MODE_VERSION: return slp_print(&b, make_version(&b));
    case SLP_MODE_KNOBS: return slp_print(&b, slp_knobs_list(&b));
    case SLP_MODE_DUMP: return slp_print(&b, slp_config_dump(&b, args));
    case SLP_MODE_MAN: return slp_print(&b, slp_man(&b));
    case SLP_MODE_KCAT: return slp_print(&b, slp_help_kcat(&b));
    case SLP_MODE_COMPLETION:
      return slp_print(&b, *args->completion == 'b'   ? slp_completion_bash(&b)
                           : *args->completion == 'z' ? slp_completion_zsh(&b)
                                                      : slp_completion_fish(&b));
  }
  return SLP_EXIT_FAILED;
}

/* Writes the path of the configuration file: $STREAM_TAIL_CONFIG, or otherwise stream-tail.conf in
 * $XDG_CONFIG_HOME or ~/.config. Sets around->config to NULL if none of these variables is set. Returns 0, or
 * the error of ret. */
static int find_config(slp_buf *ret, slp_surroundings *around) {
  const char *named = getenv("STREAM_TAIL_CONFIG"), *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  if (named && *named)
    slp_buf_add_z(ret, named);
  else if (xdg && *xdg)
    slp_buf_addf(ret, "%s/stream-tail.conf", xdg);
  else if (home && *home)
    slp_buf_addf(ret, "%s/.config/stream-tail.conf", home);
  around->config = ret->n ? slp_buf_z(ret) : NULL;
  around->config_may_be_absent = !(named && *named);
  return slp_buf_failed(ret);
}

static void tell_idle_settings(slp_mem *mem, const slp_args *args) {
  slp_buf lines;
  slp_buf_init(&lines, mem, 1 << 16);
  if (!args->quiet && slp_idle_settings_list(&lines, args) == 0)
    for (const char *line = slp_buf_z(&lines), *end; (end = strchr(line, '\n')); line = end + 1)
      slp_say("%.*s", (int)(end - line), line);
  slp_buf_free(&lines);
}

/* Returns 1 for the modes that may run for ever. A service manager is told of these only. */
static int is_service(const slp_args *a) {
  return a->mode == SLP_MODE_TAIL || a->mode == SLP_MODE_MULTILANG || a->mode == SLP_MODE_SERVE ||
         (a->mode == SLP_MODE_LEASES && a->exports);
}

/* Opens the socket of the service manager. Its variables are taken out of the environment, or the children of
 * this program would speak for it. */
static slp_notify *open_notify(slp_mem *mem) {
  static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};
  slp_notify_env env = {getenv(names[0]), getenv(names[1]), getenv(names[2])};
  slp_notify *notify;
  int r = slp_notify_open(&notify, mem, &env);
  if (r)
    slp_say("NOTIFY_SOCKET=%.100s can't be used: %s; the service manager is told nothing", env.socket,
            sloop_strerror(r));
  for (size_t i = 0; i < SLP_COUNT(names); i++) unsetenv(names[i]);
  return notify;
}

int main(int argc, char **argv) {
  slp_program_fill_standard();
  /* Without this a write beyond a file's size limit (ulimit -f) would end the process. With it the write
   * fails with an error, which is reported. */
  slp_program_ignore_signal(SIGXFSZ);
  slp_args args;
  char why[SLP_ARGS_WHY] = "no memory";
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_surroundings around = {.clock = {slp_program_wall_ms(), slp_local_offset_ms}};
  slp_buf config;
  slp_ml_settings settings = {.command = NULL};
  if (mem) slp_buf_init(&config, mem, 1 << 16);
  if (!mem || find_config(&config, &around) != 0) {
    slp_say("%s", why);
    return SLP_EXIT_FAILED;
  }
  if (argc > 2 && strcmp(argv[1], SLP_PROPOSE_WORD) == 0) {
    int code = slp_propose_run(mem, argc, (const char *const *)argv, &around);
    slp_buf_free(&config);
    slp_mem_drop(mem);
    return code;
  }
  const char *missing = NULL, *missing_app = NULL;
  int code = SLP_EXIT_USAGE;
  if (slp_args_parse(&args, mem, argc, (const char *const *)argv, &around, why) != 0)
    slp_say("%s", why);
  else if (args.multilang && (code = slp_multilang_load(&args, &settings, mem)) != 0)
    ; /* slp_multilang_load has already reported why */
  else {
    tell_idle_settings(mem, &args);
    /* --watch uses the whole screen, so it can't ask the user for MFA codes */
    if (args.mode != SLP_MODE_WATCH) slp_codes_allow();
    args.ret_missing = &missing;
    args.ret_missing_app = &missing_app;
    slp_notify *notify = open_notify(mem);
    if (is_service(&args)) args.notify = notify;
    code = run_mode(mem, &args, args.multilang ? &settings : NULL);
    slp_notify_close(notify, mem);
    if (missing && !args.quiet) slp_streams_suggest(mem, &args, missing);
    if (missing_app && !args.quiet) slp_apps_suggest(mem, &args, missing_app);
  }
  slp_ml_settings_free(&settings, mem);
  slp_args_free(&args);
  slp_buf_free(&config);
  slp_mem_drop(mem);
  return code;
}
