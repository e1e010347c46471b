/* attrs.h - reads, writes and tests attributes of a row by their names. For the files that read and write
 * the layouts of this room. */
#ifndef SLP_GUEST_ATTRS_H
#define SLP_GUEST_ATTRS_H

#include "lease/schema.h"
#include "lease/store.h"

static const slp_val slp_no_val = {SLP_VAL_NONE, {NULL, 0}, NULL, 0};

static inline const slp_val *slp_attr_of(const slp_row *row, const char *name) {
  return slp_row_get(row, slp_str_of(name));
}

static inline int slp_attr_is_absent(const slp_row *row, const char *name) {
  return slp_attr_of(row, name)->kind == SLP_VAL_NONE;
}

/* Returns 1 if the row belongs to another system: the row has attributes besides its key, but none of the
 * attributes in `known`. */
static inline int slp_attrs_are_foreign(const slp_row *row, const char *const *known, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!slp_attr_is_absent(row, known[i])) return 0;
  return row->n > 1;
}

/* Returns 1 if the attribute is a text or absent. */
static inline int slp_attr_may_be_text(const slp_row *row, const char *name) {
  slp_val_kind kind = slp_attr_of(row, name)->kind;
  return kind == SLP_VAL_S || kind == SLP_VAL_NONE;
}

/* Returns the attribute's text; an empty text if the attribute is absent or of another type. */
static inline slp_str slp_attr_text(const slp_row *row, const char *name) {
  const slp_val *v = slp_attr_of(row, name);
  return v->kind == SLP_VAL_S ? v->s : (slp_str){NULL, 0};
}

static inline void slp_set_text(slp_row_request *d, const char *name, slp_str s) {
  slp_row_request_change(d, name, SLP_SET, slp_row_request_s(d, s));
}
static inline void slp_set_number(slp_row_request *d, const char *name, uint64_t n) {
  slp_row_request_change(d, name, SLP_SET, slp_row_request_n(d, n));
}
/* Removes an attribute from the row in an update. If the whole row is replaced (SLP_WRITE_PUT), nothing need
 * be done, because the row then has only the attributes that are set. */
static inline void slp_drop(slp_row_request *d, const char *name) {
  if (d->write->kind == SLP_WRITE_UPDATE) slp_row_request_change(d, name, SLP_REMOVE, slp_no_val);
}

static inline void slp_when_text(slp_row_request *d, const char *name, slp_str s) {
  slp_row_request_when(d, name, SLP_TEST_EQ, slp_row_request_s(d, s), 0);
}
static inline void slp_when_number(slp_row_request *d, const char *name, uint64_t n) {
  slp_row_request_when(d, name, SLP_TEST_EQ, slp_row_request_n(d, n), 0);
}
static inline void slp_when_absent(slp_row_request *d, const char *name) {
  slp_row_request_when(d, name, SLP_TEST_ABSENT, slp_no_val, 0);
}

#endif
