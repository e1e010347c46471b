/* write.h - one write of the lease table, from its operation to a certain outcome. The same bytes are sent
 * again until an answer shows whether the write was done. Workers and operator's commands write in this
 * way. (write.c, fleet.c) */
#ifndef SLP_LEASE_WRITE_H
#define SLP_LEASE_WRITE_H

#include "lease/absence.h"
#include "lease/gate.h"
#include "lease/grant.h"
#include "lease/outcome.h"

typedef struct slp_write slp_write;

/* The writes of one worker or of one command. The owner fills in the first group before slp_writes_init. */
typedef struct slp_writes {
  slp_mem *mem;
  slp_host *host;
  slp_store *store;
  slp_schema *schema;
  slp_str *name; /* the present incarnation; each write is signed with it and a serial number */
  /* bits of operations on which the worker's life depends: sent before all others, with short tries, and
   * never held back by the gate */
  uint32_t urgent;
  uint32_t lease_ms;
  /* absences of this process; NULL for a writer that never acts on the silence of other workers */
  slp_absence *absence;
  uint8_t paced; /* 1: throttled writes are repeated through the gate, and not by the store */
  void (*on_failure)(slp_write *op, const slp_fail *fail); /* called for each try that failed; may be NULL */

  slp_list under_way; /* list of slp_write.link */
  /* runs for the next try of any write; the owner has reserved its place */
  slp_timer timer;
  slp_grant grant; /* estimates the write capacity of the table */
  slp_gate gate;   /* spaces all writes that are not urgent */
  uint64_t serial; /* serial number of the last write */
  /* counts. sent: tries. images_read: reads of rows after a refusal. doubts: writes whose outcome was
   * uncertain */
  uint64_t sent, images_read, throttles, doubts;
} slp_writes;

void slp_writes_init(slp_writes *all);
/* slp_writes_window returns how many writes may be under way at once, `most` at most. slp_writes_wait_us
 * returns the wait of `us`, stretched while the table throttles. */
static inline uint32_t slp_writes_window(const slp_writes *all, uint32_t most) {
  return slp_grant_window(&all->grant, most);
}
static inline uint64_t slp_writes_wait_us(const slp_writes *all, uint64_t us) {
  return slp_grant_us(&all->grant, us);
}
/* Returns when a write that is not urgent can be sent; a time in the past means now. */
static inline uint64_t slp_writes_open_us(const slp_writes *all) {
  return slp_gate_is_open(&all->gate) ? 0 : all->gate.next_us;
}
/* Returns the time between two writes that are not urgent; 0: the gate is open. */
static inline uint64_t slp_writes_gap_us(const slp_writes *all) { return all->gate.gap_us; }
void slp_writes_stop(slp_writes *all); /* stops the timer; the owners stop their writes that are under way */

struct slp_write {
  slp_list link; /* link in slp_writes.under_way */
  slp_writes *of;
  slp_operation i; /* the operation; its texts must live until on_done */
  slp_store_write w;
  slp_store_get get; /* reads the row, if a refusal does not show it */
  /* holds the texts of w */
  slp_row_request d;
  slp_row_key key;
  /* the signature: incarnation and serial number */
  char op[48];
  uint64_t asked_us; /* when slp_write_send was called */
  /* first_sent_us: when the first copy was sent. sent_us: when the copy that was answered was sent */
  uint64_t first_sent_us, sent_us;
  uint64_t again_us;         /* when the write is sent again; SLP_NEVER: a copy is under way */
  uint32_t tries, tries_max; /* tries_max 0: it is tried until it is answered */
  /* failures in a row before this call of slp_write_send; set by the owner */
  uint32_t failed_before;
  uint32_t refused; /* how many of the tries were throttled */
  /* 1: waits after other writes while the gate is not open, because it creates a row that nobody needs yet */
  uint8_t later;
  uint8_t ends_at_lasting; /* 1: given up at a failure that waiting does not mend */
  /* 1: given up when it is throttled, unless it is urgent; reset after each slp_write_send */
  uint8_t yields;
  /* busy: slp_write_send was called and on_done has not run. built: w is ready. reading: `get` is under
   * way. doubt: an unanswered copy may still reach the table */
  uint8_t busy, built, reading, doubt;
  uint8_t row_read; /* 1: `row` was read by `get`, and is not from the write's answer */
  /* the row after the write, or the row that refused it */
  slp_parsed_row row;
  slp_outcome end;
  void (*on_done)(struct slp_write *op);
  void *owner;
};

/* owner: passed on in op->owner */
void slp_write_init(slp_write *op, slp_writes *of, void *owner);
/* Builds the write from op->i before it is sent. Called if the schema may be unable to express the
 * operation. Returns 0, SLP_EINVAL if the schema can't, or SLP_ENOMEM. */
int slp_write_build(slp_write *op);
/* Sends op->i, which the caller has filled in, or built by slp_write_build. on_done runs once, later. */
void slp_write_send(slp_write *op, void (*on_done)(slp_write *op));
/* cancels the write: on_done will not run; a copy may still reach the table */
void slp_write_stop(slp_write *op);
void slp_write_free(slp_write *op); /* cancels the write and frees its memory */
/* After SLP_OUTCOME_GIVEN_UP: returns why the last try failed. */
const slp_fail *slp_write_fail(const slp_write *op);

#endif
