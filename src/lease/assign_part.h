/* assign_part.h - the versions of a leader's assignments; assign.c owns them. */
#ifndef SLP_LEASE_ASSIGN_PART_H
#define SLP_LEASE_ASSIGN_PART_H

#include <stdint.h>

/* Each assignment row that this leader writes has a version: base + serial. A worker ignores a row whose
 * version is not greater than the last one it acted on. */
typedef struct slp_assign_versions {
  /* all versions that this leader writes are greater than base; 0: base is not chosen yet */
  uint64_t base;
  uint64_t serial; /* how many assignment rows this leader has written */
} slp_assign_versions;

#endif
