/* layouts.h - the registry of lease-table layouts: one row a layout, and the one place that names them.
 * Options, rights and messages ask it; nobody else compares names of layouts.
 *
 * A new layout is one file that makes its slp_schema, and one row in layouts.c. */
#ifndef SLP_GUEST_LAYOUTS_H
#define SLP_GUEST_LAYOUTS_H

#include "base/mem.h"

/* Declared only, so that the command can ask for names and sees nothing else. */
struct slp_position;
struct slp_schema;
struct slp_src_describe;

/* What a layout is opened for. Texts are borrowed for the call. */
typedef struct slp_layout_at {
  slp_mem *mem;
  const char *app, *table;
  const struct slp_src_describe *stream;
  int several;                       /* the application reads several streams */
  int in_dynamodb;                   /* the table is there, and not in a file or in memory */
  const struct slp_position *start;  /* of the application, when it is new */
  uint32_t lease_ms;                 /* never 0 */
  int one_key;                       /* all leases lie under one partition key */
  uint32_t leases_a_key;             /* else so many neighbouring shards; 0: as the layout likes best */
  const char *coordinator, *metrics; /* kcl: the tables beside the leases; NULL: by the application's name */
} slp_layout_at;

typedef struct slp_layout {
  const char *name;
  uint8_t own_table;        /* its rows do not name their application: the table is the application's own */
  uint8_t one_stream;       /* its rows do not name their stream: an application reads one */
  uint32_t lease_ms;        /* how long a lease lasts unless the user says so */
  uint8_t untimed_start;    /* a new application begins at the oldest or the latest record, never at a time */
  uint8_t asked;            /* it works with checkpoints that are made when the user asks (checkpoints) */
  uint8_t beside;           /* there may be tables beside that of the leases, with names of their own */
  uint8_t common_name;      /* the fleets of one process are one worker to the others */
  const char *hash, *range; /* the keys of its table; range "": there is none */
  const char *ends[4]; /* of the names of its tables, behind the name of the table; NULL behind the last */
  struct slp_schema *(*open)(const slp_layout_at *at); /* NULL: no memory */
} slp_layout;

/* The layout of that name; NULL: there is none. name NULL: the native one. */
const slp_layout *slp_layout_of(const char *name);
/* How long a lease lasts in the layout of that name unless the user says so; without one of that name as in
 * the native one. */
uint32_t slp_layout_lease_ms(const char *name);
/* The n-th, from 0, the native one first; NULL behind the last. */
const slp_layout *slp_layout_at_place(size_t n);
/* Writes which layouts have tables with these keys, joined with "or"; "" where none has. range NULL or "":
 * the table has one key. For slp_table_spec.whose. */
void slp_layouts_of_keys(const char *hash, const char *range, char *to, size_t size);

#endif
