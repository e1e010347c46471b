/* json_op.c - one call with a JSON body and a JSON answer. */
#include "aws/json_op.h"

#include "aws/aws_impl.h"
#include "aws/call.h"
#include "base/buf.h"
#include "base/fail.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

#define REQUEST_MAX (17u * 1024 * 1024) /* the most bytes of a request; DynamoDB accepts at most 16 MB */

static slp_json_op *op_of(slp_call *c) { return SLP_OWNER(c, slp_json_op, call); }

static void on_body(slp_call *c, int begin) {
  slp_json_op *op = op_of(c);
  const char *why = NULL;
  char text[160];
  if (begin && slp_call_is_damaged(c, SIZE_MAX)) {
    slp_call_damaged(c);
    return;
  }
  int r = op->read(op, begin, &why);
  if (r == SLP_MORE) {
    slp_call_more(c);
  } else if (r) {
    snprintf(text, sizeof text, "the answer can't be read: %s", why ? why : "a limit is exceeded");
    slp_call_unreadable(c, r, text);
  } else {
    slp_call_good(c);
  }
}

/* Called first for each answer. Copies the body of an error, because it is changed in place when the name of
 * the error is read. If the condition of a write failed, the body may contain the row that is in the
 * table. */
static int on_answer_keep_refusal(slp_call *c) {
  slp_json_op *op = op_of(c);
  slp_buf_clear(&op->refusal);
  op->damaged = c->http.status != 200 && slp_call_is_damaged(c, SIZE_MAX);
  /* If there is no memory for the copy, the row stays unknown, as with servers that do not send it. */
  if (c->http.status == 400 && slp_buf_add_str(&op->refusal, slp_buf_str(c->into)))
    slp_buf_clear(&op->refusal);
  return 0;
}

static void on_done(slp_call *c) {
  slp_json_op *op = op_of(c);
  op->fail = c->fail;
  op->throttles = c->throttles;
  op->done_us = slp_max_u64(c->http.done_us, op->sent_us);
  if (c->tries == 1 && c->http.sent_us > op->sent_us) op->sent_us = c->http.sent_us;
  if (op->damaged && c->fail.http_status == 400)
    slp_fail_set(&op->fail, SLP_TRANSIENT, SLOOP_EPROTO,
                 "an error came damaged: its checksum is another one");
  op->on_done(op);
}

void slp_json_op_init(slp_json_op *op, slp_aws *aws, size_t answer_max) {
  *op = (slp_json_op){.damaged = 0};
  slp_buf_init(&op->request, aws->h->mem, REQUEST_MAX);
  slp_buf_init(&op->answer, aws->h->mem, answer_max);
  slp_buf_init(&op->refusal, aws->h->mem, answer_max);
  slp_call_init(&op->call, aws);
}

void slp_json_op_send(slp_json_op *op) {
  slp_call *c = &op->call;
  c->svc = op->svc;
  c->lane = op->lane;
  c->target = op->target;
  c->content_type = op->content_type.n ? op->content_type : SLP_STR("application/x-amz-json-1.0");
  c->body = slp_buf_str(&op->request);
  c->into = &op->answer;
  c->total_ms_max = op->ms_max;
  c->tries_max = op->tries_max;
  c->once = op->once;
  c->paced = op->paced;
  c->reroute = on_answer_keep_refusal;
  c->on_body = on_body;
  c->on_done = on_done;
  op->damaged = 0;
  slp_buf_clear(&op->refusal);
  op->sent_us = slp_now_us(c->aws->h);
  slp_call_send(c);
}

void slp_json_op_cancel(slp_json_op *op) { slp_call_cancel(&op->call); }

void slp_json_op_free(slp_json_op *op) {
  slp_call_free(&op->call);
  slp_buf_free(&op->request);
  slp_buf_free(&op->answer);
  slp_buf_free(&op->refusal);
}
