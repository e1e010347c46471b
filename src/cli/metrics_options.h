/* metrics_options.h - opens the metrics of a command, for --metrics and -X cloudwatch. */
#ifndef SLP_CLI_METRICS_OPTIONS_H
#define SLP_CLI_METRICS_OPTIONS_H

#include "cli/app.h"
#include "sloop.h"

/* Opens the metrics of a command, and prints where they are served. `first` is the command's first consumer,
 * which must not be started yet; the metrics end when it is closed. Returns 0, with *ret NULL if the user
 * wants no metrics. On failure returns a negative code; then the reason has been reported and app->exit_code
 * is set. */
int slp_cli_metrics_open(sloop_metrics_t **ret, slp_app *app, sloop_t *first);

#endif
