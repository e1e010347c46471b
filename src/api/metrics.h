/* metrics.h - what stopping and closing a consumer need to know of metrics. */
#ifndef SLP_API_METRICS_H
#define SLP_API_METRICS_H

#include <sloop.h>

/* s is being closed: metrics opened for it end, others forget it. 1: some are not closed yet; s's close event
 * is posted again when they are. */
int slp_metrics_part(sloop_t *s);
/* s is stopping: CloudWatch is told now, while there is still time. */
void slp_metrics_last_word(sloop_t *s);

#endif
