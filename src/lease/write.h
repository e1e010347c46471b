/* write.h - one write of the lease table, from its operation to a certain outcome: the same bytes are sent
 * again until an answer says what became of them. A fleet's worker and an operator's command write so.
 * (write.c, fleet.c) */
#ifndef SLP_LEASE_WRITE_H
#define SLP_LEASE_WRITE_H

#include "lease/absence.h"
#include "lease/gate.h"
#include "lease/grant.h"
#include "lease/outcome.h"

typedef struct slp_write slp_write;

typedef struct
    slp_writes { /* of one worker, or of one command; the first group is filled in before the first write */
  slp_mem *mem;
  slp_host *host;
  slp_store *store;
  slp_schema *schema;
  slp_str *name;   /* of its present life: signs each write, with a serial number */
  uint32_t urgent; /* bits of operations its life hangs on: before all else, short tries, no politeness */
  uint32_t lease_ms;
  slp_absence *absence; /* of this process; NULL: no write is made because another is silent */
  uint8_t paced;        /* throttled writes are repeated by the gate, and not by the store */
  void (*on_failure)(slp_write *op, const slp_fail *fail); /* of one try; NULL: nobody listens */

  slp_list under_way;
  slp_timer timer;                               /* its place is reserved by the owner */
  slp_grant grant;                               /* what the table grants */
  slp_gate gate;                                 /* of all that is not urgent */
  uint64_t serial;                               /* of the last write */
  uint64_t sent, images_read, throttles, doubts; /* since it began */
} slp_writes;

void slp_writes_init(slp_writes *all);
/* By what the table grants: of so many writes at a time those that may be under way; a wait as it is now. */
static inline uint32_t slp_writes_window(const slp_writes *all, uint32_t most) {
  return slp_grant_window(&all->grant, most);
}
static inline uint64_t slp_writes_wait_us(const slp_writes *all, uint64_t us) {
  return slp_grant_us(&all->grant, us);
}
/* When a write that is not urgent could be sent at once; now or before: it can be now. */
static inline uint64_t slp_writes_open_us(const slp_writes *all) {
  return slp_gate_is_open(&all->gate) ? 0 : all->gate.next_us;
}
/* Between two writes that are not urgent; 0: the table grants all. */
static inline uint64_t slp_writes_gap_us(const slp_writes *all) { return all->gate.gap_us; }
void slp_writes_stop(slp_writes *all); /* those under way are stopped by their owners */

struct slp_write {
  slp_list link; /* in slp_writes.under_way */
  slp_writes *of;
  slp_operation i; /* its strings live until on_done */
  slp_store_write w;
  slp_store_get get; /* of the row, where a refusal does not show it */
  slp_row_request d;
  slp_row_key key;
  char op[48];
  uint64_t asked_us;               /* when it was to be sent */
  uint64_t first_sent_us, sent_us; /* of the first copy; of the one that was answered */
  uint64_t again_us;               /* when it is sent again; SLP_NEVER: it is out */
  uint32_t tries, tries_max;       /* tries_max 0: until it is answered */
  uint32_t failed_before;          /* how often it failed in a row before it was sent this time */
  uint32_t refused;                /* tries that were throttled, among them */
  uint8_t later; /* while the gate is closed it goes behind others: it is a row for somebody to come */
  uint8_t ends_at_lasting; /* given up at a failure that waiting does not mend */
  uint8_t yields;          /* given up when it is throttled, unless life hangs on it; of this sending */
  uint8_t busy, built, reading, doubt; /* doubt: a copy of it may land yet */
  uint8_t row_read;                    /* row is from a read, not from the write's answer */
  slp_parsed_row row;
  slp_outcome end;
  void (*on_done)(struct slp_write *op);
  void *owner;
};

void slp_write_init(slp_write *op, slp_writes *of, void *owner);
/* op->i is filled in. Makes the row's change of it ahead of sending, for those who can't be sure that the
 * schema can say it. 0, SLP_EINVAL (it can't), SLP_ENOMEM. */
int slp_write_build(slp_write *op);
/* op->i is filled in, or built. on_done comes later, once. */
void slp_write_send(slp_write *op, void (*on_done)(slp_write *op));
void slp_write_stop(slp_write *op); /* on_done does not come any more; a copy may still land */
void slp_write_free(slp_write *op); /* stopped, and its memory given back */
/* GIVEN_UP: why its last try failed. */
const slp_fail *slp_write_fail(const slp_write *op);

#endif
