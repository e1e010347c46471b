/* lineage_part.h - what a shard knows of its parents and children; lineage.c owns it. */
#ifndef SLP_CORE_LINEAGE_PART_H
#define SLP_CORE_LINEAGE_PART_H

#include "base/list.h"
#include "codec/kpl.h"
#include "core/core.h"

/* Whether a shard is read, is left out, or may not be read any more. */
typedef enum slp_selection {
  SLP_SELECT_WANTED, /* the shard is being read, was read, or will be read as soon as its parents are read */
  /* the start position or the shard filter leaves the shard out; for its children it counts as read */
  SLP_SELECT_SKIPPED,
  SLP_SELECT_BARRED, /* an ancestor was given up before this shard was started, so this shard is never read */
  /* Reading of the shard was stopped, for one of three reasons: the shard was given up; an ancestor was given
   * up while this shard was being read; or the consumer no longer reads this shard (seek, lost lease,
   * stop). */
  SLP_SELECT_STOPPED
} slp_selection;

typedef struct slp_kin { /* links a child to one of its parents */
  slp_list link;         /* in slp_lineage.children of the parent; not in a list if the parent is not known */
  slp_shard *child;
} slp_kin;

typedef struct slp_lineage { /* one per shard */
  slp_str parents[2];        /* ids of the parents, owned copies; {NULL,0}: no such parent */
  uint32_t children_n;       /* how many children of the shard are known */
  slp_list children;         /* known children of the shard, linked by slp_kin.link */
  slp_kin kin[2];            /* kin[i] links this shard to the parent with the id parents[i] */
  /* 1: a known child has two parents (the child of a merge), so this shard has no other child */
  uint8_t merged;
  uint8_t keys_known;      /* 1: `keys` is set */
  slp_hash_range keys;     /* the shard gets all records with hash keys in this range */
  slp_selection selection; /* only slp_lineage_set changes it */
  /* 1: the newest listing contains this shard, or no listing has come since the shard was added */
  uint8_t listed;
  uint8_t listed_closed; /* 1: the newest listing says that the shard is closed for writes */
  uint8_t ever_listed;   /* 1: at least one listing has contained this shard */
  uint8_t missed_n;      /* listings in a row that lacked this shard */
  /* number of the last listing that was begun before the shard was added; only later listings can lack it */
  uint64_t added_serial;
  /* Number of the listing that may show a parent which is not known yet; this shard is not started before
   * that listing came. 0: no parent is missing. */
  uint64_t known_serial;
  slp_shard *below, *next; /* scratch memory of slp_lineage_ordered and slp_lineage_may_have */
  /* Scratch memory of slp_lineage_ordered (ordered) and slp_lineage_may_have (in_list, 0 between two
   * calls). */
  uint8_t ordered, in_list;
} slp_lineage;

#endif
