/* produce_call.h - one call of PutRecords: its request, and what became of each record. */
#ifndef SLP_CLI_PRODUCE_CALL_H
#define SLP_CLI_PRODUCE_CALL_H

#include "aws/aws.h"
#include "aws/json_op.h"
#include "base/buf.h"
#include "base/fail.h"
#include "cli/produce_aggregate.h"
#include "cli/produce_queue.h"

#define SLP_PUT_WHY 200 /* room for the service's words about an entry */

typedef struct slp_put_call {
  slp_json_op op;
  const char *stream; /* borrowed: a name or an ARN */
  /* borrowed; encodes entries that have several records; NULL: no entry has several */
  slp_put_aggregates *aggregates;
  /* The first record of each entry of the call. The other records of the same aggregate follow it by
   * `more`. */
  slp_put_record *records[SLP_PUT_BATCH_RECORDS];
  /* What became of each entry; valid if op.fail.class is SLP_FINE. SLP_FINE: the entry is put. SLP_REFUSED:
   * it can't be put. Other classes: it may be put again. */
  slp_class outcomes[SLP_PUT_BATCH_RECORDS];
  /* The id of the shard in which the entry is stored; it points into op.answer. n 0: the answer does not name
   * it. */
  slp_str shards[SLP_PUT_BATCH_RECORDS];
  /* The service's code of the entry's error, and its message; both point into op.answer. n 0: the answer has
   * none. */
  slp_str codes[SLP_PUT_BATCH_RECORDS], messages[SLP_PUT_BATCH_RECORDS];
  size_t n;              /* number of entries */
  char why[SLP_PUT_WHY]; /* what slp_put_call_why says of the first entry that was not put; "": all are put */
  uint8_t sent;
  /* 1: the call is answered, but an aggregate is in a shard that the listing does not have. The call's
   * outcomes are handled after the next listing. */
  uint8_t unjudged;
  void (*on_done)(struct slp_put_call *c); /* called once, from the event loop, when the call has ended */
  void *user;
} slp_put_call;

/* Zeroes c. The stream and aws are borrowed until slp_put_call_free(). */
void slp_put_call_init(slp_put_call *c, slp_aws *aws, const char *stream);
/* Sends c->records[0, c->n) in one try. Returns 0 or SLP_ENOMEM; after an error nothing is sent. */
int slp_put_call_send(slp_put_call *c);
/* Writes the service's error code and message about entry i to `why`. Secrets are hidden, because the words
 * may quote the request. "": the entry has no error. Valid until the next call is sent. */
void slp_put_call_why(slp_put_call *c, size_t i, char why[SLP_PUT_WHY]);
/* Returns 1 if a call that failed with f may have put its records, because the call may have reached the
 * service. Returns 0 if the call certainly put none. */
int slp_put_call_may_have_put(const slp_fail *f);
/* on_done will not be called; whether the records were put is not known */
void slp_put_call_cancel(slp_put_call *c);
void slp_put_call_free(slp_put_call *c); /* no call may be in flight */

/* For tests: the first function appends the request, the second reads an answer. The second returns 0, or an
 * error with *why set. */
int slp_put_request(slp_buf *b, const slp_put_call *c);
int slp_put_answer(slp_buf *answer, slp_put_call *c, const char **why);

#endif
