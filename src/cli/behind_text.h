/* behind_text.h - how far a consumer is behind, in words. */
#ifndef SLP_CLI_BEHIND_TEXT_H
#define SLP_CLI_BEHIND_TEXT_H

#include <sloop.h>

#define SLP_BEHIND_TEXT 40
/* Writes the lag of the statistics: "at the tip", "350 ms behind", "lag not known for 12 s". */
void slp_behind_text(const sloop_stats_t *now, char out[SLP_BEHIND_TEXT]);

/* In a sum of several consumers' statistics, pushed_now is the number of shards that are pushed, plus
 * SLP_ANY_PUSHED if a consumer is pushed, even one that has no shard. */
#define SLP_ANY_PUSHED (UINT64_C(1) << 32)
#define SLP_RETRIEVAL_TEXT 80
void slp_retrieval_add(sloop_stats_t *sum, const sloop_stats_t *one);
/* Writes how many shards there are and how their records come: "4 shards polled", "4 shards pushed", or "4
 * shards, 3 of them pushed". */
void slp_retrieval_text(const sloop_stats_t *sum, char out[SLP_RETRIEVAL_TEXT]);

#endif
