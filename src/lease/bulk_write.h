/* bulk_write.h - many writes of one worker. Some are under way at a time; the caller hears when all are
 * answered. */
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

typedef struct slp_bulk_watch { /* what the caller may see of each write */
  /* called before a write is sent; 0: it is no longer needed */
  int (*before)(slp_fleet *f, slp_operation *i);
  void (*after)(slp_fleet *f, const slp_write *op); /* called when it is answered or given up */
} slp_bulk_watch;

typedef struct slp_bulk_write {
  slp_bulk_item *all; /* owned */
  size_t n, cap, sent, done;
  uint32_t refused; /* bits of slp_operation_kind that were refused */
  uint8_t busy, given_up;
  slp_event ev;
  const slp_bulk_watch *watch;
  void (*on_done)(slp_fleet *f, uint32_t refused, int given_up);
} slp_bulk_write;

/* Adds an operation for the caller to fill in, with room for its texts and for its list of shards. NULL: no
 * memory. */
slp_operation *slp_bulk_write_add(slp_fleet *f, slp_operation_kind kind, size_t text_bytes, size_t items);
/* Adds the CREATE of a listed shard; the caller sets the position. `anew`: the shard had a row, which is
 * gone; the user is told. NULL: no memory. */
slp_operation *slp_bulk_write_create(slp_fleet *f, const slp_shard_desc *d, int anew);
/* returns a copy of s that lives as long as the operation added last */
slp_str slp_bulk_write_text(slp_fleet *f, slp_str s);
slp_str *slp_bulk_write_list(slp_fleet *f);
size_t slp_bulk_write_n(const slp_fleet *f);
int slp_bulk_write_busy(const slp_fleet *f);
/* Sends all writes. `watch` may be NULL. on_done runs in a later turn, when all are answered or given up;
 * `refused` has the bits of the kinds that were refused. */
void slp_bulk_write_run(slp_fleet *f, const slp_bulk_watch *watch,
                        void (*on_done)(slp_fleet *f, uint32_t refused, int given_up));
void slp_bulk_write_stop(slp_fleet *f);

#endif
