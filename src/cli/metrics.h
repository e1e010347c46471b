/* metrics.h - --metrics and -X cloudwatch: opens the metrics of a command. */
#ifndef SLP_CLI_METRICS_H
#define SLP_CLI_METRICS_H

#include "cli/app.h"
#include "sloop.h"

/* Opens the metrics of `first`, the first consumer, which must not be started yet; they end with it. Says
 * where they are served. Returns 0, with *ret NULL if no metrics are wanted. On failure returns a negative
 * code, has told why, and has set app->exit_code. */
int slp_cli_metrics_open(sloop_metrics_t **ret, slp_app *app, sloop_t *first);

#endif
