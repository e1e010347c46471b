/* metrics.h - the functions of metrics that stopping and closing a consumer call. */
#ifndef SLP_API_METRICS_H
#define SLP_API_METRICS_H

#include <sloop.h>

/* Removes s, which is being closed: metrics opened for it end, others drop it. 1: some are not closed yet;
 * s's close event is posted again when they are. */
int slp_metrics_part(sloop_t *s);
/* Sends the last values to CloudWatch, because s is stopping and there is still time. */
void slp_metrics_last_word(sloop_t *s);

#endif
