/* write.h - one write of the lease table, from its operation to a certain outcome: the same bytes are sent
 * again until an answer says what became of them. */
#ifndef SLP_LEASE_WRITE_H
#define SLP_LEASE_WRITE_H

#include "lease/context.h"
#include "lease/outcome.h"

typedef struct slp_write {
  slp_list link; /* in slp_writes.under_way */
  slp_fleet *f;
  slp_operation i; /* its strings live until on_done */
  slp_store_write w;
  slp_store_get get; /* of the row, where a refusal does not show it */
  slp_row_request d;
  slp_row_key key;
  char op[48];
  uint64_t first_sent_us, sent_us; /* of the first copy; of the one that was answered */
  uint64_t again_us;               /* when it is sent again; SLP_NEVER: it is out */
  uint32_t tries, tries_max;       /* tries_max 0: until it is answered */
  uint8_t busy, built, reading, doubt;
  uint8_t row_read; /* row is from a read, not from the write's answer */
  slp_parsed_row row;
  slp_outcome end;
  void (*on_done)(struct slp_write *op);
  void *owner;
} slp_write;

void slp_write_init(slp_write *op, slp_fleet *f, void *owner);
/* op->i is filled in. on_done comes later, once. */
void slp_write_send(slp_write *op, void (*on_done)(slp_write *op));
void slp_write_stop(slp_write *op); /* on_done does not come any more; a copy may still land */
void slp_write_free(slp_write *op); /* stopped, and its memory given back */

typedef struct slp_writes { /* of one worker */
  slp_list under_way;
  slp_timer timer;
  uint64_t serial;     /* of the last write */
  uint64_t trouble_us; /* the worker's own way to the table last failed then */
} slp_writes;

void slp_writes_init(slp_fleet *f);
void slp_writes_stop(slp_fleet *f); /* those under way are stopped by their owners */
/* The silence of others before the worker's own trouble proves nothing about them. */
void slp_fleet_trouble(slp_fleet *f);
uint64_t slp_fleet_trouble_us(const slp_fleet *f);

#endif
