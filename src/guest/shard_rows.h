/* shard_rows.h - for layouts that have one row for each shard, with the shard's id as the only key. In some
 * of these layouts, a row without a saved position does not contain where reading begins; each worker takes
 * that from its own options. */
#ifndef SLP_GUEST_SHARD_ROWS_H
#define SLP_GUEST_SHARD_ROWS_H

#include "core/position.h"
#include "lease/schema.h"
#include "lease/store.h"

/* Begins to build the update of the row that operation i is about. *ret is the row's key: the shard, or empty
 * if i is not about a shard. text_bytes and lists: see slp_row_request_begin. Returns 0 or SLP_ENOMEM. */
static inline int slp_shard_row_begin(slp_row_request *d, const slp_operation *i, size_t text_bytes,
                                      size_t lists, slp_row_key *ret) {
  slp_str shard = i->kind >= SLP_OPERATION_CREATE ? i->shard : (slp_str){NULL, 0};
  if (slp_row_request_begin(d, SLP_WRITE_UPDATE, text_bytes, lists)) return SLP_ENOMEM;
  *ret = (slp_row_key){slp_row_request_copy(d, shard), {NULL, 0}};
  return 0;
}

/* the member `scope` of slp_schema, for layouts where all rows of the table belong to one application */
static inline void slp_scope_whole_table(slp_schema *base, slp_str *ret_hash, slp_str *ret_prefix) {
  (void)base;
  *ret_hash = *ret_prefix = (slp_str){"", 0};
}

/* Returns where reading begins if a row has no saved position: LATEST, a time, or OLDEST. asked: the start
 * position that the user's options name. */
static inline slp_position slp_start_of_rows(const slp_position *asked) {
  slp_position start = *asked;
  if (start.kind != SLP_POSITION_LATEST && start.kind != SLP_POSITION_TIME) start.kind = SLP_POSITION_OLDEST;
  return start;
}

/* Returns where reading begins for one row without a saved position. If the fleet began at LATEST, a child
 * whose parent is known is read from its first record, because its parent was read before. */
static inline slp_position slp_begin_of_row(const slp_position *start, int has_parent) {
  if (start->kind != SLP_POSITION_LATEST || !has_parent) return *start;
  return (slp_position){.kind = SLP_POSITION_OLDEST};
}

#endif
