/* mode.h - by which rules the workers of an application go, where other systems' rows say so: whether each
 * takes for itself, or a leader of theirs assigns. It is read from rows before anything is written.
 *
 *   UNKNOWN -> TAKE, LED */
#ifndef SLP_LEASE_MODE_H
#define SLP_LEASE_MODE_H

#include "lease/read.h"

typedef enum slp_mode_kind {
  SLP_MODE_UNKNOWN, /* the rows have not been read yet */
  SLP_MODE_TAKE,    /* every worker takes for itself */
  SLP_MODE_LED      /* a leader assigns */
} slp_mode_kind;

typedef struct slp_mode_seen { /* in one pass over all rows */
  slp_version version[2];      /* as the table of leases has it, as one beside it has it */
  uint8_t there[2];            /* it has that row */
  char word[2][48];
  slp_places places;
  uint8_t places_there;
} slp_mode_seen;

typedef struct slp_mode {
  slp_mode_kind kind;
  uint8_t table; /* is being read */
  slp_mode_seen seen;
  slp_read read;
  slp_timer timer;
} slp_mode;

void slp_mode_init(slp_fleet *f);
void slp_mode_stop(slp_fleet *f);
void slp_mode_free(slp_fleet *f);

/* Reads, and then the worker begins; or it fails, and nothing was written. */
void slp_mode_begin(slp_fleet *f);
int slp_mode_is(const slp_fleet *f, slp_mode_kind kind);

#endif
