/* bulk_write.h - many writes of one worker, some at a time, answered together. */
#ifndef SLP_LEASE_BULK_WRITE_H
#define SLP_LEASE_BULK_WRITE_H

#include "lease/context.h"

typedef struct slp_bulk_item {
  slp_write op;
  slp_operation i;
  char *text; /* owned */
  size_t text_n, text_cap;
  slp_str *list; /* owned */
} slp_bulk_item;

typedef struct slp_bulk_watch {                     /* by whoever writes */
  int (*before)(slp_fleet *f, slp_operation *i);    /* the write is about to be sent; 0: it need not be */
  void (*after)(slp_fleet *f, const slp_write *op); /* it is answered or given up */
} slp_bulk_watch;

typedef struct slp_bulk_write {
  slp_bulk_item *all; /* owned */
  size_t n, cap, sent, done;
  uint32_t refused; /* bits of slp_operation_kind */
  uint8_t busy, given_up;
  slp_event ev;
  const slp_bulk_watch *watch;
  void (*on_done)(slp_fleet *f, uint32_t refused, int given_up);
} slp_bulk_write;

/* An operation to be filled in, with copies of its texts; shards is the list. NULL: no memory. */
slp_operation *slp_bulk_write_add(slp_fleet *f, slp_operation_kind kind, size_t text_bytes, size_t items);
/* CREATE of a listed shard, without its position. anew: its row was there and is not any more, which is told.
 * NULL: no memory. */
slp_operation *slp_bulk_write_create(slp_fleet *f, const slp_shard_desc *d, int anew);
slp_str slp_bulk_write_text(slp_fleet *f, slp_str s); /* a copy that lives with the operation added last */
slp_str *slp_bulk_write_list(slp_fleet *f);
size_t slp_bulk_write_n(const slp_fleet *f);
int slp_bulk_write_busy(const slp_fleet *f);
/* watch: NULL is fine. on_done on a later turn, when all are answered or given up; refused: bits of the kinds
 * that were. */
void slp_bulk_write_run(slp_fleet *f, const slp_bulk_watch *watch,
                        void (*on_done)(slp_fleet *f, uint32_t refused, int given_up));
void slp_bulk_write_stop(slp_fleet *f);

#endif
