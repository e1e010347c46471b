/* migrate_place.h - parses the words FROM and TO of --migrate. */
#ifndef SLP_CLI_MIGRATE_PLACE_H
#define SLP_CLI_MIGRATE_PLACE_H

#include <stdint.h>

typedef struct slp_migrate_place {        /* a place: SCHEMA[+]:APP[@STORE] or token:FILE */
  char schema[40], app[256], store[1024]; /* if `store` is "", the default store is meant */
  /* 1: a '+' follows the schema's name, which means that each row says which stream it belongs to */
  uint8_t several;
  /* The token's file; "-": standard input or output; NULL: the place is a lease table. Points into the text
   * that was parsed. */
  const char *file;
} slp_migrate_place;

/* Parses `text`. Returns 0, or SLP_EINVAL and what is wrong in `why`. Checks only the form, because the
 * library knows which schemas and stores exist. */
int slp_migrate_place_read(const char *text, slp_migrate_place *ret, char why[200]);

#endif
