/* truth.h - what a consumer tells of its reading, held against what the world knows.
 *
 *   T1 lag    A lag is never too small. The oldest record that the consumer must read, and whose batch the
 *             user has not finished with, is no older than the lag. The shard's last page is no older either.
 *   T2 state  A shard without a page for longer than the longest back-off is not told as read, or at its tip.
 *             A shard at its tip is 0 behind. A shard that fails names its error.
 *   T3 rest   When all is acknowledged and nothing is wrong, each open shard is told at its tip and 0 behind,
 *             or is behind by no more than an answer may be late, and told as read, as waiting for a free
 *             call where there are fewer calls than shards, or as failing where a call was just refused.
 *   T4 ready  A consumer is not ready while a shard that it reads gets no page, and none of its records moves,
 *             for longer than unready_ms, but while it is paused. When all is acknowledged and nothing is
 *             wrong, it is ready. */
#ifndef SLP_TEST_SWARM_TRUTH_H
#define SLP_TEST_SWARM_TRUTH_H

#include "swarm/user.h"

void slp_truth_stats(slp_judged *m, const sloop_stats_t *st); /* the statistics, S11 to S12 */
void slp_truth_look(slp_user *u); /* every 250 ms at most, however often it is called */
void slp_truth_rest(slp_user *u); /* all is read, and the service has been well for a while */

#endif
