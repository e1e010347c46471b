/* feed.h - the records of --feed: orders of a made-up shop, in JSON. */
#ifndef SLP_CLI_FEED_H
#define SLP_CLI_FEED_H

#include "base/buf.h"

#define SLP_FEED_KEY 24

/* Writes record `number` (0, 1, ...) and its partition key, which is its user. The same number gives the same
 * record, but for its time. Returns 0, or the error of b. */
int slp_feed_record(uint64_t number, int64_t now_ms, slp_buf *b, char key[SLP_FEED_KEY]);
/* Returns how many records are due `us` after the beginning, at `rate` records a second. */
uint64_t slp_feed_due(uint64_t us, uint64_t rate);

#endif
