/* spread_rule.c - under how many partition keys an application's leases lie, as its rows show it. */
#include "lease/schema.h"

/* The row of leadership says it, from the moment it is made. Where there is none, rows that are under the
 * first key and would not be if they were spread as a new application's are say that they are not spread. */
slp_spread slp_spread_of_rows(slp_schema *schema, const slp_store_rows *rows) {
  static const slp_spread one = {.keys = 1};
  slp_spread was = schema->spread, found = schema->fresh;
  schema->spread = schema->fresh;
  for (size_t i = 0; i < rows->n; i++) {
    slp_parsed_row row;
    slp_schema_read_row(schema, &rows->rows[i], &row);
    if (row.kind == SLP_ROW_LEADERSHIP) {
      found = row.u.leadership.spread;
      break;
    }
    if (row.astray) found = one;
  }
  schema->spread = was;
  return slp_is_spread(&found) ? found : one;
}
