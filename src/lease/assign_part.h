/* assign_part.h - the versions of a leader's assignments; assign.c owns them. */
#ifndef SLP_LEASE_ASSIGN_PART_H
#define SLP_LEASE_ASSIGN_PART_H

#include <stdint.h>

/* The version of an assignment row that this leader writes is base + serial. */
typedef struct slp_assign_versions {
  /* all versions of this leader are greater than this number; 0: it is not chosen yet */
  uint64_t base;
  uint64_t serial;
} slp_assign_versions;

#endif
