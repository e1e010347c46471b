/* main.c - stream-tail: reads the command line and hands over to a mode. */
#include <stdio.h>

#include "cli/args.h"
#include "cli/bench.h"
#include "cli/demo.h"
#include "cli/exit.h"
#include "cli/knobs.h"
#include "cli/list.h"
#include "cli/say.h"
#include "cli/serve.h"
#include "cli/tail.h"
#include "host/program.h"

static int print_text(slp_mem *mem, int (*make)(slp_buf *b)) {
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  int bad = make(&b);
  if (!bad) bad = fwrite(slp_buf_str(&b).p, 1, b.n, stdout) != b.n || fflush(stdout) != 0;
  slp_buf_free(&b);
  return bad ? SLP_EXIT_FAILED : SLP_EXIT_FINE;
}

static int make_version(slp_buf *b) { return slp_buf_addf(b, "stream-tail (sloop) %s\n", sloop_version()); }

static int run(slp_mem *mem, const slp_args *args) {
  switch (args->mode) {
    case SLP_MODE_TAIL: return slp_tail_run(mem, args);
    case SLP_MODE_LIST: return slp_list_run(mem, args);
    case SLP_MODE_SERVE: return slp_serve_run(mem, args);
    case SLP_MODE_DEMO: return slp_demo_run(mem, args);
    case SLP_MODE_BENCH: return slp_bench_run(mem, args);
    case SLP_MODE_HELP: return print_text(mem, slp_args_help);
    case SLP_MODE_VERSION: return print_text(mem, make_version);
    case SLP_MODE_KNOBS: return print_text(mem, slp_knobs_list);
  }
  return SLP_EXIT_FAILED;
}

int main(int argc, char **argv) {
  slp_program_fill_standard();
  slp_args args;
  char why[200] = "";
  if (slp_args_parse(&args, argc, (const char *const *)argv, slp_program_wall_ms(), why) != 0) {
    slp_say("%s", why);
    return SLP_EXIT_USAGE;
  }
  slp_mem *mem = slp_mem_new(NULL, NULL);
  if (!mem) {
    slp_say("no memory");
    return SLP_EXIT_FAILED;
  }
  int code = run(mem, &args);
  slp_mem_drop(mem);
  return code;
}
