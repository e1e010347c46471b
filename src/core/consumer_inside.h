/* consumer_inside.h - the members of a consumer: its parts, and the fields that belong to no part (core.h
 * explains parts). */
#ifndef SLP_CORE_CONSUMER_INSIDE_H
#define SLP_CORE_CONSUMER_INSIDE_H

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/ahead.h"
#include "core/core.h"
#include "core/delay.h"
#include "core/leases.h"
#include "core/life.h"
#include "core/listing.h"
#include "core/report.h"
#include "core/seek_part.h"
#include "core/source.h"
#include "core/svctime.h"
#include "core/tally.h"
#include "host/host.h"

#include <sloop.h>

struct slp_consumer {
  slp_engine *engine;
  slp_source *source; /* owned */
  slp_mem *mem;
  slp_list link;         /* in slp_engine.consumers, the list of joined consumers */
  sloop_t *handle;       /* the consumer as the user knows it; the first argument of the user's callbacks */
  const sloop_opts_t *o; /* the user's options; a copy that api/ owns */
  char *stream;          /* owned; the stream's name, which records carry */
  char *arn;             /* owned; the stream's ARN; NULL: not known yet, or the service gives none */
  int64_t retention_ms;  /* how long the stream keeps records; -1: not known */
  int64_t created_ms;    /* when the stream was created, Unix time; -1: the service does not say */
  slp_life life;         /* only slp_consumer_move changes it */
  uint64_t life_us;      /* when `life` last changed */
  slp_svctime service;
  slp_delay delay; /* how long pushed records take to arrive, learned from earlier ones */
  slp_ahead ahead; /* how many bytes are worth fetching before they are needed */
  slp_map shards;  /* shard id -> slp_shard */
  slp_tally sum;
  slp_listing listing;
  uint64_t started_us; /* when slp_consumer_start was called */
  uint32_t fails;      /* describe or list calls that failed in a row */
  /* since when describe or list calls fail for another reason than throttling; 0: they do not fail */
  uint64_t failing_since_us;
  slp_timer timer;                    /* runs when the next describe or list call is due */
  slp_timer look_timer;               /* runs when the stream is described again, in case it has changed */
  slp_start_position *start_position; /* owned; where the user wants reading to begin */
  /* 1: every shard has its position, because the start position was applied to a listing; see start.c */
  uint8_t started_from;
  slp_list candidates; /* shards that may be read once their parents are finished; see order.c */
  uint8_t entering;    /* 1: let_in() in order.c is running, so a nested call of let_in() does nothing */
  uint8_t paused_all;  /* 1: the user paused all shards; shards that are found later are paused too */
  struct {             /* with leases: the last shard whose position the service refused to this worker */
    char shard[129];
    uint64_t us; /* when the shard's position was refused; 0: never */
    uint32_t n;  /* how often in a row the shard's position was refused */
  } refusal;
  uint8_t suspended;     /* 1: lease/ suspended this consumer, so nothing is fetched or handed out */
  uint64_t suspended_us; /* when `suspended` was last set */
  uint8_t whole_records; /* 1: the lease table can't store an index inside an aggregate (mark.sub) */
  uint8_t idle_places;   /* 1: the lease table can store a sequence number without a record (mark.idle) */
  uint8_t clear_places;  /* 1: the lease table can store mark.clear_ms */
  /* floor_learned, 1: the service has throttled a call for a page, so calls keep SLP_PACE_FLOOR_US apart.
   * tip_told, 1: the user was told that all shards are at their tip. */
  uint8_t floor_learned, tip_told;
  slp_seek seek;
  /* pages with records that the user held when a seek or a lost lease took their shard away */
  slp_list detached;
  slp_leases *leases; /* owned; NULL: no leases, so this consumer reads every shard */
  /* checkpoints that the user asked to be written, and that are not written yet; see lease/naming.h */
  slp_list namings;
  slp_stop stop;
  slp_timer stats_timer;
  /* Set by api/: called when statistics are due. May free c, so the caller must do nothing afterwards. */
  void (*on_stats_due)(slp_consumer *c);
  slp_counts counts;
  slp_notices notices;
};

#endif
