/* typed_inside.h - what the two ends of the typed seam agree on: how values are laid into a message. */
#ifndef SLP_TEST_SWARM_TYPED_INSIDE_H
#define SLP_TEST_SWARM_TYPED_INSIDE_H

#include "swarm/typed.h"

/* What the answer to a call for an event begins with. */
typedef enum { SLP_TYPED_NOT_YET, SLP_TYPED_IS_EVENT, SLP_TYPED_OVER, SLP_TYPED_BROKEN } slp_typed_event;

/* ---- writing: into the simulation's own memory, which never fails ------------------------------------- */
void slp_msg_rows(slp_buf *b, const slp_store_rows *rows);
void slp_msg_val(slp_buf *b, const slp_val *v);
/* ---- reading ------------------------------------------------------------------------------------------ */
/* Into rows' arena. SLP_ENOMEM. */
int slp_msg_take_val(slp_msg *m, slp_store_rows *arena, slp_val *ret);
int slp_msg_take_rows(slp_msg *m, slp_store_rows *rows);

/* ---- the ends ----------------------------------------------------------------------------------------- */
slp_ops *slp_typed_kinesis_new(slp_mem *mem, slp_host *h);
slp_ops *slp_typed_changes_new(slp_mem *mem, slp_host *h);
void slp_typed_kinesis_free(slp_ops *ops); /* of either */
/* What follows a page's cursor: into page, whose body holds the message. */
int slp_typed_take_page(slp_page *page, slp_msg *m);
int slp_typed_subscribe(slp_mem *mem, slp_host *h, slp_ops *ops, slp_op_subscribe *op);
void slp_typed_next_event(slp_ops *ops, slp_op_subscribe *op, slp_page *page);
void slp_typed_resume_events(slp_ops *ops, slp_op_subscribe *op);
void slp_typed_unsubscribe(slp_ops *ops, slp_op_subscribe *op);
int slp_typed_store_new(slp_mem *mem, slp_host *h, const slp_table_spec *table, slp_store **ret);
/* The error of an answer that is not the one asked for. 0: it is. */
slp_class slp_typed_failure(const slp_http *http, slp_fail *f);

#endif
