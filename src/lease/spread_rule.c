/* spread_rule.c - under how many partition keys an application's leases lie, as its rows show it. */
#include "lease/schema.h"

static const slp_spread one = {.keys = 1};

/* Returns 1 if leases may be spread so, and in *spread how they are. The row of leadership says it, from the
 * moment it is made. Without that row one lease that lies under the first key and should not says no. */
static int may_be(slp_schema *schema, const slp_store_rows *rows, slp_spread *spread) {
  int fits = 1;
  schema->spread = *spread;
  for (size_t i = 0; i < rows->n; i++) {
    slp_parsed_row row;
    slp_schema_read_row(schema, &rows->rows[i], &row);
    if (row.kind == SLP_ROW_LEADERSHIP) {
      *spread = slp_is_spread(&row.u.leadership.spread) ? row.u.leadership.spread : one;
      return 1;
    }
    fits &= !row.astray;
  }
  return fits;
}

/* As a new application's leases are spread, or as those of an older one of format 2, or not at all. */
slp_spread slp_spread_of_rows(slp_schema *schema, const slp_store_rows *rows) {
  slp_spread was = schema->spread, found = schema->fresh;
  if (!may_be(schema, rows, &found)) {
    found = schema->fresh_before;
    if (!may_be(schema, rows, &found)) found = one;
  }
  schema->spread = was;
  return slp_is_spread(&found) ? found : one;
}
