/* no_answer.c - decides when -m and --timeout end a command that gets no answers or no shards. */
#include "cli/no_answer.h"

#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/fleet_look.h"
#include "guest/layouts.h"
#include "program/program.h"

#include <stdio.h>

/* --timeout fails if a shard still has no living reader this long after the start, plus --timeout, plus twice
 * the duration of a lease. */
#define NO_SHARE_US 60000000u

static uint64_t lease_ms_of(const slp_args *a) {
  return a->opts.lease_ms ? a->opts.lease_ms : slp_layout_lease_ms(a->opts.schema);
}

int slp_is_unanswered(const slp_args *a, const char *error, uint64_t begun_us, char line[480]) {
  uint64_t limit_ms = a->contact_ms && a->timeout_ms ? slp_min_u64(a->contact_ms, a->timeout_ms)
                                                     : slp_max_u64(a->contact_ms, a->timeout_ms);
  if (!limit_ms || slp_program_mono_us() - begun_us < limit_ms * 1000u) return 0;
  snprintf(
      line, 480, "nothing was answered in %llu s%s%s", (unsigned long long)(limit_ms / 1000u),
      *error ? "; the last error: " : ", and no call has failed: the service, or a proxy to it, is silent",
      error);
  return 1;
}

int slp_is_without_share(slp_cli_consumer *c, const slp_fleet_look *look, uint64_t begun_us, char line[480]) {
  const slp_args *a = c->app->args;
  uint64_t lease_ms = lease_ms_of(a);
  uint64_t limit_us = (a->timeout_ms + 2 * lease_ms) * 1000u + NO_SHARE_US,
           waited_us = slp_program_mono_us() - begun_us;
  int passes;
  uint64_t unwritten_us = slp_cli_consumer_unwritten_us(c, &passes);
  int writes_fail = unwritten_us >= (a->timeout_ms + (passes ? lease_ms : 0)) * 1000u;
  if (waited_us < limit_us && !writes_fail) return 0;
  snprintf(line, 480, "not every shard had a reader within %llu s%s%.150s%s%.200s",
           (unsigned long long)(waited_us / 1000000u), *look->why ? ": " : "", look->why,
           unwritten_us ? "; the last error: " : "", unwritten_us ? c->error : "");
  return 1;
}
