/* layouts.h - the registry of lease-table layouts, with one row for each. It is the only place that names
 * them: options, rights and messages ask the registry, and no other file compares names of layouts.
 *
 * A new layout is one file that makes its slp_schema, and one row in layouts.c. */
#ifndef SLP_GUEST_LAYOUTS_H
#define SLP_GUEST_LAYOUTS_H

#include "base/mem.h"

/* Only declared, so that the command can ask for names and sees nothing else. */
struct slp_position;
struct slp_schema;
struct slp_src_describe;

/* The arguments of slp_layout.open. Texts are borrowed for the call. */
typedef struct slp_layout_at {
  slp_mem *mem;
  const char *app, *table;
  const struct slp_src_describe *stream;
  int several;                       /* the application reads several streams */
  int in_dynamodb;                   /* the table is in DynamoDB, and not in a file or in memory */
  const struct slp_position *start;  /* where a new application begins */
  uint32_t lease_ms;                 /* never 0 */
  int one_key;                       /* all leases lie under one partition key */
  uint32_t leases_a_key;             /* if not one_key: how many neighbouring shards share a partition key;
                                        0: the layout's default */
  const char *coordinator, *metrics; /* kcl: the tables beside the leases; NULL: by the application's name */
} slp_layout_at;

typedef struct slp_layout {
  const char *name;
  uint8_t own_table;        /* rows do not name their application, so each application has its own table */
  uint8_t one_stream;       /* rows do not name their stream, so an application reads one */
  uint32_t lease_ms;        /* how long a lease lasts by default */
  uint8_t untimed_start;    /* a new application begins at the oldest or the latest record, never at a time */
  uint8_t asked;            /* works with checkpoints that are only made when the user asks for them */
  uint8_t beside;           /* may have tables beside the table of leases, with names of their own */
  uint8_t common_name;      /* all fleets of one process are one worker to the others: common_name.h */
  const char *hash, *range; /* the keys of its table; range "": it has no range key */
  const char *ends[4]; /* suffixes: its tables are named TABLE + suffix; NULL after the last. None: TABLE */
  struct slp_schema *(*open)(const slp_layout_at *at); /* NULL: no memory */
} slp_layout;

/* Returns the layout of that name, or NULL if there is none. name NULL: the native layout. */
const slp_layout *slp_layout_of(const char *name);
/* Returns how long a lease lasts by default in the layout of that name; if there is none, in the native
 * layout. */
uint32_t slp_layout_lease_ms(const char *name);
/* Returns the n-th layout, from 0; the native one is the first. NULL: n is behind the last. */
const slp_layout *slp_layout_at_place(size_t n);
/* Writes which layouts have tables with these keys, joined with "or"; "" if none has. range NULL or "": the
 * table has one key. For slp_table_spec.whose. */
void slp_layouts_of_keys(const char *hash, const char *range, char *to, size_t size);

#endif
