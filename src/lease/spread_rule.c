/* spread_rule.c - how many partition keys an application's leases are spread over, as its rows show. */
#include "lease/schema.h"

static const slp_spread one = {.keys = 1};

/* Returns 1 if leases may be spread like *spread, and sets *spread to what the rows say. The row of
 * leadership says it as soon as it exists. Without that row, a lease under the first key that belongs under
 * another one says no. */
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

/* Returns the spread of a new application, or that of an older one of format 2, or none, whichever fits the
 * rows. */
slp_spread slp_spread_of_rows(slp_schema *schema, const slp_store_rows *rows) {
  slp_spread was = schema->spread, found = schema->fresh;
  if (!may_be(schema, rows, &found)) {
    found = schema->fresh_before;
    if (!may_be(schema, rows, &found)) found = one;
  }
  schema->spread = was;
  return slp_is_spread(&found) ? found : one;
}
