/* metrics_options.c - starts what --metrics (Prometheus) and -X cloudwatch ask for. */
#include "cli/metrics_options.h"

#include "cli/app.h"
#include "cli/args.h"
#include "cli/exit.h"
#include "cli/people_lines.h"

#include <sloop.h>

int slp_cli_metrics_open(sloop_metrics_t **ret, slp_app *app, sloop_t *first) {
  const slp_args *a = app->args;
  char why[160];
  *ret = NULL;
  if (!slp_args_want_metrics(a)) return 0;
  int r = sloop_metrics_open(ret, first, &a->metrics, why, sizeof why);
  if (r) {
    slp_say("%s: %s", strncmp(why, "can't listen", 12) == 0 ? "--metrics" : "metrics", why);
    app->exit_code = r == SLOOP_EOPTION ? SLP_EXIT_USAGE : SLP_EXIT_FAILED;
  } else if (a->metrics.listen && !a->quiet) {
    slp_say("metrics at %s/metrics", sloop_metrics_url(*ret));
  }
  return r;
}
