/* lineage.h - which shards a consumer knows, their parents and children, and which of them are read at
 * all. */
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
  SLP_SELECT_WANTED,  /* is being read, was read, or will be when its parents are read */
  SLP_SELECT_SKIPPED, /* left out by start position or shard filter; for its children it counts as read */
  SLP_SELECT_BARRED,  /* an ancestor was given up, so neither this shard nor its descendants are begun */
  /* Its reader was stopped: the shard was given up, or an ancestor was after this shard had begun, or the
   * consumer goes on without it. */
  SLP_SELECT_STOPPED
} slp_selection;

typedef struct slp_kin { /* joins a child to one of its parents */
  slp_list link;         /* in the parent's `children`; not linked: the parent is not known */
  slp_shard *child;
} slp_kin;

typedef struct slp_lineage { /* one per shard */
  slp_str parents[2];        /* ids, owned copies; {NULL,0}: none */
  uint32_t children_n;       /* how many children are known */
  slp_list children;         /* kin[].link of its known children */
  slp_kin kin[2];            /* to parents[0] and parents[1] */
  uint8_t merged;            /* 1: a child has two parents, so this shard has no other child */
  uint8_t keys_known;        /* 1: `keys` is set */
  slp_hash_range keys;       /* the shard gets the records with these hash keys */
  slp_selection selection;   /* only slp_lineage_set changes it */
  uint8_t listed;            /* 1: the newest listing has it */
  uint8_t listed_closed;     /* 1: the newest listing calls it closed */
  uint8_t ever_listed;       /* 1: some listing has had it */
  uint8_t missed_n;          /* listings in a row that lacked it */
  uint64_t added_serial;     /* only listings after this number miss the shard */
  /* the listing that may show a parent that is not known; 0: no parent is missing */
  uint64_t known_serial;
  slp_shard *below, *next;  /* scratch of slp_lineage_ordered and slp_lineage_may_have */
  uint8_t ordered, in_list; /* scratch of the same functions; in_list is 0 between two calls */
} slp_lineage;

/* Adds a shard, which counts as listed until a listing lacks it. Returns NULL without memory. */
slp_shard *slp_lineage_add(slp_consumer *c, slp_str id, slp_str parent, slp_str adjacent);
slp_shard *slp_lineage_get(slp_consumer *c, slp_str id);
slp_shard *slp_lineage_parent(const slp_shard *s, int i); /* i: 0 or 1. NULL: no such parent, or not known */
/* also of a parent that is not known; {NULL,0}: none */
slp_str slp_lineage_parent_id(const slp_shard *s, int i);
/* Returns 1 if a parent of s is not known. Then s is not read before the next listing. */
int slp_lineage_lacks_parent(slp_shard *s);
/* Sorts all shards, parents before their children or children before their parents. Returns the first;
 * slp_lineage_next returns the one after, or NULL. A rule about parents and children can then be applied in
 * one pass, in whatever order the listing was. */
typedef enum slp_kin_order { SLP_PARENTS_FIRST, SLP_CHILDREN_FIRST } slp_kin_order;
slp_shard *slp_lineage_ordered(slp_consumer *c, slp_kin_order how);
slp_shard *slp_lineage_next(const slp_shard *s);
/* Returns 1 if all of these may be children of s: each names s as a parent, and none is an ancestor of their
 * parents. */
int slp_lineage_may_have(slp_shard *s, const slp_shard_desc *children, size_t n);
int slp_lineage_wants(const slp_consumer *c, slp_str id); /* 1: the shard filter lets it through */
/* Changes the selection, and keeps count of the shards that wait to be read. */
void slp_lineage_set(slp_shard *s, slp_selection to);
int slp_lineage_wanted(const slp_shard *s);
int slp_lineage_skipped(const slp_shard *s);
int slp_lineage_is_barred(const slp_shard *s);
int slp_lineage_is_listed(const slp_shard *s);
int slp_lineage_is_closed(const slp_shard *s); /* 1: the listing calls it closed */
int slp_lineage_has_children(const slp_shard *s);
/* Returns 1 if all that goes on from s is known: the child of a merge, or both children of a split. A table's
 * stream tells no hash keys, and its shards mostly have one child. */
int slp_lineage_has_all_children(const slp_shard *s);
/* Does what slp_lineage_has_all_children does, for children that a page names. */
int slp_lineage_are_all_children(const slp_shard *s, const slp_shard_desc *children, size_t n);
/* Returns 1 if no listing has had it so far. */
int slp_lineage_is_new(const slp_shard *s);
/* Calls visit for each known child of s, twice if s is both of its parents. */
void slp_lineage_each_child(slp_shard *s, void (*visit)(slp_shard *child));
/* Writes the known children of s to rows, at most max. Their texts are borrowed. With leases a shard knows no
 * parents or children, so they come from the newest listing. Returns their number. */
size_t slp_lineage_children(const slp_shard *s, slp_shard_desc *rows, size_t max);
void slp_lineage_learn_keys(slp_shard *s, const slp_shard_desc *d);
const slp_hash_range *slp_lineage_keys(const slp_shard *s); /* NULL: not known */
int slp_lineage_knows_parents(const slp_shard *s);          /* 1: it has parents, and all of them are known */
/* Returns 1 if the service no longer keeps s, and not all of its children are known. */
int slp_lineage_is_open_end(const slp_shard *s);
int slp_lineage_parents_read(const slp_shard *s);  /* 1: no known parent is left to be read first */
int slp_lineage_parent_barred(const slp_shard *s); /* 1: a parent is barred or stopped */
void slp_lineage_start(slp_shard *s);              /* s is read from now on */
void slp_lineage_drop(slp_shard *s);               /* frees s: it is finished, or stopped and detached */
void slp_lineage_free_map(slp_map *shards);        /* every reader must be stopped, every queue orphaned */
/* For a shard that began at LATEST and brought no record yet: returns a time from which reading again misses
 * no record of its children. */
int64_t slp_lineage_anchor(const slp_shard *s);

/* Turns the rows of the newest listing into shards. Corrects the parents of shards that were not begun,
 * because a page may have named others. Returns SLP_ENOMEM if some shards could not be added. */
int slp_lineage_take_listing(slp_consumer *c);
/* Does the same for the rows of a listing that came so far. Corrects nothing, and no shard counts as
 * missing. */
void slp_lineage_take_part(slp_consumer *c);
void slp_lineage_note_listing(slp_consumer *c); /* with leases: adds no shard */
/* To be called once for each listing. Returns 1 if the newest listings lack s. */
int slp_lineage_is_missed(slp_shard *s);

#endif
