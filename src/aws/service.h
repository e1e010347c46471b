/* service.h - a service as a table of ops: one slp_call for each op in flight. Calls and readers are kept for
 * reuse, answers are read in slices, checksums are compared. The service's slp_service_kind writes the
 * requests and reads the small answers. */
#ifndef SLP_AWS_SERVICE_H
#define SLP_AWS_SERVICE_H

#include "aws/answers.h"
#include "aws/call.h"

/* Readers kept for reuse. */
#define SLP_SERVICE_READERS_MAX 4u

typedef enum { SLP_OP_DESCRIBE, SLP_OP_LIST, SLP_OP_ITERATOR, SLP_OP_RECORDS, SLP_OP_CONSUMER } slp_op_kind;

typedef struct slp_service slp_service;

typedef struct slp_asking { /* an op in flight */
  slp_call call;
  slp_service *service;
  slp_op_kind kind;
  slp_op *op;
  slp_list link;           /* in service->idle */
  slp_event slice;         /* continues reading */
  slp_buf request, answer; /* answer: of the small calls */
  slp_form form;           /* RECORDS: the form of the page that was asked for */
  uint8_t step;            /* for the kind; 0 at first */
  slp_page_reader *reader; /* only while a page is read */
  slp_list_reader *rows;   /* only while a listing is read; owned */
  uint32_t sum;            /* CRC-32 of the first sum_at bytes of the answer */
  size_t sum_at;
} slp_asking;

typedef struct slp_service_kind {
  const slp_list_shape *list_shape;
  /* Writes a->request, which is empty, and sets svc, target and content type of a->call. Returns 0,
   * SLP_EINVAL if there is no such request, or another error for lack of memory. */
  int (*ask)(slp_asking *a);
  /* The answer to DESCRIBE, ITERATOR or CONSUMER is in a->answer. Ends with one of the functions below. */
  void (*read_small)(slp_asking *a);
  /* Called with a complete listing; may drop rows. NULL: nothing to do. */
  void (*listed)(slp_asking *a);
  /* See slp_call.reroute. NULL: not called. */
  int (*reroute)(slp_call *c);
  /* Called when a page can't be read. Returns 1 if it is asked for in another form. NULL: not called. */
  int (*other_form)(slp_asking *a);
  /* Called when the op is over, with a->call.fail set. NULL: nothing to do. */
  void (*over)(slp_asking *a);
} slp_service_kind;

struct slp_service { /* the first member of the service's own struct */
  slp_ops ops;
  const slp_service_kind *kind;
  slp_aws *aws; /* holds a reference */
  slp_list idle;
  size_t idle_n, live_n;
  slp_page_reader *readers[SLP_SERVICE_READERS_MAX]; /* owned */
  size_t readers_n;
  slp_op *unsent; /* ops that failed before they were sent, linked by op->call */
  slp_event unsent_ev;
};

/* s must be zeroed memory from aws->h->mem. */
void slp_service_init(slp_service *s, const slp_service_kind *kind, slp_aws *aws);
void slp_service_free(slp_service *s); /* no op may be in flight; frees the whole block */

static inline slp_op_describe *slp_describe_of(slp_asking *a) {
  return SLP_OWNER(a->op, slp_op_describe, op);
}
static inline slp_op_list_shards *slp_list_of(slp_asking *a) {
  return SLP_OWNER(a->op, slp_op_list_shards, op);
}
static inline slp_op_iterator *slp_iterator_of(slp_asking *a) {
  return SLP_OWNER(a->op, slp_op_iterator, op);
}
static inline slp_op_records *slp_records_of(slp_asking *a) { return SLP_OWNER(a->op, slp_op_records, op); }
static inline slp_op_consumer *slp_consumer_op_of(slp_asking *a) {
  return SLP_OWNER(a->op, slp_op_consumer, op);
}
static inline slp_asking *slp_asking_of(slp_call *c) { return SLP_OWNER(c, slp_asking, call); }

/* Called in ask(): the account in `arn`, if it is known, may make this many of these calls a second. */
void slp_service_quota(slp_asking *a, uint32_t a_second, slp_str arn);
/* For kinds of ops that only some services have. */
void slp_service_begin(slp_ops *o, slp_op_kind kind, slp_op *op);
/* Writes the request again by the kind's ask(). Returns 0 or an error; the old request is gone in both
 * cases. */
int slp_service_write(slp_asking *a);
/* Called in read_small instead of slp_call_good(), slp_call_bad() or slp_call_again(), if the answer can't be
 * read. a must not be used after that. */
void slp_service_unreadable(slp_asking *a, int r, const char *what, const char *why, size_t at);

#endif
