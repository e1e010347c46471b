/* truth.h - what a consumer tells of its reading, held against what the world knows. The rules:
 *   T1 lag    a lag that is told is no less than the age of the oldest record that is to be read and was not
 *             finished with, nor than the time since the service last made a page of the shard
 *   T2 state  a shard of which no page was made for longer than the longest back-off is not told as read, nor
 *             at its tip; who is at its tip is 0 behind; what fails names its error
 *   T3 rest   when all is acknowledged and nothing is wrong each open shard is told at its tip, 0 behind,
 *             or as read, behind by no more than an answer may be late */
#ifndef SLP_TEST_SIM_TRUTH_H
#define SLP_TEST_SIM_TRUTH_H

#include "sim/user.h"

void slp_truth_stats(slp_judged *m, const sloop_stats_t *st); /* the statistics, S11 to S12 */
void slp_truth_look(slp_user *u); /* every 250 ms at most, however often it is called */
void slp_truth_rest(slp_user *u); /* all is read, and the service has been well for a while */

#endif
