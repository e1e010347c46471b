/* service.h - implements slp_ops for one service, with a slp_call for each op in flight. It keeps calls and
 * readers for reuse, reads answers in slices, and compares checksums. Each service has a slp_service_kind,
 * which writes the requests and reads the small answers. Below, "the kind" means the functions of this
 * table. */
#ifndef SLP_AWS_SERVICE_H
#define SLP_AWS_SERVICE_H

#include "aws/answers.h"
#include "aws/aws.h"
#include "aws/call.h"
#include "aws/ops.h"
#include "base/buf.h"
#include "base/list.h"
#include "codec/page.h"
#include "host/host.h"
#include "host/later.h"
#include "host/op.h"

/* How many readers are kept for reuse. */
#define SLP_SERVICE_READERS_MAX 4u

typedef enum { SLP_OP_DESCRIBE, SLP_OP_LIST, SLP_OP_ITERATOR, SLP_OP_RECORDS, SLP_OP_CONSUMER } slp_op_kind;

typedef struct slp_service slp_service;

typedef struct slp_asking { /* an op in flight */
  slp_call call;
  slp_service *service;
  slp_op_kind kind;
  slp_op *op;
  slp_list link;           /* links the object into service->idle while it is not in use */
  slp_buf request, answer; /* the texts of request and answer; `answer` is not used for pages of records */
  slp_form form;           /* op RECORDS: the form (CBOR or JSON) in which the page was requested */
  /* a number in which the functions of slp_service_kind store how far the op is; 0 when the op begins */
  uint8_t step;
  slp_page_reader *reader; /* set only while a page is read */
  slp_list_reader *rows;   /* owned; set only while a listing is read */
} slp_asking;

typedef struct slp_service_kind {
  const slp_list_shape *list_shape;
  /* Writes the request into a->request, which is empty. Sets svc, target and content_type of a->call. Returns
   * 0, SLP_EINVAL if the service has no such request, or another error. */
  int (*ask)(slp_asking *a);
  /* Reads the answer to DESCRIBE, ITERATOR or CONSUMER from a->answer. Must call slp_call_good,
   * slp_call_bad, slp_call_again or slp_service_unreadable, now or later. */
  void (*read_small)(slp_asking *a);
  /* Called with a complete listing; may remove rows from it. May be NULL. */
  void (*listed)(slp_asking *a);
  /* Becomes slp_call.reroute of the op's call. May be NULL. */
  int (*reroute)(slp_call *c);
  /* Called when a page can't be read. Returns 1 if it has written the request again, so that the page comes
   * in another form (CBOR or JSON). May be NULL. */
  int (*other_form)(slp_asking *a);
  /* Called when the op is over, with its outcome in a->call.fail. May be NULL. */
  void (*over)(slp_asking *a);
} slp_service_kind;

struct slp_service { /* state of one service; must be the first member of the service's own struct */
  slp_ops ops;
  const slp_service_kind *kind;
  slp_aws *aws; /* the service holds a reference */
  slp_list idle;
  size_t idle_n, live_n;
  /* owned; readers that are not in use, kept for the next call */
  slp_page_reader *readers[SLP_SERVICE_READERS_MAX];
  size_t readers_n;
  slp_later unsent; /* ops that could not be sent; they fail in later turns */
};

/* Initialises s, which must be zeroed memory from aws->h->mem. */
void slp_service_init(slp_service *s, const slp_service_kind *kind, slp_aws *aws);
void slp_service_free(slp_service *s); /* no op may be in flight; frees the service's own struct too */

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

/* Called in ask(). Limits the calls of this operation to a_second in a second for the account in `arn`. If
 * `arn` is not an ARN, all calls to the endpoint are counted together. */
void slp_service_quota(slp_asking *a, uint32_t a_second, slp_str arn);
/* Sends an op. Called for the kinds of ops that only some services have. */
void slp_service_begin(slp_ops *o, slp_op_kind kind, slp_op *op);
/* Writes the request again, by calling the kind's ask(). Returns 0 or an error. In both cases the old request
 * is gone. */
int slp_service_write(slp_asking *a);
/* Called in read_small if the answer can't be read, instead of slp_call_good(), slp_call_bad() or
 * slp_call_again(). `a` must not be used afterwards. */
void slp_service_unreadable(slp_asking *a, int r, const char *what, const char *why, size_t at);

#endif
