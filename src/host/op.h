/* op.h - an op: one request and its outcome. Ops are sent to a service of AWS (aws/ops.h) and to a source of
 * records (core/source.h). The rooms aws and core never include each other, so what their ops have in common
 * is here. later.h answers ops in a later turn. */
#ifndef SLP_HOST_OP_H
#define SLP_HOST_OP_H

#include "base/fail.h"

/* The sender owns the struct of an op, and must keep it until on_done ran or cancel returned. It zeroes the
 * struct, sets the members marked "in", and sends it. */
typedef struct slp_op {
  /* in: called once, in a turn, but not after a cancel. Never called before the function that sends the op
   * has returned. May free the op. */
  void (*on_done)(struct slp_op *op);
  /* in: 0 and 1: one try. More: the most tries; a transient or throttled failure is followed by a wait with
   * full jitter and another try. A remedy does not count as a try: new credentials, a corrected clock, JSON
   * instead of CBOR, a new connection. A source ignores this member, because core repeats its ops itself. */
  uint32_t tries_max;
  uint32_t tries;            /* out, of a service: how many tries were made */
  slp_fail fail;             /* out: fail.class is SLP_FINE on success */
  uint64_t sent_us, done_us; /* out: when the last try was sent, and when it was answered; monotonic time */
  /* out: the Date header of the last answer, which is the service's time in whole seconds; -1: there was
   * none */
  int64_t date_ms;
  void *impl; /* private to the object that answers the op */
} slp_op;

/* Copies the outcome of `from` to `op`. Called if `from` was sent in order to answer `op`. */
static inline void slp_op_copy_outcome(slp_op *op, const slp_op *from) {
  op->fail = from->fail;
  op->sent_us = from->sent_us;
  op->done_us = from->done_us;
  op->date_ms = from->date_ms;
}

#endif
