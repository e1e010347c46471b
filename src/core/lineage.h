/* lineage.h - which shards a consumer knows, which of them are parents and children of each other, and which
 * are read at all. */
#ifndef SLP_CORE_LINEAGE_H
#define SLP_CORE_LINEAGE_H

#include "base/map.h"
#include "codec/kpl.h"
#include "codec/page.h"
#include "core/core.h"
#include "core/lineage_part.h"

/* Adds a shard. The shard counts as listed until a listing lacks it. Returns NULL without memory. */
slp_shard *slp_lineage_add(slp_consumer *c, slp_str id, slp_str parent, slp_str adjacent);
slp_shard *slp_lineage_get(slp_consumer *c, slp_str id);
/* Returns parent number i of s, 0 or 1. NULL: s has no such parent, or the parent is not known. */
slp_shard *slp_lineage_parent(const slp_shard *s, int i);
/* Returns the id of parent number i of s, 0 or 1, even if that parent is not known; {NULL,0}: s has no such
 * parent. */
slp_str slp_lineage_parent_id(const slp_shard *s, int i);
/* Returns 1 if a parent of s is not known. Then s is not started until the next listing was taken in. */
int slp_lineage_lacks_parent(slp_shard *s);
/* Sorts all shards, either parents before their children or children before their parents, so that a rule
 * about parents and children can be applied in one pass. Returns the first shard; slp_lineage_next(s) returns
 * the shard after s, or NULL. */
typedef enum slp_kin_order { SLP_PARENTS_FIRST, SLP_CHILDREN_FIRST } slp_kin_order;
slp_shard *slp_lineage_ordered(slp_consumer *c, slp_kin_order how);
slp_shard *slp_lineage_next(const slp_shard *s);
/* Returns 1 if all of these shards can be children of s. Two conditions must hold: each of them names s as a
 * parent; and none of them is an ancestor of s, or of another parent that one of them names. */
int slp_lineage_may_have(slp_shard *s, const slp_shard_desc *children, size_t n);
/* Returns 1 if the shard filter (sloop_opts_t.shards) does not exclude the shard. */
int slp_lineage_wants(const slp_consumer *c, slp_str id);
/* Changes the selection of s, and corrects the number of shards that wait to be read. */
void slp_lineage_set(slp_shard *s, slp_selection to);
int slp_lineage_wanted(const slp_shard *s);
int slp_lineage_skipped(const slp_shard *s);
int slp_lineage_is_barred(const slp_shard *s);
int slp_lineage_is_listed(const slp_shard *s);
/* returns 1 if the newest listing says that s is closed for writes */
int slp_lineage_is_closed(const slp_shard *s);
int slp_lineage_has_children(const slp_shard *s);
/* Returns 1 if all children of s are known: the one child of a merge, or both children of a split. For a
 * DynamoDB stream one child suffices: its shards have no hash keys, and mostly one child. */
int slp_lineage_has_all_children(const slp_shard *s);
/* Returns 1 if `children`, which a page names, are all children of s; the rule is that of
 * slp_lineage_has_all_children. */
int slp_lineage_are_all_children(const slp_shard *s, const slp_shard_desc *children, size_t n);
/* Returns 1 if no listing has contained s so far. */
int slp_lineage_is_new(const slp_shard *s);
/* Calls visit for each known child of s. A child whose both parents are s is visited twice. */
void slp_lineage_each_child(slp_shard *s, void (*visit)(slp_shard *child));
/* Writes the known children of s to rows, at most max of them, and returns how many. The texts in rows are
 * borrowed. With leases the children come from the newest listing, because shards are then not linked to
 * parents and children. */
size_t slp_lineage_children(const slp_shard *s, slp_shard_desc *rows, size_t max);
/* Copies the range of hash keys from d to s, if the range of s was not known yet. */
void slp_lineage_learn_keys(slp_shard *s, const slp_shard_desc *d);
const slp_hash_range *slp_lineage_keys(const slp_shard *s); /* NULL: not known */
/* returns 1 if s has parents and all of them are known */
int slp_lineage_knows_parents(const slp_shard *s);
/* Returns 1 if the newest listing lacks s, and not all children of s are known; see open_ends.h. */
int slp_lineage_is_open_end(const slp_shard *s);
/* Returns 1 if s may be started: every known parent was read to its end or is skipped, and s does not wait
 * for a listing that may show another parent. */
int slp_lineage_parents_read(const slp_shard *s);
int slp_lineage_parent_barred(const slp_shard *s); /* returns 1 if a parent of s is BARRED or STOPPED */
void slp_lineage_drop(slp_shard *s); /* frees s, which must be finished, or stopped with its queue detached */
/* frees all shards; their readers must be stopped, and their queues orphaned or detached */
void slp_lineage_free_map(slp_map *shards);
/* Returns a time for a shard that started at the latest record and has brought no record yet. Reading that
 * starts again at this time misses no record that came to the shard since its first start, and no record of
 * its children. */
int64_t slp_lineage_anchor(const slp_shard *s);

/* Turns the rows of the newest listing into shards. Corrects the parents of shards that are not started,
 * because a page of records may have named other parents. Returns 0, or SLP_ENOMEM if not all shards could be
 * added. */
int slp_lineage_take_listing(slp_consumer *c);
/* Turns the rows of the first listing that came since the last call of this function into shards. Unlike
 * slp_lineage_take_listing, corrects no parents, and never counts a shard as missing from the listing. */
void slp_lineage_take_part(slp_consumer *c);
/* With leases: updates the known shards from the newest listing, and adds no shard. */
void slp_lineage_note_listing(slp_consumer *c);
/* Returns 1 if the last MISSED_MIN listings all lacked s. Must be called exactly once after each listing,
 * because it counts its calls. */
int slp_lineage_is_missed(slp_shard *s);

#endif
