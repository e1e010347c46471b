/* migrate_place.c - parses the words FROM and TO of --migrate. */
#include "cli/migrate_place.h"

#include "base/base.h"

#include <stdio.h>

static int refuse_place_text(char why[200], const char *text, const char *what) {
  snprintf(why, 200, "--migrate: \"%.60s\" %s", text, what);
  return SLP_EINVAL;
}

/* Copies n bytes to `to`, which has `room` bytes, and adds a NUL. Returns 0, or SLP_EINVAL if n is 0 or there
 * is not enough room. */
static int copy_place_part(const char *from, size_t n, char *to, size_t room) {
  if (!n || n >= room) return SLP_EINVAL;
  memcpy(to, from, n);
  to[n] = 0;
  return 0;
}

int slp_migrate_place_read(const char *text, slp_migrate_place *ret, char why[200]) {
  *ret = (slp_migrate_place){.file = NULL};
  const char *colon = strchr(text, ':');
  if (!colon || colon == text || !colon[1])
    return refuse_place_text(why, text, "is not a place; use SCHEMA:APP, SCHEMA:APP@STORE or token:FILE");
  size_t schema_n = (size_t)(colon - text);
  if (schema_n == 5 && memcmp(text, "token", 5) == 0) {
    ret->file = colon + 1;
    return 0;
  }
  ret->several = colon[-1] == '+';
  if (copy_place_part(text, schema_n - ret->several, ret->schema, sizeof ret->schema))
    return refuse_place_text(why, text, "names no schema");
  const char *app = colon + 1, *at = strchr(app, '@');
  if (copy_place_part(app, at ? (size_t)(at - app) : strlen(app), ret->app, sizeof ret->app))
    return refuse_place_text(why, text, "names no application, or one that is too long");
  if (at && copy_place_part(at + 1, strlen(at + 1), ret->store, sizeof ret->store))
    return refuse_place_text(why, text, "names no store after its @, or one that is too long");
  if (strcmp(ret->store, "memory") == 0)
    return refuse_place_text(why, text, "is in the memory of another process, which can't be read");
  return 0;
}
