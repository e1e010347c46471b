/* behind_text.h - how far a consumer is behind, in words. */
#ifndef SLP_CLI_BEHIND_TEXT_H
#define SLP_CLI_BEHIND_TEXT_H

#include <sloop.h>

#define SLP_BEHIND_TEXT 40
/* Writes the lag of the statistics: "at the tip", "350 ms behind", "lag not known for 12 s". */
void slp_behind_text(const sloop_stats_t *now, char out[SLP_BEHIND_TEXT]);

#endif
