/* metrics.h - --metrics and -X cloudwatch. */
#ifndef SLP_CLI_METRICS_H
#define SLP_CLI_METRICS_H

#include "cli/app.h"
#include "sloop.h"

/* Opens metrics of the first consumer before it starts; they end with it. 0, and *ret NULL when none are
 * wanted; or a negative code after telling why, and app->exit_code is set. Says where they are served. */
int slp_cli_metrics_open(sloop_metrics_t **ret, slp_app *app, sloop_t *first);

#endif
