/* layouts.h - the registry of lease-table layouts, with one entry for each layout. Only the registry knows
 * the layouts' names. Options, rights and messages ask the registry, and no other file compares names of
 * layouts.
 *
 * A new layout is one file that creates its slp_schema, one entry in layouts.c, and what GUESTS.md lists
 * under "A new layout". */
#ifndef SLP_GUEST_LAYOUTS_H
#define SLP_GUEST_LAYOUTS_H

#include "base/mem.h"

/* These types are only declared here. So the command can include this file and ask for names, without
 * seeing more of the library. */
struct slp_position;
struct slp_schema;
struct slp_src_describe;

/* The arguments of slp_layout.open. All texts belong to the caller, and must live until `open` returns. */
typedef struct slp_layout_at {
  slp_mem *mem;
  const char *app, *table;
  const struct slp_src_describe *stream;
  int several;                      /* 1: the application reads several streams */
  int in_dynamodb;                  /* 1: the table is in DynamoDB; 0: it is in a file or in memory */
  const struct slp_position *start; /* where a new application begins to read */
  uint32_t lease_ms;                /* never 0 */
  int one_key;                      /* 1: all leases are stored under one partition key */
  uint32_t leases_a_key;            /* if not one_key: how many neighbouring shards share a partition key;
                                        0: the layout's default */
  /* for schema kcl: the names of the further tables of KCL 3; NULL: made from the application's name */
  const char *coordinator, *metrics;
} slp_layout_at;

typedef struct slp_layout {
  const char *name;
  uint8_t own_table;  /* 1: rows do not tell their application, so each application has a table of its own */
  uint8_t one_stream; /* 1: rows do not tell their stream, so an application reads one stream */
  uint32_t lease_ms;  /* how long a lease lasts, by default */
  /* 1: a new application can begin at the oldest or the latest record, but not at a time */
  uint8_t untimed_start;
  uint8_t asked; /* 1: the layout works with checkpoints that are made only when the user asks for one */
  /* 1: there may be further tables in addition to the table of leases, with names of their own */
  uint8_t beside;
  /* 1: to other workers, all fleets of one process look like one worker: common_name.h */
  uint8_t common_name;
  const char *hash, *range; /* the names of the table's keys; range "": the table has no range key */
  /* the table is several tables, each named TABLE + suffix; NULL after the last suffix. No suffixes: one
   * table, named TABLE */
  const char *ends[4];
  struct slp_schema *(*open)(const slp_layout_at *at); /* returns the new schema; NULL: no memory */
} slp_layout;

/* Returns the layout with this name; NULL: there is none. If `name` is NULL, returns the native layout. */
const slp_layout *slp_layout_of(const char *name);
/* Returns how long a lease lasts by default in the layout with this name. If there is no such layout,
 * returns the default of the native layout. */
uint32_t slp_layout_lease_ms(const char *name);
/* Returns the n-th layout, from 0. Layout 0 is the native one. Returns NULL if n is after the last layout. */
const slp_layout *slp_layout_at_place(size_t n);
/* Writes the names of the layouts whose tables have these keys, joined with "or"; "" if there are none. If
 * range is NULL or "", the table has one key. The text is for slp_table_spec.whose. */
void slp_layouts_of_keys(const char *hash, const char *range, char *to, size_t size);

#endif
