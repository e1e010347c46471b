/* layouts.h - the registry of lease-table layouts, with one entry for each layout. Only the registry knows
 * the layouts' names. The code for options, rights and messages asks the registry, and no other file
 * compares names of layouts. For a new layout, GUESTS.md lists what is needed under "A new layout": mainly
 * a file that creates its slp_schema, and an entry in layouts.c. */
#ifndef SLP_GUEST_LAYOUTS_H
#define SLP_GUEST_LAYOUTS_H

#include "base/mem.h"

/* Only declared here, so that the command can include this file and ask for names without seeing more of the
 * library. */
struct slp_position;
struct slp_schema;
struct slp_src_describe;

/* The arguments of slp_layout.open. All texts belong to the caller, and must stay valid until `open`
 * returns. */
typedef struct slp_layout_at {
  slp_mem *mem;
  const char *app, *table;
  const struct slp_src_describe *stream;
  int several;                      /* 1: the application reads several streams */
  int in_dynamodb;                  /* 1: the table is in DynamoDB; 0: it is in a file or in memory */
  const struct slp_position *start; /* where a new application begins to read */
  uint32_t lease_ms;                /* never 0 */
  int one_key;                      /* 1: all leases are under one partition key */
  /* with one_key 0: how many neighbouring shards share a partition key; 0: as the layout has it by default */
  uint32_t leases_a_key;
  /* for the layout kcl: the names of the further tables of KCL 3; NULL: made from the application's name */
  const char *coordinator, *metrics;
} slp_layout_at;

typedef struct slp_layout {
  const char *name;
  uint8_t own_table;  /* 1: rows do not name their application, so each application has a table of its own */
  uint8_t one_stream; /* 1: rows do not name their stream, so an application reads one stream */
  uint32_t lease_ms;  /* the default of the option lease_ms with this layout */
  /* 1: a new application can begin at the oldest or the latest record, but not at a given time */
  uint8_t untimed_start;
  /* 1: the layout works if checkpoints are written only when the user asks for them
   * (SLOOP_CHECKPOINTS_ASKED) */
  uint8_t asked;
  /* 1: besides the table of leases there may be further tables, with names of their own */
  uint8_t beside;
  /* 1: all fleets of one process look like one worker to other workers (common_name.h) */
  uint8_t common_name;
  const char *hash, *range; /* the names of the table's keys; range "": the table has no range key */
  /* The layout has several tables, each named TABLE + a suffix; after the last suffix comes NULL. If there is
   * no suffix: one table, named TABLE. */
  const char *ends[4];
  /* By the next members an application is found in the rows of its leases, without a schema
   * (api/app_rows.h). mark: an attribute that each lease has, and no row of another layout; NULL: there is
   * none. owner: the attribute that names the owner. nobody: the value of that attribute if there is no
   * owner; it may also be absent. position: the attribute with the value `ended` if the shard was read to
   * its end; NULL: rows show that in another way. */
  const char *mark, *owner, *nobody, *position, *ended;
  /* creates the schema of this layout; NULL: no memory */
  struct slp_schema *(*open)(const slp_layout_at *at);
} slp_layout;

/* Returns the layout with this name; NULL: there is none. name NULL: the native layout. */
const slp_layout *slp_layout_of(const char *name);
/* Returns the default lease time of the layout with this name, in ms; if there is no such layout, that of the
 * native layout. */
uint32_t slp_layout_lease_ms(const char *name);
/* Returns layout number n, from 0; layout 0 is the native one. NULL: there are fewer layouts. */
const slp_layout *slp_layout_at_place(size_t n);
/* Writes the names of the layouts whose tables have these keys, joined with "or"; "": there are none. range
 * NULL or "": the table has only a hash key. For slp_table_spec.whose. */
void slp_layouts_of_keys(const char *hash, const char *range, char *to, size_t size);

#endif
