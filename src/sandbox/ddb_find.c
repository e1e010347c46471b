/* ddb_find.c - finds tables by the names and ARNs of requests. */
#include "base/list.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"

#include <stdio.h>

slp_table *slp_table_find(slp_box *box, slp_str name) {
  SLP_LIST_EACH(&box->ddb->tables, it) {
    slp_table *t = SLP_OWNER(it, slp_table, link);
    if (slp_str_is(name, t->name)) return t;
  }
  return NULL;
}

/* Returns NAME of arn:aws:dynamodb:REGION:ACCOUNT:table/NAME. Any other text is returned as it is. */
slp_str slp_table_bare_name(slp_str name) {
  static const char mark[] = ":table/";
  size_t n = sizeof mark - 1;
  if (name.n < 4 || memcmp(name.p, "arn:", 4) != 0) return name;
  for (size_t i = 0; i + n < name.n; i++) {
    if (memcmp(name.p + i, mark, n) == 0) return (slp_str){name.p + i + n, name.n - i - n};
  }
  return name;
}

slp_table *slp_table_named(slp_box_call *c, slp_str name) {
  slp_table *t = slp_table_find(c->box, slp_table_bare_name(name));
  if (t && (t->status == SLP_BOX_ACTIVE || t->status == SLP_BOX_UPDATING)) return t;
  slp_box_fail(c, "ResourceNotFoundException", "Requested resource not found");
  return NULL;
}

slp_table *slp_table_of(slp_box_call *c) { return slp_table_named(c, slp_box_text(c, "TableName")); }

void slp_table_arn(slp_box_call *c, const slp_table *t, char out[400]) {
  snprintf(out, 400, "arn:aws:dynamodb:%.31s:" SLP_BOX_ACCOUNT ":table/%.255s", c->region, t->name);
}
