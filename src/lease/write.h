/* write.h - one write of the lease table, from its operation to a certain outcome. The same bytes are sent
 * again until an answer says what became of them. A fleet's worker and an operator's command both write this
 * way. (write.c, fleet.c) */
#ifndef SLP_LEASE_WRITE_H
#define SLP_LEASE_WRITE_H

#include "lease/absence.h"
#include "lease/gate.h"
#include "lease/grant.h"
#include "lease/outcome.h"

typedef struct slp_write slp_write;

/* The writes of one worker or of one command. The first group is filled in before the first write. */
typedef struct slp_writes {
  slp_mem *mem;
  slp_host *host;
  slp_store *store;
  slp_schema *schema;
  slp_str *name; /* the name of the worker's present life: signs each write, together with a serial number */
  /* operations (bits) that the worker's life hangs on: sent before all others, with short tries, never held
   * back */
  uint32_t urgent;
  uint32_t lease_ms;
  /* absences of this process; NULL for a writer that never acts on the silence of other workers */
  slp_absence *absence;
  uint8_t paced; /* throttled writes are repeated through the gate, and not by the store */
  void (*on_failure)(slp_write *op, const slp_fail *fail); /* called for each try that failed; may be NULL */

  slp_list under_way;                            /* of slp_write.link */
  slp_timer timer;                               /* its place is reserved by the owner */
  slp_grant grant;                               /* how much capacity the table grants */
  slp_gate gate;                                 /* for all writes that are not urgent */
  uint64_t serial;                               /* of the last write */
  uint64_t sent, images_read, throttles, doubts; /* counts since it began */
} slp_writes;

void slp_writes_init(slp_writes *all);
/* window: returns how many of at most `most` writes may be under way. wait: returns the wait us, stretched by
 * what the table grants. */
static inline uint32_t slp_writes_window(const slp_writes *all, uint32_t most) {
  return slp_grant_window(&all->grant, most);
}
static inline uint64_t slp_writes_wait_us(const slp_writes *all, uint64_t us) {
  return slp_grant_us(&all->grant, us);
}
/* Returns when a write that is not urgent could be sent; a time that has passed: now. */
static inline uint64_t slp_writes_open_us(const slp_writes *all) {
  return slp_gate_is_open(&all->gate) ? 0 : all->gate.next_us;
}
/* Returns the time between two writes that are not urgent; 0: the table grants everything. */
static inline uint64_t slp_writes_gap_us(const slp_writes *all) { return all->gate.gap_us; }
void slp_writes_stop(slp_writes *all); /* writes under way are stopped by their owners */

struct slp_write {
  slp_list link; /* in slp_writes.under_way */
  slp_writes *of;
  slp_operation i; /* its texts must live until on_done */
  slp_store_write w;
  slp_store_get get; /* reads the row if a refusal does not show it */
  slp_row_request d;
  slp_row_key key;
  char op[48];
  uint64_t asked_us;               /* when slp_write_send was called */
  uint64_t first_sent_us, sent_us; /* first: of the first copy. sent: of the copy that was answered */
  uint64_t again_us;               /* when it is sent again; SLP_NEVER: it is in flight */
  uint32_t tries, tries_max;       /* tries_max 0: until it is answered */
  uint32_t failed_before;          /* failures in a row before this sending */
  uint32_t refused;                /* how many of the tries were throttled */
  uint8_t later; /* waits behind others while the gate is closed: it creates a row that nobody needs yet */
  uint8_t ends_at_lasting; /* given up at a failure that waiting does not mend */
  uint8_t yields;          /* given up when it is throttled, unless life hangs on it; for this sending only */
  uint8_t busy, built, reading, doubt; /* doubt: a copy of it may still land */
  uint8_t row_read;                    /* row was read, and is not from the write's answer */
  slp_parsed_row row;
  slp_outcome end;
  void (*on_done)(struct slp_write *op);
  void *owner;
};

void slp_write_init(slp_write *op, slp_writes *of, void *owner);
/* Builds the write from op->i before it is sent, if the schema may be unable to express it. Returns 0,
 * SLP_EINVAL if it can't be expressed, or SLP_ENOMEM. */
int slp_write_build(slp_write *op);
/* Sends op->i, which is filled in or built. on_done runs once, later. */
void slp_write_send(slp_write *op, void (*on_done)(slp_write *op));
void slp_write_stop(slp_write *op); /* on_done will not run; a copy may still land */
void slp_write_free(slp_write *op); /* stops it and frees its memory */
/* After GIVEN_UP: returns why the last try failed. */
const slp_fail *slp_write_fail(const slp_write *op);

#endif
