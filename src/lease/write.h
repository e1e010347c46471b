/* write.h - one write of the lease table, from its operation to a certain outcome. The same bytes are sent
 * again until an answer shows whether the write was done. Workers and operator's commands write in this way.
 * (write.c, fleet.c) */
#ifndef SLP_LEASE_WRITE_H
#define SLP_LEASE_WRITE_H

#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/states.h"
#include "host/host.h"
#include "lease/absence.h"
#include "lease/gate.h"
#include "lease/grant.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/store.h"

typedef struct slp_write slp_write;

/* All writes of one worker or of one command. Its owner sets the first group of members before
 * slp_writes_init. */
typedef struct slp_writes {
  slp_mem *mem;
  slp_host *host;
  slp_store *store;
  slp_schema *schema;
  slp_str *name; /* the present incarnation; it signs each write, together with a serial number */
  /* kinds of operations on which the worker's life depends: sent before all others, with short tries, and
   * never held back by the gate */
  slp_set urgent;
  uint32_t lease_ms;
  /* absences of this process (absence.h); NULL for a writer that never acts on the silence of other
   * workers */
  slp_absence *absence;
  uint8_t paced; /* 1: throttled writes are repeated by the gate, and not by the store */
  void (*on_failure)(slp_write *op, const slp_fail *fail); /* called for each try that failed; may be NULL */

  slp_list under_way; /* writes that are under way, linked by slp_write.link */
  /* runs when any write must be tried again; its owner has reserved room for it in the host */
  slp_timer timer;
  slp_grant grant; /* estimates the table's write capacity (grant.h) */
  slp_gate gate;   /* spaces all writes that are not urgent (gate.h) */
  uint64_t serial; /* serial number of the last write */
  /* Counters. sent: tries. images_read: reads of a row after a refusal. doubts: writes whose outcome was
   * uncertain. */
  uint64_t sent, images_read, throttles, doubts;
} slp_writes;

void slp_writes_init(slp_writes *all);
/* slp_writes_window returns how many writes may be under way at once, at most `most`. slp_writes_wait_us
 * returns the wait `us`, made longer while the table throttles. */
static inline uint32_t slp_writes_window(const slp_writes *all, uint32_t most) {
  return slp_grant_window(&all->grant, most);
}
static inline uint64_t slp_writes_wait_us(const slp_writes *all, uint64_t us) {
  return slp_grant_us(&all->grant, us);
}
/* Returns when the next write that is not urgent may be sent; a time in the past means now. */
static inline uint64_t slp_writes_open_us(const slp_writes *all) {
  return slp_gate_is_open(&all->gate) ? 0 : all->gate.next_us;
}
/* Returns the time between two writes that are not urgent; 0: the gate is open, so there is none. */
static inline uint64_t slp_writes_gap_us(const slp_writes *all) { return all->gate.gap_us; }
/* stops the timer; writes that are under way must be stopped by their owners */
void slp_writes_stop(slp_writes *all);

struct slp_write {
  slp_list link; /* in slp_writes.under_way */
  slp_writes *of;
  slp_operation i; /* the operation; its texts must stay valid until on_done */
  slp_store_write w;
  slp_store_get get; /* reads the row, if the refusal of the write does not show it */
  /* holds the texts of w */
  slp_row_request d;
  slp_row_key key;
  /* the signature: incarnation and serial number */
  char op[48];
  uint64_t asked_us; /* when slp_write_send was called */
  /* first_sent_us: when the first copy was sent. sent_us: when that copy was sent that was answered. */
  uint64_t first_sent_us, sent_us;
  uint64_t again_us;         /* when the write is sent again; SLP_NEVER: a request of it is under way */
  uint32_t tries, tries_max; /* tries_max 0: the write is tried until it is answered */
  /* how many times in a row the owner's write had failed before this slp_write_send; set by the owner */
  uint32_t failed_before;
  uint32_t refused; /* how many tries the table throttled */
  /* 1: while the gate is not open, other writes go first, because this write creates a row that is not needed
   * yet */
  uint8_t later;
  /* 1: the write is given up at a failure that stays even if one waits, such as missing rights */
  uint8_t ends_at_lasting;
  /* 1: the write is given up when it is throttled, unless it is urgent. slp_write_send resets it to 0. */
  uint8_t yields;
  /* busy, 1: slp_write_send was called and on_done was not called yet. built, 1: w is ready. reading, 1:
   * `get` is under way. doubt, 1: a copy of the write got no answer, and may still reach the table. */
  uint8_t busy, built, reading, doubt;
  uint8_t row_read; /* 1: `row` comes from a read by `get`, and not from the write's answer */
  /* the row after the write, or the row that refused the write */
  slp_parsed_row row;
  slp_outcome end;
  void (*on_done)(struct slp_write *op);
  void *owner;
};

/* owner: any pointer; op->owner is set to it */
void slp_write_init(slp_write *op, slp_writes *of, void *owner);
/* Builds the write from op->i. Call this before slp_write_send if the schema may not have the operation.
 * Returns 0, SLP_EINVAL if the schema does not have it, or SLP_ENOMEM. */
int slp_write_build(slp_write *op);
/* Sends op->i, which the caller has set, or the write that slp_write_build has built. on_done is called once,
 * later. */
void slp_write_send(slp_write *op, void (*on_done)(slp_write *op));
/* Cancels the write: on_done is not called. A request that was already sent may still change the table. */
void slp_write_stop(slp_write *op);
void slp_write_free(slp_write *op); /* cancels the write and frees its memory */
/* Returns why the last try failed; to be called after SLP_OUTCOME_GIVEN_UP. */
const slp_fail *slp_write_fail(const slp_write *op);

#endif
