/* reader.h - reads one shard: asks for iterators and pages, and decides what the answers mean. (An iterator
 * is the service's token for a position in the shard.) (reader.c, read_again.c) */
#ifndef SLP_CORE_READER_H
#define SLP_CORE_READER_H

#include "base/fail.h"
#include "core/core.h"

/* If an event of a pushed shard comes at least this long after the fetch for it began, the event has just
 * arrived. Otherwise it may have waited unread in the connection. */
#define SLP_READER_SETTLES_US 2000u

/* Returns how many bytes to reserve for the next call of s. *ret_limit: how many records to ask for. */
uint64_t slp_reader_reserve(slp_shard *s, uint32_t *ret_limit);
/* makes the next call, for an iterator or for a page */
void slp_reader_go(slp_shard *s, uint64_t bytes, uint32_t limit);
/* Returns since when s listens: s is pushed and at its tip, and every event was read, so a new record comes
 * as soon as it is stored. UINT64_MAX: s does not listen at present. */
uint64_t slp_reader_listens_since_us(const slp_shard *s);
uint32_t slp_reader_fails(const slp_shard *s); /* returns how many calls in a row failed */
/* Returns how long the last call took, if it was answered only with "the iterator has expired", and no page
 * came since; else 0. */
uint64_t slp_reader_lost_us(const slp_shard *s);
/* returns how many listings in a row lacked s or its children; 0 if s does not wait for a listing */
uint32_t slp_reader_unlisted(const slp_shard *s);
/* to be called when the budget has room again: continues the paused transfer of s */
void slp_reader_resume(slp_shard *s);
/* Cancels the call in flight, and makes the shard not want another one. */
void slp_reader_call_off(slp_shard *s);
/* In state FETCHING: cancels the call, and makes the next call ask for a single record. */
void slp_reader_ask_less(slp_shard *s);
/* Drops all fetched records of s that were not handed out, and fetches them again later. Returns 0, and drops
 * nothing, if that is not possible. */
int slp_reader_rewind(slp_shard *s);
/* Does the same as slp_reader_rewind, but keeps the first of the fetched records: as many as fit into `bytes`
 * bytes, and at least one. */
int slp_reader_shorten(slp_shard *s, uint64_t bytes);
/* To be called when a listing was taken in. If s is in state CHECKING, decides what the listing means for
 * s. */
void slp_reader_listed(slp_shard *s);
void slp_reader_stop(slp_shard *s); /* cancels all calls of s; the state becomes GONE, unless it is ENDED */
/* gives s up because of the failure f, reports f to the user, and drops the records in memory */
void slp_reader_give_up(slp_shard *s, const slp_fail *f);
/* For all shards of c that descend from a shard that was given up: stops those that are being read, and makes
 * sure that the others are never started. */
void slp_reader_bar_kin(slp_consumer *c);
/* To be called when s was read to its end and every record is acknowledged. Without leases reports
 * SLOOP_SHARD_ENDED, once. With leases does nothing; slp_reader_kept_end reports it later. */
void slp_reader_told_end(slp_shard *s);
/* To be called when the end of s is written in the lease table. Reports SLOOP_SHARD_ENDED, once. */
void slp_reader_kept_end(slp_shard *s);

#endif
