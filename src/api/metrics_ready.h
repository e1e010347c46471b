/* metrics_ready.h - is a consumer doing its work? A load balancer or a deployment asks. Pure. */
#ifndef SLP_API_METRICS_READY_H
#define SLP_API_METRICS_READY_H

#include "api/metrics_sample.h"

#define SLP_READY_WHY 200

/* NULL; or why this consumer is not ready, without its name. Static. */
const char *slp_ready_wrong(const slp_sample_consumer *c, int leased);
/* 1: all consumers are ready. 0: `why` is one line about the first that is not. */
int slp_ready(const slp_sample *s, char why[SLP_READY_WHY]);

#endif
