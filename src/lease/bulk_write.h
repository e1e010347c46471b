/* bulk_write.h - many writes of one worker, sent a few at a time. A worker has one bulk write at a time: add
 * operations, then call slp_bulk_write_run. Its on_done is called once, when all writes are answered. */
#ifndef SLP_LEASE_BULK_WRITE_H
#define SLP_LEASE_BULK_WRITE_H

#include "codec/page.h"
#include "host/host.h"
#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/write.h"

/* one write of the bulk write */
typedef struct slp_bulk_item {
  slp_write op;
  slp_operation i;
  char *text; /* texts of the operation; owned */
  size_t text_n, text_cap;
  slp_str *list; /* list of shards of the operation; owned */
} slp_bulk_item;

typedef struct slp_bulk_watch { /* the caller's functions that are called before and after each write */
  /* Called before a write is sent. Returns 0 if the write is no longer needed; it is then left out. */
  int (*before)(slp_fleet *f, slp_operation *i);
  void (*after)(slp_fleet *f, const slp_write *op); /* called when the write is answered or given up */
} slp_bulk_watch;

typedef struct slp_bulk_write {
  slp_bulk_item *all; /* owned */
  /* n: how many operations were added. cap: how many operations `all` has room for. sent: how many writes
   * were sent. done: how many writes were answered, given up or left out. */
  size_t n, cap, sent, done;
  uint32_t refused; /* bit K is 1 if at least one write of the slp_operation_kind K was refused */
  /* busy, 1: slp_bulk_write_run was called, and on_done was not called yet. given_up, 1: at least one write
   * was given up. */
  uint8_t busy, given_up;
  /* calls on_done, in a later turn */
  slp_event ev;
  const slp_bulk_watch *watch;
  void (*on_done)(slp_fleet *f, uint32_t refused, int given_up);
} slp_bulk_write;

/* Adds an operation of this kind, which the caller must fill in. text_bytes and items: how much room to
 * reserve for its texts and for its list of shards. Returns NULL without memory. */
slp_operation *slp_bulk_write_add(slp_fleet *f, slp_operation_kind kind, size_t text_bytes, size_t items);
/* Adds the operation that creates the lease row of the listed shard d (CREATE); the caller must set the
 * position. anew, 1: the shard had a row before, which is gone, so the user is told that its checkpoint is
 * lost. Returns NULL without memory. */
slp_operation *slp_bulk_write_create(slp_fleet *f, const slp_shard_desc *d, int anew);
/* returns a copy of s that lives as long as the operation that was added last */
slp_str slp_bulk_write_text(slp_fleet *f, slp_str s);
/* returns the list of shards of the operation that was added last */
slp_str *slp_bulk_write_list(slp_fleet *f);
/* returns the number of operations that were added */
size_t slp_bulk_write_n(const slp_fleet *f);
int slp_bulk_write_busy(const slp_fleet *f);
/* Sends all writes. watch may be NULL. on_done is called in a later turn, when every write is answered or
 * given up. Its argument `refused` has a bit for each slp_operation_kind of which a write was refused. */
void slp_bulk_write_run(slp_fleet *f, const slp_bulk_watch *watch,
                        void (*on_done)(slp_fleet *f, uint32_t refused, int given_up));
/* ends the bulk write without a call of on_done, and frees its operations */
void slp_bulk_write_stop(slp_fleet *f);

#endif
