/* lineage.h - which shards a consumer knows, which of them are parents and children of each other, and which
 * are read at all. */
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
  SLP_SELECT_WANTED, /* the shard is being read, was read, or will be read when its parents are */
  /* the start position or the shard filter leaves the shard out; its children treat it as read */
  SLP_SELECT_SKIPPED,
  SLP_SELECT_BARRED, /* an ancestor was given up before this shard was begun, so this shard is never read */
  /* The shard's reader was stopped, for one of three reasons: the shard was given up; an ancestor was given
   * up while this shard was being read; or the consumer no longer reads this shard (seek, lost lease,
   * stop). */
  SLP_SELECT_STOPPED
} slp_selection;

typedef struct slp_kin { /* links a child to one of its parents */
  slp_list link;         /* in slp_lineage.children of the parent; not linked if the parent is not known */
  slp_shard *child;
} slp_kin;

typedef struct slp_lineage { /* one per shard */
  slp_str parents[2];        /* ids of the parents, owned copies; {NULL,0}: no such parent */
  uint32_t children_n;       /* how many children of the shard are known */
  slp_list children;         /* slp_kin.link of each known child */
  slp_kin kin[2];            /* kin[i] links this shard to the parent with the id parents[i] */
  uint8_t merged;          /* 1: a known child has two parents (a merge), so this shard has no other child */
  uint8_t keys_known;      /* 1: `keys` is set */
  slp_hash_range keys;     /* the shard gets all records with hash keys in this range */
  slp_selection selection; /* only slp_lineage_set changes it */
  uint8_t listed;          /* 1: the newest listing has this shard, or no listing came since it was added */
  uint8_t listed_closed;   /* 1: the newest listing says that the shard is closed for writes */
  uint8_t ever_listed;     /* 1: at least one listing has had this shard */
  uint8_t missed_n;        /* listings in a row that lacked this shard */
  /* number of the last listing begun before the shard was added; only later listings can lack the shard */
  uint64_t added_serial;
  /* number of the listing that may show an unknown parent of this shard, which is not read before that
   * listing; 0: no parent is unknown */
  uint64_t known_serial;
  slp_shard *below, *next; /* scratch memory of slp_lineage_ordered and slp_lineage_may_have */
  /* scratch memory of slp_lineage_ordered and slp_lineage_may_have; in_list is 0 between two calls */
  uint8_t ordered, in_list;
} slp_lineage;

/* Adds a shard. It counts as listed until a listing lacks it. Returns NULL without memory. */
slp_shard *slp_lineage_add(slp_consumer *c, slp_str id, slp_str parent, slp_str adjacent);
slp_shard *slp_lineage_get(slp_consumer *c, slp_str id);
/* Returns parent i of s, with i 0 or 1. NULL: s has no such parent, or that parent is not known. */
slp_shard *slp_lineage_parent(const slp_shard *s, int i);
/* Returns the id of parent i of s, even if that parent is not known; {NULL,0}: s has no such parent. */
slp_str slp_lineage_parent_id(const slp_shard *s, int i);
/* Returns 1 if a parent of s is not known. Then s is not read before the next listing was taken in. */
int slp_lineage_lacks_parent(slp_shard *s);
/* Sorts all shards, either parents before their children or children before their parents. Returns the first
 * shard; slp_lineage_next returns the shard after s, or NULL. The sorting lets the caller apply a rule about
 * parents and children in one pass. */
typedef enum slp_kin_order { SLP_PARENTS_FIRST, SLP_CHILDREN_FIRST } slp_kin_order;
slp_shard *slp_lineage_ordered(slp_consumer *c, slp_kin_order how);
slp_shard *slp_lineage_next(const slp_shard *s);
/* Returns 1 if all of these rows can be children of s. Two conditions must hold: each row names s as a
 * parent, and no row is itself a parent of the rows, or an ancestor of such a parent. */
int slp_lineage_may_have(slp_shard *s, const slp_shard_desc *children, size_t n);
/* 1: the shard filter (sloop_opts_t.shards) does not exclude the shard */
int slp_lineage_wants(const slp_consumer *c, slp_str id);
/* Changes the selection of s, and updates the number of shards that wait to be read. */
void slp_lineage_set(slp_shard *s, slp_selection to);
int slp_lineage_wanted(const slp_shard *s);
int slp_lineage_skipped(const slp_shard *s);
int slp_lineage_is_barred(const slp_shard *s);
int slp_lineage_is_listed(const slp_shard *s);
int slp_lineage_is_closed(const slp_shard *s); /* 1: the newest listing says that s is closed for writes */
int slp_lineage_has_children(const slp_shard *s);
/* Returns 1 if all children of s are known: the one child of a merge, or both children of a split. For a
 * table's stream one child suffices: its shards have no hash keys, and mostly one child. */
int slp_lineage_has_all_children(const slp_shard *s);
/* As slp_lineage_has_all_children, but for the children that a page names. */
int slp_lineage_are_all_children(const slp_shard *s, const slp_shard_desc *children, size_t n);
/* Returns 1 if no listing has had s so far. */
int slp_lineage_is_new(const slp_shard *s);
/* Calls visit for each known child of s. A child whose both parents are s is visited twice. */
void slp_lineage_each_child(slp_shard *s, void (*visit)(slp_shard *child));
/* Writes the known children of s to rows, at most max of them, and returns how many. Their texts are
 * borrowed. With leases, shards are not linked to parents and children, so the children come from the newest
 * listing. */
size_t slp_lineage_children(const slp_shard *s, slp_shard_desc *rows, size_t max);
/* Remembers the range of hash keys in d, if s has none yet. */
void slp_lineage_learn_keys(slp_shard *s, const slp_shard_desc *d);
const slp_hash_range *slp_lineage_keys(const slp_shard *s); /* NULL: not known */
int slp_lineage_knows_parents(const slp_shard *s);          /* 1: s has parents, and all of them are known */
/* Returns 1 if the newest listing lacks s, and not all children of s are known; see open_ends.h. */
int slp_lineage_is_open_end(const slp_shard *s);
/* 1: every known parent of s was read to its end or is skipped, and no unknown one is waited for */
int slp_lineage_parents_read(const slp_shard *s);
int slp_lineage_parent_barred(const slp_shard *s); /* 1: a parent of s is BARRED or STOPPED */
void slp_lineage_start(slp_shard *s);              /* starts reading s, which must be WANTED and IDLE */
void slp_lineage_drop(slp_shard *s); /* frees s, which must be finished, or stopped with its queue detached */
/* frees all shards; their readers must be stopped, and their queues orphaned or detached */
void slp_lineage_free_map(slp_map *shards);
/* For a shard that began at LATEST and has brought no record yet: returns a time. Reading that starts
 * again at that time misses no record of the shard since it began, and no record of its children. */
int64_t slp_lineage_anchor(const slp_shard *s);

/* Turns the rows of the newest listing into shards, and corrects the parents of shards that are not being
 * read yet, because a page of records may have named other parents. Returns 0, or SLP_ENOMEM if not all
 * shards could be added. */
int slp_lineage_take_listing(slp_consumer *c);
/* Turns the rows of the first listing that came so far into shards. Unlike slp_lineage_take_listing, corrects
 * no parents, and never counts a shard as unlisted. */
void slp_lineage_take_part(slp_consumer *c);
/* with leases: updates known shards from the newest listing, and adds none */
void slp_lineage_note_listing(slp_consumer *c);
/* Returns 1 if the last MISSED_MIN listings all lacked s. To be called exactly once after each listing,
 * because the function counts its calls. */
int slp_lineage_is_missed(slp_shard *s);

#endif
