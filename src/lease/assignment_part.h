/* assignment_part.h - how a worker reads its assignment; assignment.c owns it. */
#ifndef SLP_LEASE_ASSIGNMENT_PART_H
#define SLP_LEASE_ASSIGNMENT_PART_H

#include "lease/read.h"

typedef struct slp_assignment {
  /* when slp_assignment_saw last took in a row; a read that was sent before may answer with an older row, so
   * it is repeated */
  uint64_t saw_us;
  slp_read read;
  uint8_t again; /* 1: the row must be read again, when the read under way is answered or at the next poll */
  uint8_t short_of; /* 1: there was no memory for some leases of the row, so the row must be read again */
} slp_assignment;

#endif
