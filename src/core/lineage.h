/* lineage.h - which shards there are, parents and children, and which are read at all. */
#ifndef SLP_CORE_LINEAGE_H
#define SLP_CORE_LINEAGE_H

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "codec/kpl.h"
#include "codec/page.h"

typedef struct slp_consumer slp_consumer;
typedef struct slp_shard slp_shard;

/* Whether a shard is read at all. */
typedef enum slp_selection {
  SLP_SELECT_WANTED,  /* it is, was, or will be when its parents are read */
  SLP_SELECT_SKIPPED, /* start position or filter leave it out; it counts as read for its children */
  SLP_SELECT_BARRED,  /* an ancestor was given up: neither it nor what descends from it is read */
  /* Its reader was stopped: it, or once it was begun an ancestor, was given up, or the consumer goes on
   * without it. */
  SLP_SELECT_STOPPED
} slp_selection;

typedef struct slp_kin { /* of a child and a parent that is known */
  slp_list link;         /* in the parent's children; loose: the parent is not known */
  slp_shard *child;
} slp_kin;

typedef struct slp_lineage { /* of a shard */
  slp_str parents[2];        /* copies, owned; {NULL,0}: none */
  uint32_t children_n;       /* known children */
  slp_list children;         /* slp_kin.link of the children's kin[] */
  slp_kin kin[2];            /* with parents[0], parents[1] */
  uint8_t merged;            /* a child of it has another parent too, so it has no other children */
  uint8_t keys_known;        /* keys were told */
  slp_hash_range keys;       /* what is written under them it gets */
  slp_selection selection;   /* slp_lineage_set moves it */
  uint8_t listed;            /* in the newest listing */
  uint8_t listed_closed;     /* the listing gives it an end */
  uint8_t ever_listed;       /* a listing had it */
  uint8_t missed_n;          /* listings in a row without it */
  uint64_t added_serial;     /* of the newest listing when it became known: too old to miss it */
  uint64_t known_serial;     /* a parent that is not known may come with this listing; 0: all are */
  slp_shard *below, *next;   /* scratch of slp_lineage_ordered and slp_lineage_may_have */
  uint8_t ordered, in_list;  /* likewise; in_list is 0 between two calls */
} slp_lineage;

/* Listed, until a listing says otherwise. NULL: no memory. */
slp_shard *slp_lineage_add(slp_consumer *c, slp_str id, slp_str parent, slp_str adjacent);
slp_shard *slp_lineage_get(slp_consumer *c, slp_str id);
slp_shard *slp_lineage_parent(const slp_shard *s, int i); /* 0 or 1; NULL: none, or not known */
slp_str slp_lineage_parent_id(const slp_shard *s, int i); /* known or not; {NULL,0}: none */
/* A parent of it is not known. It is not read before the next listing. */
int slp_lineage_lacks_parent(slp_shard *s);
/* All shards, parents before their children or children before their parents: the first, and
 * slp_lineage_next is what follows; NULL: nothing. What is true of kin is found in one pass, however a
 * listing is sorted. */
typedef enum slp_kin_order { SLP_PARENTS_FIRST, SLP_CHILDREN_FIRST } slp_kin_order;
slp_shard *slp_lineage_ordered(slp_consumer *c, slp_kin_order how);
slp_shard *slp_lineage_next(const slp_shard *s);
/* These may be children of it: each names it as a parent, and none is an ancestor of their parents. */
int slp_lineage_may_have(slp_shard *s, const slp_shard_desc *children, size_t n);
int slp_lineage_wants(const slp_consumer *c, slp_str id); /* the shard filter lets it through */
/* Moves selection; keeps count of the shards that wait to be read. */
void slp_lineage_set(slp_shard *s, slp_selection to);
int slp_lineage_wanted(const slp_shard *s);
int slp_lineage_skipped(const slp_shard *s);
int slp_lineage_is_barred(const slp_shard *s);
int slp_lineage_is_listed(const slp_shard *s);
int slp_lineage_is_closed(const slp_shard *s); /* the listing gives it an end */
int slp_lineage_has_children(const slp_shard *s);
/* What goes on from it is known: the child of a merge, or both children of a split. A stream of a table tells
 * no keys, and a shard of it mostly has one child. */
int slp_lineage_has_all_children(const slp_shard *s);
/* The same of these, which a page names. */
int slp_lineage_are_all_children(const slp_shard *s, const slp_shard_desc *children, size_t n);
/* No listing has had it so far. */
int slp_lineage_is_new(const slp_shard *s);
/* Hands each known child of it to `visit`, once for each of its parents that is s. */
void slp_lineage_each_child(slp_shard *s, void (*visit)(slp_shard *child));
/* As rows whose texts are borrowed; with leases, where a shard knows none of its kin, those of the newest
 * listing. Returns their number, max at most. */
size_t slp_lineage_children(const slp_shard *s, slp_shard_desc *rows, size_t max);
void slp_lineage_learn_keys(slp_shard *s, const slp_shard_desc *d);
const slp_hash_range *slp_lineage_keys(const slp_shard *s); /* NULL: not known */
int slp_lineage_knows_parents(const slp_shard *s);          /* it names some, and all of them are known */
/* The service keeps it no more, and not all of its children are known. */
int slp_lineage_is_open_end(const slp_shard *s);
int slp_lineage_parents_read(const slp_shard *s);  /* every known parent is read to its end, or not ours */
int slp_lineage_parent_barred(const slp_shard *s); /* a parent was given up, or descends from such a shard */
void slp_lineage_start(slp_shard *s);              /* it is read from now on */
void slp_lineage_drop(slp_shard *s);               /* finished, or stopped and detached: it goes */
void slp_lineage_free_map(slp_map *shards);        /* every reader stopped, every queue orphaned */
/* For a shard begun at LATEST that brought no record yet: a time to go on from that leaves out nothing of its
 * children. */
int64_t slp_lineage_anchor(const slp_shard *s);

/* The newest listing's rows become shards, and correct the parents of those that were not begun: a page may
 * have named others. SLP_ENOMEM: not all of them. */
int slp_lineage_take_listing(slp_consumer *c);
/* The same of the pages that came so far. Nothing is corrected, and no shard is missed. */
void slp_lineage_take_part(slp_consumer *c);
void slp_lineage_note_listing(slp_consumer *c); /* with leases: nothing is added */
/* Once a listing: the newest ones do not have it. */
int slp_lineage_is_missed(slp_shard *s);

#endif
