/* migrate_place.h - reads FROM and TO of --migrate, as they stand on the command line. */
#ifndef SLP_CLI_MIGRATE_PLACE_H
#define SLP_CLI_MIGRATE_PLACE_H

#include "base/base.h"

typedef struct slp_migrate_place {        /* SCHEMA[+]:APP[@STORE], or token:FILE */
  char schema[40], app[256], store[1024]; /* store: "" is the default */
  uint8_t several;                        /* 1: a + follows the schema's name: rows name their stream */
  /* The token's file; "-": standard input or output; NULL: the place is a lease table. Points into the text
   * that was read. */
  const char *file;
} slp_migrate_place;

/* Returns 0, or SLP_EINVAL and what is wrong in `why`. It checks the form only: the library knows which
 * schemas and stores there are. */
int slp_migrate_place_read(const char *text, slp_migrate_place *ret, char why[200]);

#endif
