/* lineage.h - parents, children, and which shards are read at all. */
#ifndef SLP_CORE_LINEAGE_H
#define SLP_CORE_LINEAGE_H

#include "base/map.h"
#include "base/mem.h"

typedef struct slp_consumer slp_consumer;
typedef struct slp_shard slp_shard;

/* Whether a shard is read at all. */
typedef enum slp_selection {
  SLP_SELECT_WANTED,  /* it is, was, or will be when its parents are read */
  SLP_SELECT_SKIPPED, /* start position or filter leave it out; it counts as read for its children */
  SLP_SELECT_BARRED,  /* an ancestor was given up: neither it nor what descends from it is read */
  SLP_SELECT_STOPPED  /* its reader was stopped: given up, or the consumer goes on without it */
} slp_selection;

typedef struct slp_lineage { /* of a shard */
  slp_str parents[2];        /* copies, owned; {NULL,0}: none */
  uint32_t children_n;       /* known children */
  slp_selection selection;   /* slp_lineage_set moves it */
  uint8_t listed;            /* in the newest listing */
  uint8_t listed_closed;     /* the listing gives it an end */
  uint8_t missed_n;          /* listings in a row without it */
  uint64_t added_serial;     /* of the newest listing when it became known: too old to miss it */
  uint64_t known_serial;     /* its parents are sure only after this listing; 0: they are */
} slp_lineage;

slp_shard *slp_lineage_add(slp_consumer *c, slp_str id, slp_str parent, slp_str adjacent);
slp_shard *slp_lineage_get(slp_consumer *c, slp_str id);
slp_shard *slp_lineage_parent(const slp_shard *s, int i); /* 0 or 1; NULL: none, or not known */
int slp_lineage_wants(const slp_consumer *c, slp_str id); /* the shard filter lets it through */
/* Moves selection; keeps count of the shards that wait to be read. */
void slp_lineage_set(slp_shard *s, slp_selection to);
int slp_lineage_wanted(const slp_shard *s);
int slp_lineage_skipped(const slp_shard *s);
int slp_lineage_parents_read(const slp_shard *s); /* every known parent is read to its end, or not ours */
int slp_lineage_parents_out(const slp_shard *s);  /* and has handed out all it had */
/* Descendants of a shard that was given up are not read. */
void slp_lineage_bar(slp_consumer *c);
/* Starts the readers of shards whose parents are read; lets those whose parents are out into the order. */
void slp_lineage_open_ready(slp_consumer *c);
void slp_lineage_enter_ready(slp_consumer *c);      /* children whose parents are out enter the order */
void slp_lineage_drop(slp_shard *s);                /* a stopped, detached one goes */
void slp_lineage_free_map(slp_map *shards);         /* every reader stopped, every queue orphaned */
void slp_lineage_forget(slp_consumer *c);           /* finished shards that are not listed any more */
int64_t slp_lineage_floor(const slp_shard *s);      /* the latest key time of its parents */
int64_t slp_lineage_not_before(const slp_shard *s); /* what every parent passes over; INT64_MIN: nothing */
/* Begun at the latest, and nothing came: a time to go on from that passes over nothing of its children. */
int64_t slp_lineage_anchor(const slp_shard *s);

#endif
