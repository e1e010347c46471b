/* spread_rule.c - decides from the rows of an application over how many partition keys its leases are
 * spread. */
#include "lease/schema.h"
#include "lease/store.h"

static const slp_spread one = {.keys = 1};

/* Returns 1 if the rows allow that leases are spread like *spread. If the row of leadership is among the
 * rows, sets *spread to what it says, and returns 1. Otherwise *spread is wrong if it would put a lease that
 * is under the first key under another one. */
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

/* Tries three spreads, and returns the first one that fits the rows: the spread of a new application; the
 * spread of an older application of format 2; one key for all leases. */
slp_spread slp_spread_of_rows(slp_schema *schema, const slp_store_rows *rows) {
  slp_spread was = schema->spread, found = schema->fresh;
  if (!may_be(schema, rows, &found)) {
    found = schema->fresh_before;
    if (!may_be(schema, rows, &found)) found = one;
  }
  schema->spread = was;
  return slp_is_spread(&found) ? found : one;
}
