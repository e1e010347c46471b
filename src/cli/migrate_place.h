/* migrate_place.h - the two sides of --migrate, as the command line has them. */
#ifndef SLP_CLI_MIGRATE_PLACE_H
#define SLP_CLI_MIGRATE_PLACE_H

#include "base/base.h"

typedef struct slp_migrate_place {        /* SCHEMA[+]:APP[@STORE], or token:FILE */
  char schema[40], app[256], store[1024]; /* store "": the default */
  uint8_t several;                        /* a + behind the schema: rows name their stream */
  const char *file; /* a token's, "-": standard input or output; NULL: rows. Points into the text */
} slp_migrate_place;

/* 0, or SLP_EINVAL and what is wrong. Which schemas and stores there are, the library knows. */
int slp_migrate_place_read(const char *text, slp_migrate_place *ret, char why[200]);

#endif
