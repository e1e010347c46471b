/* produce_call.h - one call of PutRecords: its request, and what became of each record. */
#ifndef SLP_CLI_PRODUCE_CALL_H
#define SLP_CLI_PRODUCE_CALL_H

#include "aws/aws.h"
#include "aws/json_op.h"
#include "base/buf.h"
#include "base/fail.h"
#include "cli/produce_aggregate.h"
#include "cli/produce_queue.h"

typedef struct slp_put_call {
  slp_json_op op;
  const char *stream;             /* borrowed: a name or an ARN */
  slp_put_aggregates *aggregates; /* borrowed; writes entries of several records. NULL: there are none */
  /* The first record of each entry of the call. Others of the same aggregate follow it by `more`. */
  slp_put_record *records[SLP_PUT_BATCH_RECORDS];
  /* What became of each entry, valid if op.fail.class is SLP_FINE. SLP_FINE: it is put. SLP_REFUSED: it
   * never will be. */
  slp_class outcomes[SLP_PUT_BATCH_RECORDS];
  /* The shard that has the entry, a part of op.answer; n 0: the answer does not say. */
  slp_str shards[SLP_PUT_BATCH_RECORDS];
  size_t n; /* how many entries */
  /* Why the first record that was not put was not, and the first that was refused, as the service says it;
   * "": there is none. */
  char why[200], why_refused[200];
  uint8_t sent;
  /* 1: the call is answered, but its aggregates are in a shard that the listing does not have. Its outcomes
   * are taken after the next listing. */
  uint8_t unjudged;
  void (*on_done)(struct slp_put_call *c); /* called once, in a turn */
  void *user;
} slp_put_call;

/* Zeroes c. The stream and aws are borrowed until slp_put_call_free(). */
void slp_put_call_init(slp_put_call *c, slp_aws *aws, const char *stream);
/* Sends c->records[0, c->n) in one try. Returns 0 or SLP_ENOMEM; after an error nothing is sent. */
int slp_put_call_send(slp_put_call *c);
void slp_put_call_cancel(slp_put_call *c); /* on_done will not be called; what the call did is not known */
void slp_put_call_free(slp_put_call *c);   /* no call may be in flight */

/* For tests: appends the request, and reads an answer. The latter returns 0, or an error with *why set. */
int slp_put_request(slp_buf *b, const slp_put_call *c);
int slp_put_answer(slp_buf *answer, slp_put_call *c, const char **why);

#endif
