/* kcl3_rows.h - reads the rows of KCL 3 that are not leases. KCL 3.5 and later have them in the table
 * of leases, KCL 3.0 to 3.4 in two further tables. (kcl3_rows.c) */
#ifndef SLP_GUEST_KCL3_ROWS_H
#define SLP_GUEST_KCL3_ROWS_H

#include "lease/schema.h"
#include "lease/store.h"

typedef enum slp_kcl_row_kind {
  SLP_KCL_ROW_OTHER,   /* a row of no kind that is known here */
  SLP_KCL_ROW_BAD,     /* a damaged row of a known kind, or a row that has a lease's key and is no lease */
  SLP_KCL_ROW_VERSION, /* has the application's version, from which the workers' rules follow */
  SLP_KCL_ROW_PLACES,  /* names the place of the rows that are not leases (slp_kcl_places) */
  SLP_KCL_ROW_LOCK,    /* the leader's lock */
  SLP_KCL_ROW_LOAD     /* the load of a worker, written for the leader */
} slp_kcl_row_kind;

typedef enum slp_kcl_version {
  SLP_KCL_VERSION_UNKNOWN, /* a word that this program does not know, or no text */
  SLP_KCL_VERSION_TAKE,    /* every worker takes leases for itself */
  /* every worker takes leases for itself, and also writes its load; when all workers do so, a leader begins
   * to assign */
  SLP_KCL_VERSION_UPGRADE,
  SLP_KCL_VERSION_LED /* a leader assigns leases */
} slp_kcl_version;

typedef enum slp_kcl_places {
  SLP_KCL_PLACES_UNKNOWN,
  SLP_KCL_PLACES_APART,  /* each kind of row has a table of its own */
  SLP_KCL_PLACES_MOVING, /* rows are being moved into the table of leases */
  SLP_KCL_PLACES_ONE     /* all kinds of rows are in the table of leases */
} slp_kcl_places;

/* In the next structs strings point into the row from which they were read. */
typedef struct slp_kcl_version_row {
  slp_str word; /* the row's word for the version */
  slp_kcl_version is;
} slp_kcl_version_row;

typedef struct slp_kcl_places_row {
  slp_str word;
  slp_kcl_places is;
} slp_kcl_places_row;

typedef struct slp_kcl_lock_row {
  slp_str owner;
  slp_str version;   /* changed by the owner of the lock with each sign of life */
  uint64_t lease_ms; /* if `version` has not changed for this time, another worker may take the lock */
  uint8_t released;
} slp_kcl_lock_row;

typedef struct slp_kcl_load_row {
  slp_str worker;
  int64_t wall_s; /* when the worker wrote the row, in seconds since 1970 by its own clock */
  uint8_t cpu;    /* 1: the row says how busy the worker's processor is */
} slp_kcl_load_row;

typedef struct slp_kcl_row {
  slp_kcl_row_kind kind;
  slp_str name;    /* the row's key; empty: the row has no key that rows of KCL 3 have */
  const char *why; /* with SLP_KCL_ROW_BAD: why the row can't be used; static text */
  union {
    slp_kcl_version_row version;
    slp_kcl_places_row places;
    slp_kcl_lock_row lock;
    slp_kcl_load_row load;
  } u;
} slp_kcl_row;

/* A worker of the KCL writes its load each SLP_KCL_LOAD_EVERY_S. A worker that has not written its load for
 * SLP_KCL_LOAD_DEAD_S is dead. */
#define SLP_KCL_LOAD_EVERY_S 30
#define SLP_KCL_LOAD_DEAD_S (2 * SLP_KCL_LOAD_EVERY_S)

/* Parses a row that is no lease. */
void slp_kcl_row_read(const slp_row *row, slp_kcl_row *ret);
/* Sets *ret to what the row shows about the fleet's workers, for slp_schema.hint. */
void slp_kcl_row_hint(const slp_kcl_row *row, slp_row_hint *ret);

#endif
