/* shard_rows.h - for layouts with one row for each shard, whose only key is the shard's id. In some of them a
 * row without a saved position begins where the options of its reader say. */
#ifndef SLP_GUEST_SHARD_ROWS_H
#define SLP_GUEST_SHARD_ROWS_H

#include "lease/schema.h"

/* Begins the update of the operation's row and returns the row's key: the shard, or empty if the operation is
 * not about a shard. text_bytes and lists are those of slp_row_request_begin. Returns 0 or SLP_ENOMEM. */
static inline int slp_shard_row_begin(slp_row_request *d, const slp_operation *i, size_t text_bytes,
                                      size_t lists, slp_row_key *ret) {
  slp_str shard = i->kind >= SLP_OPERATION_CREATE ? i->shard : (slp_str){NULL, 0};
  if (slp_row_request_begin(d, SLP_WRITE_UPDATE, text_bytes, lists)) return SLP_ENOMEM;
  *ret = (slp_row_key){slp_row_request_copy(d, shard), {NULL, 0}};
  return 0;
}

/* This is slp_schema.scope where all rows of the table belong to the application. */
static inline void slp_scope_whole_table(slp_schema *base, slp_str *ret_hash, slp_str *ret_prefix) {
  (void)base;
  *ret_hash = *ret_prefix = (slp_str){"", 0};
}

/* Returns where rows without a saved position begin: LATEST, a time, or OLDEST. */
static inline slp_position slp_start_of_rows(const slp_position *asked) {
  slp_position start = *asked;
  if (start.kind != SLP_POSITION_LATEST && start.kind != SLP_POSITION_TIME) start.kind = SLP_POSITION_OLDEST;
  return start;
}

/* Returns where one such row begins. If the fleet began at LATEST, a child whose parent is known begins with
 * its first record, because its parent was read before. */
static inline slp_position slp_begin_of_row(const slp_position *start, int has_parent) {
  if (start->kind != SLP_POSITION_LATEST || !has_parent) return *start;
  return (slp_position){.kind = SLP_POSITION_OLDEST};
}

#endif
